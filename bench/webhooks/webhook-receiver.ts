import type { ChildProcess } from 'node:child_process';
import { ask, startPeer } from '../measuring/processes.ts';
import type { Arrivals, ReceiverRequest } from './webhook-receiver-process.ts';

/** Less than the timeout of `ask`, so that the error says how many events arrived. */
const timeoutMs = 50_000;

/** The process that receives webhooks. */
export class Receiver {
  readonly #process: ChildProcess;

  constructor(scope: AsyncDisposableStack) {
    this.#process = startPeer(scope, new URL('./webhook-receiver-process.ts', import.meta.url));
  }

  /** Opens more addresses, each with its own port, and returns their URLs. */
  async listen(ports: number, answerAfterMs = 0): Promise<readonly string[]> {
    return this.#ask({ kind: 'listen', ports, answerAfterMs });
  }

  /** Deletes the recorded arrivals. */
  async clear(): Promise<void> {
    await this.#ask({ kind: 'clear' });
  }

  /** Waits until `count` events have arrived since the last `clear`. */
  async expect(count: number): Promise<Arrivals> {
    const arrivals = await this.#ask<Arrivals>({ kind: 'expect', count, timeoutMs });
    if (arrivals.length < count) {
      throw new Error(`${arrivals.length} of ${count} webhooks arrived within ${timeoutMs / 1000} s`);
    }
    return arrivals;
  }

  async #ask<Answer>(request: ReceiverRequest): Promise<Answer> {
    return ask<Answer>(this.#process, request);
  }
}
