import type { LookupFunction } from 'node:net';
import type { ApnsLimits } from './limits.ts';
import { ApnsSession, type ApnsRequest, type Reply } from './session.ts';

interface ConnectionOptions {
  readonly url: string;
  readonly ca: string | undefined;
  readonly lookup: LookupFunction | undefined;
  readonly limits: ApnsLimits;
}

interface Waiting {
  readonly request: ApnsRequest;
  /** Asked when its turn has come: why it shall not be sent after all; `null`: it shall. */
  readonly isStopped: () => string | null;
  readonly settle: (reply: Reply) => void;
  late: NodeJS.Timeout | undefined;
  sent: number;
}

/**
 * Requests to one of Apple's environments: one session, a new one when that is of no more use, and those who wait for
 * room on it. A session that ends before it has been of use puts off the next: until then everything fails at once, as
 * whoever asked knows better when to try again.
 */
export class ApnsConnection {
  readonly #options: ConnectionOptions;
  readonly #waiting: Waiting[] = [];
  readonly #sessions = new Set<ApnsSession>();
  #current: ApnsSession | null = null;
  #failures = 0;
  #notBefore = 0;
  #why = '';
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
    return this.#waiting.length;
  }

  /** Never rejects. */
  async send(request: ApnsRequest, isStopped: () => string | null): Promise<Reply> {
    const { waiting: most } = this.#options.limits;
    if (this.#isClosed) return failure('Usher is stopping');
    if (this.#waiting.length >= most) return failure(`${most} notifications to Apple are waiting already`);
    return new Promise((settle) => {
      const waiting: Waiting = { request, isStopped, settle, late: undefined, sent: 0 };
      this.#waiting.push(waiting);
      this.#hurry(waiting);
      this.#pump();
    });
  }

  /** Cuts off what is under way. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.end('Usher is stopping');
    this.#failAll('Usher is stopping');
  }

  #hurry(waiting: Waiting): void {
    waiting.late = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.settle(failure('Its turn to be sent to Apple did not come in time'));
    }, this.#options.limits.waitMs).unref();
  }

  /** Once what was answered has been thought about: that may stop those who come next. */
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
    while (this.#waiting.length > 0 && !this.#isClosed) {
      if (this.#current === null) {
        const restMs = this.#notBefore - performance.now();
        if (restMs > 0) return this.#failAll(`${this.#why}; it is tried again in ${Math.ceil(restMs / 1000)} s`);
        this.#open();
      }
      if (this.#current?.hasRoom !== true) return;
      const next = this.#waiting.shift();
      if (next !== undefined) void this.#start(next, this.#current);
    }
  }

  async #start(next: Waiting, session: ApnsSession): Promise<void> {
    clearTimeout(next.late);
    const stopped = next.isStopped();
    if (stopped !== null) return this.#finish(next, failure(stopped));
    next.sent += 1;
    const reply = await session.send(next.request);
    if (reply.kind !== 'unsent') return this.#finish(next, reply);
    if (next.sent > this.#options.limits.resends || this.#isClosed) return this.#finish(next, failure(reply.error));
    this.#waiting.unshift(next);
    this.#hurry(next);
    this.#pumpSoon();
  }

  #finish(next: Waiting, reply: Reply): void {
    clearTimeout(next.late);
    next.settle(reply);
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

  /** Lets go of a session that takes no more. */
  #dropCurrent(): void {
    const session = this.#current;
    if (session === null || session.state === 'connecting' || session.state === 'open') return;
    this.#current = null;
    this.#why = session.why;
    this.#failures = session.isProved ? 0 : this.#failures + 1;
    this.#notBefore = session.isProved ? 0 : performance.now() + this.#backoffMs();
  }

  /** Between half and the whole of it, so that processes do not come back together. */
  #backoffMs(): number {
    const { backoffMs, longestBackoffMs } = this.#options.limits;
    return Math.min(backoffMs * 2 ** (this.#failures - 1), longestBackoffMs) * (0.5 + Math.random() / 2);
  }

  #failAll(why: string): void {
    for (const each of this.#waiting.splice(0)) this.#finish(each, failure(why));
  }
}

function failure(error: string): Reply {
  return { kind: 'failed', error, status: null, body: null };
}
