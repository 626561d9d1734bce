import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';

/** Where a contestant stores its work, and where it sends the events. */
export interface Work {
  /** The URL of a database, or the socket of a Redis. */
  readonly store: string;
  readonly target: string;
  readonly count: number;
  readonly concurrency: number;
}

const secret = Buffer.from('known to all who read this, and long enough');

/** Sends the requests of every peer, with one kept-alive connection for each concurrent request. */
export class Poster {
  /** Resolves when `count` requests were answered. */
  readonly all: Promise<void>;
  readonly #target: string;
  readonly #agent: Agent;
  readonly #done: () => void;
  #left: number;

  constructor({ target, count, concurrency }: Work) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.all = promise;
    this.#done = resolve;
    this.#left = count;
    this.#target = target;
    this.#agent = new Agent({ connections: concurrency, pipelining: 1 });
  }

  /** Signs by the Standard Webhooks scheme, as a dispatcher built on a job queue would. */
  async postSigned(event: { readonly event_id: string }): Promise<void> {
    const { event_id: id } = event;
    const body = JSON.stringify(event);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
    await this.post(id, body, { 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` });
  }

  async post(id: string, body: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
    const { statusCode, body: answer } = await request(this.#target, {
      method: 'POST',
      dispatcher: this.#agent,
      headers: { 'content-type': 'application/json', 'webhook-id': id, ...more },
      body,
    });
    await answer.text();
    if (statusCode !== 200) throw new Error(`the receiver answered ${statusCode}`);
    this.#left -= 1;
    if (this.#left === 0) this.#done();
  }
}
