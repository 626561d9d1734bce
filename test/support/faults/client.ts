import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Json } from '../server.ts';
import type { FaultWorld } from './world.ts';

/** After this time without an answer a client gives up and tries the other process. */
const answerMs = 5_000;
const retryMs = 50;

interface ClientRequest {
  readonly token: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface ClientAnswer {
  readonly status: number;
  readonly body: Json;
}

/** Every 503 has `Retry-After`, so that clients know when to come back. */
export type Failure = number | 'no answer' | '503 without Retry-After';

/** What the clients of one run have in common. */
export interface ClientPool {
  readonly world: FaultWorld;
  readonly agent: Agent;
  readonly over: AbortSignal;
  /** How often a request failed: with this status, or without an answer. */
  readonly failures: Map<Failure, number>;
}

export function openClientPool(world: FaultWorld, over: AbortSignal): ClientPool {
  const agent = new Agent({ headersTimeout: answerMs, bodyTimeout: answerMs, connect: { timeout: answerMs } });
  return { world, agent, over, failures: new Map() };
}

/** A client that stays with one process, as behind a load balancer, and goes to another one if a request fails. */
export class Client {
  readonly #pool: ClientPool;
  #url: string | null = null;

  constructor(pool: ClientPool) {
    this.#pool = pool;
  }

  get isOver(): boolean {
    return this.#pool.over.aborted;
  }

  /** Waits, but not longer than the run lasts. */
  async pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#pool.over }).catch(() => undefined);
  }

  /** Repeats the request until a process answers with less than 500; `null` if the run is over before. */
  async ask(what: string, options: ClientRequest): Promise<ClientAnswer | null> {
    while (!this.isOver) {
      const answer = await this.#tryOnce(what, options);
      if (answer !== null) return answer;
      await this.pause(retryMs);
    }
    return null;
  }

  async #tryOnce(what: string, { token, headers = {}, body }: ClientRequest): Promise<ClientAnswer | null> {
    const { world, agent, failures } = this.#pool;
    this.#url ??= world.findUrl(null);
    if (this.#url === null) return null;
    const [method = 'GET', path = '/'] = what.split(' ', 2);
    let failure: Failure = 'no answer';
    try {
      const answer = await request(`${this.#url}${path}`, {
        dispatcher: agent,
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await answer.body.text();
      if (answer.statusCode < 500) return { status: answer.statusCode, body: text === '' ? null : JSON.parse(text) };
      const isUnclear = answer.statusCode === 503 && answer.headers['retry-after'] === undefined;
      failure = isUnclear ? '503 without Retry-After' : answer.statusCode;
    } catch {
      // The connection was refused, reset or not answered in time.
    }
    failures.set(failure, (failures.get(failure) ?? 0) + 1);
    this.#url = world.findUrl(this.#url);
    return null;
  }
}
