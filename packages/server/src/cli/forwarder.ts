import { createSecretKey, type KeyObject } from 'node:crypto';
import { Agent, request } from 'undici';
import { signatureHeaders } from '../webhooks/channels/signature.ts';
import { inWords } from './api.ts';

/** As webhooks are given. */
const connectMs = 5_000;
const answerMs = 15_000;
/** Events that may be under way or wait for others of their engagement; more are not taken until some are done. */
const mostWaiting = 100;
const connections = 10;

export interface Forwarded {
  readonly id: string;
  /** Those of one engagement go one after the other; `null`: it is of none. */
  readonly engagementId: string | null;
  /** JSON. */
  readonly body: string;
}

interface ForwarderParts {
  readonly to: URL;
  readonly secret: Buffer;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** What was answered, or went wrong. */
  readonly report: (text: string) => void;
}

/** Sends events to one address as a webhook would, except that one which fails is not sent again. */
export class Forwarder {
  readonly #parts: ForwarderParts;
  readonly #key: KeyObject;
  readonly #agent = new Agent({ connect: { timeout: connectMs }, connections, pipelining: 1 });
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #waiting = new Set<Promise<void>>();
  #left = 0;

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
    this.#key = createSecretKey(parts.secret);
  }

  /** Resolves when there is room for another. */
  async take(event: Forwarded): Promise<void> {
    const lane = event.engagementId ?? event.id;
    const sent = (this.#lanes.get(lane) ?? Promise.resolve()).then(async () => this.#send(event));
    this.#lanes.set(lane, sent);
    this.#waiting.add(sent);
    void sent.then(() => {
      this.#waiting.delete(sent);
      if (this.#lanes.get(lane) === sent) this.#lanes.delete(lane);
    });
    while (this.#waiting.size >= mostWaiting) await Promise.race(this.#waiting);
  }

  /** Once the signal has been given: how many have not been sent, or not been answered. */
  async close(): Promise<number> {
    await Promise.all(this.#waiting);
    await this.#agent.destroy();
    return this.#left;
  }

  async #send({ id, body }: Forwarded): Promise<void> {
    const { to, signal, report } = this.#parts;
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
      if (signal.aborted) this.#left += 1;
      else report(`-> not forwarded (${inWords(error)}), ${id}`);
    }
  }
}
