import { ForbiddenAddress } from '../../platform/outbound/address-guard.ts';
import { isSuccess } from './answer-parser.ts';
import { describeFailure, storable, type Attempt } from '../attempt.ts';

/** A request as it is sent. */
export interface HttpRequest {
  /** The request line and all headers, with the empty line after them; in Latin-1. */
  readonly head: string;
  readonly body: string;
  /** The head has only ASCII characters, so head and body can be sent as one text. */
  readonly isAscii: boolean;
  /** A DELETE with a body may confuse a receiver, so its connection is not used again. */
  readonly isLast: boolean;
}

/** What has been received of an answer. */
export interface ReceivedAnswer {
  readonly status: number | null;
  readonly retryAfter: string | undefined;
  readonly body: Buffer;
}

/** Statuses of a proxy or an overloaded server, which do not come from the receiver itself. */
const unavailableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const gone = 410;

/** One request and the attempt that it becomes. */
export class Exchange {
  readonly request: HttpRequest;
  readonly begunAt = performance.now();
  readonly answerMs: number;
  /** Over which the request was sent. After a timeout it cannot be used again. */
  #connection: { close(): void } | null = null;
  #answer: ReceivedAnswer | null = null;
  readonly #settle: (attempt: Attempt) => void;
  #isSettled = false;

  constructor(request: HttpRequest, answerMs: number, settle: (attempt: Attempt) => void) {
    this.request = request;
    this.answerMs = answerMs;
    this.#settle = settle;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The request is sent. `answer` is what has been received at any time. */
  begin(connection: { close(): void }, answer: ReceivedAnswer): void {
    this.#connection = connection;
    this.#answer = answer;
  }

  /** The time is over. A 2xx status counts as delivered even if the body is incomplete; any other incomplete answer counts as none. */
  timeOut(): void {
    const timedOut = !isSuccess(this.#answer?.status ?? null);
    this.#finish({ error: `no complete answer within ${this.answerMs / 1_000} seconds`, timedOut });
    this.#connection?.close();
  }

  /** The answer is complete, or longer than needed. */
  complete(): void {
    this.#finish({ error: null });
  }

  fail(error: unknown): void {
    this.#finish({ error: describeFailure(error), wasForbidden: error instanceof ForbiddenAddress });
  }

  #finish({ error, wasForbidden = false, timedOut = false }: Ending): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const status = this.#answer?.status ?? null;
    const isDelivered = isSuccess(status);
    this.#settle({
      verdict: isDelivered ? 'delivered' : status === gone ? 'ended' : 'failed',
      unavailable: wasForbidden ? null : status === null || unavailableStatuses.has(status),
      status,
      answer: status === null || this.#answer === null ? null : storable(this.#answer.body),
      error: error ?? (isDelivered ? null : `answered with status ${status}`),
      durationMs: Math.round(performance.now() - this.begunAt),
      retryAfterMs: retryAfterMs(this.#answer?.retryAfter),
      timedOut,
    });
  }
}

interface Ending {
  /** `null`: the status says whether the attempt has failed. */
  readonly error: string | null;
  readonly wasForbidden?: boolean;
  readonly timedOut?: boolean;
}

/** The header has seconds or a date; anything else is ignored. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
