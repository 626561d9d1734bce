import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql as PoolSql } from 'postgres';
import type { WatchedPool } from './pool-watch.ts';

const beatMs = 1_000;
/** A database that leaves a question this small without an answer for so long has lost that connection, and maybe all others. */
const answerMs = 4_000;
/** A new connection has so long to be opened and to answer. */
const newAnswerMs = 2_000;

/** A destroyed connection has closed by then, so that the next question goes over a new one. */
const closeMs = 50;

type Beat = 'answered' | 'refused' | 'silent';

/**
 * Asks the database every second whether it answers, over a connection of its own. The database is either
 *
 *   answering   or it refuses connections, which everybody learns at once without our help;
 *   silent      connections are open, and nothing comes back: neither over the old connection within `answerMs` nor over a
 *               new one within `newAnswerMs`.
 *
 * Once the old connection is silent, every connection of every pool is destroyed: each of them may be as dead, and its
 * statements would find out one by one at their deadlines. While the database is silent statements are rejected at once.
 * So a silent database keeps nobody waiting for more than `beatMs + answerMs + newAnswerMs`, and those who come later not at all.
 */
export class Pulse {
  readonly #sql: PoolSql;
  readonly #own: WatchedPool;
  readonly #pools: ReadonlySet<WatchedPool>;
  #isSilent = false;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(sql: PoolSql, own: WatchedPool, pools: ReadonlySet<WatchedPool>) {
    this.#sql = sql;
    this.#own = own;
    this.#pools = pools;
    this.#beatSoon();
  }

  /** For questions that must not wait behind those of requests. */
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
    if (this.#isSilent || (await this.#ask(answerMs)) === 'silent') {
      if (!this.#isSilent) await this.#abandonAll();
      this.#isSilent = (await this.#ask(newAnswerMs)) === 'silent';
      if (this.#isSilent) await this.#abandonAll();
    }
    this.#beatSoon();
  }

  async #ask(patienceMs: number): Promise<Beat> {
    const answer = this.#sql`SELECT`.then(
      (): Beat => 'answered',
      (): Beat => 'refused',
    );
    return Promise.race([answer, late(patienceMs)]);
  }

  async #abandonAll(): Promise<void> {
    this.#own.abandon();
    for (const pool of this.#pools) pool.abandon();
    await sleep(closeMs, undefined, { ref: false });
  }
}

/** In two steps: a process that was stopped finds the first one over, and has the second to read what has arrived meanwhile. */
async function late(patienceMs: number): Promise<Beat> {
  await sleep(patienceMs / 2, undefined, { ref: false });
  return sleep(patienceMs / 2, 'silent', { ref: false });
}
