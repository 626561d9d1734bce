import type { Attempt } from '../../../../packages/server/src/channels/attempt.ts';
import type { Channel, DestinationOrigin, OpenChannel } from '../../../../packages/server/src/channels/channel.ts';
import type { ClusterProcess } from '../cluster/process.ts';
import type { Random } from '../random.ts';
import type { Step } from '../scheduler.ts';

/** A request to a receiver. */
export interface SimulatedRequest {
  readonly sender: ClusterProcess;
  readonly destination: DestinationOrigin;
  /** The epoch of the lease at the moment when it was sent. */
  readonly epoch: number | null;
  readonly webhookId: string;
  readonly eventId: string;
  /** The number that the visitor gave to the message. */
  readonly message: number;
  /** The place among all that was sent and accepted, and that at which the receiver took the event; `null`: it did not. */
  readonly sentAt: number;
  acceptedAt: number | null;
  /** What the sender has seen; `null`: nothing yet, or the sender was killed before. */
  seen: Attempt['verdict'] | null;
}

type Mood = 'well' | 'failing' | 'silent';

const attempt: Attempt = {
  verdict: 'failed',
  unavailable: false,
  status: 500,
  answer: null,
  error: null,
  durationMs: 1,
  retryAfterMs: null,
};
const delivered: Attempt = { ...attempt, verdict: 'delivered', status: 200 };
const unavailable: Attempt = { ...attempt, unavailable: true, status: null, error: 'the connection was lost' };
const timedOut: Attempt = { ...unavailable, error: 'no answer', timedOut: true };

interface Waiting {
  readonly request: SimulatedRequest;
  readonly answer: (attempt: Attempt) => void;
}

/** The receivers of a history, one for each destination. They answer when the scheduler says so. */
export class Receivers {
  /** Everything that was sent, in this order. */
  readonly requests: SimulatedRequest[] = [];
  readonly #random: Random;
  readonly #moods = new Map<string, Mood>();
  readonly #onActivity: () => void;
  #waiting: Waiting[] = [];
  #places = 0;
  /** From then on every receiver accepts what it is sent. */
  isCalm = false;

  constructor(random: Random, origins: readonly string[], onActivity: () => void) {
    this.#random = random;
    this.#onActivity = onActivity;
    for (const origin of origins) this.#moods.set(origin, random.pick(['well', 'well', 'failing', 'silent']));
  }

  /** The channel by which a process sends. */
  channelOf(sender: ClusterProcess, epochOf: (destination: object) => number | null): Channel {
    return {
      kind: 'simulated',
      schemes: ['simulated'],
      urlName: 'a simulated URL',
      urlForm: 'simulated://<name>',
      isAttachable: false,
      fields: {},
      requiredFields: [],
      unsigned: 'Nobody reads signatures.',
      endsBecause: 'gone',
      urlFaults: () => [],
      violations: () => [],
      originOf: (url) => new URL(url).origin,
      addressOf: () => null,
      open: () => this.#open(sender, epochOf),
    };
  }

  /**
   * What receivers may do next. Those of a frozen process answer later. The order does not depend on that in which PostgreSQL returns the
   * deliveries of one event to several webhooks.
   */
  steps(isFrozen: (sender: ClusterProcess) => boolean): Step[] {
    return this.#waiting
      .filter(({ request }) => !isFrozen(request.sender))
      .filter(({ request }) => this.isCalm || this.#moods.get(request.destination.origin) !== 'silent')
      .map((waiting) => ({ waiting, name: nameOf(waiting.request) }))
      .toSorted((a, b) => Number(a.name > b.name) - Number(a.name < b.name))
      .map(({ waiting, name }) => ({ name, run: () => this.#answer(waiting), weight: 0.5 }));
  }

  /** Receivers fail, recover or say nothing from some moment on. */
  changes(): Step[] {
    return Array.from(this.#moods.keys(), (origin) => ({
      name: `${origin} changes`,
      run: () => void this.#moods.set(origin, this.#random.pick(['well', 'well', 'failing', 'silent'])),
      weight: 0.04,
    }));
  }

  /** The process was killed: it sees no answer. */
  forget(process: ClusterProcess): void {
    const isForgotten = ({ request }: Waiting): boolean => request.sender === process;
    for (const { request } of this.#waiting.filter(isForgotten)) if (this.#random.chance(0.5)) this.#accept(request);
    this.#waiting = this.#waiting.filter((each) => !isForgotten(each));
  }

  #open(sender: ClusterProcess, epochOf: (destination: object) => number | null): OpenChannel {
    return {
      senderFor:
        ({ id }) =>
        async ({ id: eventId, json }, destination, answerMs) =>
          this.#send(
            { sender, destination, epoch: epochOf(destination), webhookId: id, eventId, message: numberIn(json) },
            answerMs,
          ),
      closeDestination: (destination) => this.#abort(({ request }) => request.destination === destination),
      close: () => this.#abort(({ request }) => request.sender === sender),
    };
  }

  async #send(
    given: Pick<SimulatedRequest, 'sender' | 'destination' | 'epoch' | 'webhookId' | 'eventId' | 'message'>,
    answerMs: number,
  ): Promise<Attempt> {
    const request: SimulatedRequest = { ...given, sentAt: (this.#places += 1), acceptedAt: null, seen: null };
    this.requests.push(request);
    this.#onActivity();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (this.#random.chance(0.5)) this.#accept(request);
        waiting.answer(timedOut);
      }, answerMs);
      const waiting: Waiting = {
        request,
        answer: (seen) => {
          clearTimeout(timer);
          this.#waiting = this.#waiting.filter((each) => each !== waiting);
          request.seen = seen.verdict;
          this.#onActivity();
          resolve(seen);
        },
      };
      this.#waiting.push(waiting);
    });
  }

  #accept(request: SimulatedRequest): void {
    request.acceptedAt = this.#places += 1;
  }

  #answer({ request, answer }: Waiting): void {
    const isWell = this.isCalm || this.#moods.get(request.destination.origin) === 'well';
    if (isWell || this.#random.chance(0.1)) {
      this.#accept(request);
      // The answer may be lost.
      answer(this.isCalm || this.#random.chance(0.95) ? delivered : unavailable);
    } else answer(this.#random.pick([attempt, attempt, unavailable]));
  }

  /** The sender ends its requests. */
  #abort(isAborted: (waiting: Waiting) => boolean): void {
    for (const waiting of this.#waiting.filter(isAborted)) {
      if (this.#random.chance(0.5)) this.#accept(waiting.request);
      waiting.answer(unavailable);
    }
  }
}

function nameOf({ sender, destination, webhookId, message }: SimulatedRequest): string {
  return `${destination.origin} answers ${sender.name} about message ${message} to webhook ${webhookId.slice(0, 4)}`;
}

/** The content of the message in the payload. */
function numberIn(json: string): number {
  const { message } = JSON.parse(json) as { readonly message: { readonly content: string } };
  return Number(message.content);
}
