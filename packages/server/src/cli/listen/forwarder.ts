import { Agent, request } from 'undici';
import { HmacKey } from '../../channels/hmac-key.ts';
import { signatureHeaders } from '../../channels/signature.ts';
import { describeError } from '../commands/api.ts';

/** The same time-outs as for webhooks (D8.5). */
const connectMs = 5_000;
const answerMs = 15_000;
/** Events that may be in flight or wait for earlier ones of their engagement; `forward` waits while there are more. */
const maxWaiting = 100;
const connections = 10;

export interface ForwardedEvent {
  readonly id: string;
  /** Events of one engagement are sent in order; `null` if the event belongs to none. */
  readonly engagementId: string | null;
  /** JSON. */
  readonly body: string;
}

interface ForwarderOptions {
  readonly to: URL;
  readonly secret: Buffer;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
  /** Prints the response or the error. */
  readonly report: (text: string) => void;
}

/** Sends events to one URL as a webhook would, but without retries. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #key: HmacKey;
  readonly #agent = new Agent({ connect: { timeout: connectMs }, connections, pipelining: 1 });
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #waiting = new Set<Promise<void>>();
  #unsent = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#key = new HmacKey(options.secret);
  }

  /** Resolves when the next event may be forwarded. */
  async forward(event: ForwardedEvent): Promise<void> {
    const lane = event.engagementId ?? event.id;
    const sent = (this.#lanes.get(lane) ?? Promise.resolve()).then(async () => this.#send(event));
    this.#lanes.set(lane, sent);
    this.#waiting.add(sent);
    void sent.then(() => {
      this.#waiting.delete(sent);
      if (this.#lanes.get(lane) === sent) this.#lanes.delete(lane);
    });
    while (this.#waiting.size >= maxWaiting) await Promise.race(this.#waiting);
  }

  /** After the signal: the number of events that were not sent or got no response. */
  async close(): Promise<number> {
    await Promise.all(this.#waiting);
    await this.#agent.destroy();
    return this.#unsent;
  }

  async #send({ id, body }: ForwardedEvent): Promise<void> {
    const { to, signal, report } = this.#options;
    const began = performance.now();
    const timestampSec = Math.floor(Date.now() / 1_000);
    try {
      signal.throwIfAborted();
      const answer = await request(to, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...signatureHeaders({ id, timestampSec, body, secrets: [this.#key] }),
        },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      });
      await answer.body.dump();
      report(`-> ${answer.statusCode} in ${(performance.now() - began).toFixed()} ms, ${id}`);
    } catch (error) {
      if (signal.aborted) this.#unsent += 1;
      else report(`-> not forwarded (${describeError(error)}), ${id}`);
    }
  }
}
