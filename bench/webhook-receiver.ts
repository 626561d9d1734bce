import type { ChildProcess } from 'node:child_process';
import { ask, startPeer } from './processes.ts';
import type { Arrivals, ReceiverQuestion } from './webhook-receiver-process.ts';

/** A little less than a question may take. */
const patienceMs = 50_000;

/** The process that webhooks arrive at. */
export class Receiver {
  readonly #process: ChildProcess;

  constructor(scope: AsyncDisposableStack) {
    this.#process = startPeer(scope, new URL('./webhook-receiver-process.ts', import.meta.url));
  }

  /** So many more addresses, each with a port of its own. */
  async listen(ports: number, answerAfterMs = 0): Promise<readonly string[]> {
    return this.#ask({ kind: 'listen', ports, answerAfterMs });
  }

  async forget(): Promise<void> {
    await this.#ask({ kind: 'forget' });
  }

  /** Waits until so many have arrived since the last `forget`. */
  async expect(count: number): Promise<Arrivals> {
    const arrivals = await this.#ask<Arrivals>({ kind: 'expect', count, patienceMs });
    if (arrivals.length < count) {
      throw new Error(`${arrivals.length} of ${count} webhooks arrived within ${patienceMs / 1000} s`);
    }
    return arrivals;
  }

  async #ask<Answer>(question: ReceiverQuestion): Promise<Answer> {
    return ask<Answer>(this.#process, question);
  }
}
