import type { LookupFunction } from 'node:net';
import type { ApnsLimits } from './limits.ts';
import { ApnsSession, type ApnsRequest, type Reply } from './session.ts';

interface ConnectionOptions {
  readonly url: string;
  readonly ca: string | undefined;
  readonly lookup: LookupFunction | undefined;
  readonly limits: ApnsLimits;
}

interface QueuedRequest {
  readonly request: ApnsRequest;
  /** Called just before sending: the reason not to send the request; `null`: send it. */
  readonly isStopped: () => string | null;
  readonly onReply: (reply: Reply) => void;
  late: NodeJS.Timeout | undefined;
  sent: number;
}

/**
 * Sends requests to one of Apple's environments, over one session at a time, and queues those that wait for a free stream. If a
 * session ends before any useful answer, the next session waits for a backoff; until then requests fail at once, because the
 * dispatcher has a better schedule for retries.
 */
export class ApnsConnection {
  readonly #options: ConnectionOptions;
  readonly #queue: QueuedRequest[] = [];
  readonly #sessions = new Set<ApnsSession>();
  #current: ApnsSession | null = null;
  #failures = 0;
  #notBefore = 0;
  #closeReason = '';
  #isClosed = false;
  #willPump = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  get streams(): number {
    return [...this.#sessions].reduce((sum, { streams }) => sum + streams, 0);
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Never rejects. */
  async send(request: ApnsRequest, isStopped: () => string | null): Promise<Reply> {
    const { waiting: maxQueued } = this.#options.limits;
    if (this.#isClosed) return failure('Usher is stopping');
    if (this.#queue.length >= maxQueued) return failure(`the queue of ${maxQueued} notifications to Apple is full`);
    return new Promise((onReply) => {
      const waiting: QueuedRequest = { request, isStopped, onReply, late: undefined, sent: 0 };
      this.#queue.push(waiting);
      this.#startTimer(waiting);
      this.#pump();
    });
  }

  /** Closes all sessions; requests in flight and in the queue fail. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.end('Usher is stopping');
    this.#failAll('Usher is stopping');
  }

  #startTimer(waiting: QueuedRequest): void {
    waiting.late = setTimeout(() => {
      this.#queue.splice(this.#queue.indexOf(waiting), 1);
      waiting.onReply(failure('the notification waited too long in the queue to Apple'));
    }, this.#options.limits.waitMs).unref();
  }

  /** Pumps after the last answer has been handled, because that answer may stop the next requests. */
  #pumpSoon(): void {
    if (this.#willPump) return;
    this.#willPump = true;
    setImmediate(() => {
      this.#willPump = false;
      this.#pump();
    });
  }

  #pump(): void {
    this.#dropCurrent();
    while (this.#queue.length > 0 && !this.#isClosed) {
      if (this.#current === null) {
        const remainingMs = this.#notBefore - performance.now();
        if (remainingMs > 0)
          return this.#failAll(
            `${this.#closeReason}; the next connection is made in ${Math.ceil(remainingMs / 1000)} s`,
          );
        this.#open();
      }
      if (this.#current?.hasRoom !== true) return;
      const next = this.#queue.shift();
      if (next !== undefined) void this.#start(next, this.#current);
    }
  }

  async #start(next: QueuedRequest, session: ApnsSession): Promise<void> {
    clearTimeout(next.late);
    const stopped = next.isStopped();
    if (stopped !== null) return this.#finish(next, failure(stopped));
    next.sent += 1;
    const reply = await session.send(next.request);
    if (reply.kind !== 'unsent') return this.#finish(next, reply);
    if (next.sent > this.#options.limits.resends || this.#isClosed) return this.#finish(next, failure(reply.error));
    this.#queue.unshift(next);
    this.#startTimer(next);
    this.#pumpSoon();
  }

  #finish(next: QueuedRequest, reply: Reply): void {
    clearTimeout(next.late);
    next.onReply(reply);
  }

  #open(): void {
    const session = new ApnsSession({ ...this.#options, onChange: () => this.#onChange(session) });
    this.#sessions.add(session);
    this.#current = session;
  }

  #onChange(session: ApnsSession): void {
    if (session.state === 'ended') this.#sessions.delete(session);
    this.#dropCurrent();
    this.#pumpSoon();
  }

  /** Drops the current session if it accepts no more requests. */
  #dropCurrent(): void {
    const session = this.#current;
    if (session === null || session.state === 'connecting' || session.state === 'open') return;
    this.#current = null;
    this.#closeReason = session.why;
    this.#failures = session.isUseful ? 0 : this.#failures + 1;
    this.#notBefore = session.isUseful ? 0 : performance.now() + this.#backoffMs();
  }

  /** With jitter down to one half, so that processes do not reconnect together. */
  #backoffMs(): number {
    const { backoffMs, maxBackoffMs } = this.#options.limits;
    return Math.min(backoffMs * 2 ** (this.#failures - 1), maxBackoffMs) * (0.5 + Math.random() / 2);
  }

  #failAll(why: string): void {
    for (const each of this.#queue.splice(0)) this.#finish(each, failure(why));
  }
}

function failure(error: string): Reply {
  return { kind: 'failed', error, status: null, body: null };
}
