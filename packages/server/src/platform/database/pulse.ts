import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolSql } from './driver/pool-sql.ts';

const beatMs = 1_000;
/** If the heartbeat is not answered within this time, its connection is dead, and perhaps all others. */
const answerMs = 4_000;
/** A new connection must open and respond within this time. */
const newAnswerMs = 2_000;

/**
 * A database on a busy machine may need seconds for a heartbeat. Destroying its connections would only make it slower, so a heartbeat may
 * take this many times as long as recent ones, up to a limit.
 */
const patienceFactor = 5;
/** So that a request is answered within ten seconds even then. */
const maxAnswerMs = 6_500;
/** How much of the time of a slow heartbeat is remembered at the next one. */
const memory = 0.9;

/** A destroyed connection has closed by then, so that the next heartbeat uses a new one. */
const closeMs = 50;

/** A pool whose connections may be dead. */
export interface Abandonable {
  /** Destroys every connection and rejects everything that waits. */
  abandon(): void;
}

type Beat = 'answered' | 'refused' | 'silent';

/**
 * Sends a heartbeat to the database every second over its own connection. The database is either
 *
 *   answering   it responds, or refuses connections, which every statement notices at once;
 *   silent      connections are open but nothing comes back: neither over the old connection within `answerMs` nor over a new
 *               one within `newAnswerMs`.
 *
 * When the old connection is silent, every connection of every pool is destroyed: each may be dead too, and its statements would
 * only fail one by one at their deadlines. While the database is silent, statements are rejected at once. So a statement waits
 * at most `beatMs + answerMs + newAnswerMs` for a silent database (with `maxAnswerMs` if it was slow before), and later statements do not
 * wait.
 */
export class Pulse {
  readonly #sql: PoolSql;
  readonly #own: Abandonable;
  readonly #pools: ReadonlySet<Abandonable>;
  #isSilent = false;
  /** How long recent heartbeats took, at most. */
  #recentMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(sql: PoolSql, own: Abandonable, pools: ReadonlySet<Abandonable>) {
    this.#sql = sql;
    this.#own = own;
    this.#pools = pools;
    this.#beatSoon();
  }

  /** For statements that must not wait behind those of requests. */
  get sql(): PoolSql {
    return this.#sql;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#sql.end({ timeout: 0 });
  }

  #beatSoon(): void {
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#beat(), beatMs).unref();
  }

  async #beat(): Promise<void> {
    const slowMs = Math.min(maxAnswerMs, patienceFactor * this.#recentMs);
    if (this.#isSilent || (await this.#probe(Math.max(answerMs, slowMs))) === 'silent') {
      if (!this.#isSilent) await this.#abandonAll();
      this.#isSilent = (await this.#probe(newAnswerMs)) === 'silent';
      if (this.#isSilent) await this.#abandonAll();
    }
    this.#beatSoon();
  }

  async #probe(patienceMs: number): Promise<Beat> {
    const began = performance.now();
    const answer = this.#sql`SELECT`.then(
      (): Beat => 'answered',
      (): Beat => 'refused',
    );
    const beat = await Promise.race([answer, late(patienceMs)]);
    if (beat === 'answered') this.#recentMs = Math.max(performance.now() - began, this.#recentMs * memory);
    return beat;
  }

  async #abandonAll(): Promise<void> {
    this.#own.abandon();
    for (const pool of this.#pools) pool.abandon();
    await sleep(closeMs, undefined, { ref: false });
  }
}

/** Waits in two steps: after a suspension only the first step has elapsed, and the second gives time to read arrived responses. */
async function late(patienceMs: number): Promise<Beat> {
  await sleep(patienceMs / 2, undefined, { ref: false });
  return sleep(patienceMs / 2, 'silent', { ref: false });
}
