import type { Socket } from 'node:net';
import { errors, type Dispatcher } from 'undici';
import { ForbiddenAddress } from '../../platform/outbound/address-guard.ts';
import { describeFailure, maxAnswerBytes, storable, type Attempt } from '../attempt.ts';

/** Statuses of a proxy or an overloaded server, which do not come from the receiver itself. */
const unavailableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const gone = 410;
/** Bytes of an answer's body that are read, so that the connection can be used again. */
const maxBodyBytes = 65_536;
/** Bytes of an answer that are not its body: all heads together, chunk sizes and trailers. undici limits each of them alone. */
const maxOtherBytes = 16_384;

/**
 *   waiting   for a connection; nothing was sent
 *   sent      the request, or a part of it
 *   over      the attempt has a result
 */
type State = 'waiting' | 'sent' | 'over';

interface ExchangeOwner {
  onOver(attempt: Attempt): void;
  /** The connection failed before anything was sent over it, so another one may be tried. */
  onUnsent(error: Error): void;
}

interface Ending {
  /** `null`: the status says whether the attempt has failed. */
  readonly error: string | null;
  readonly wasForbidden?: boolean;
  readonly timedOut?: boolean;
}

/** One request and the attempt that it becomes. */
export class Exchange implements Dispatcher.DispatchHandler {
  #state: State = 'waiting';
  readonly #begunAt = performance.now();
  readonly #answerMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #owner: ExchangeOwner;
  #socket: Socket | null = null;
  /** Of the socket, before the answer. */
  #bytesBefore = 0;
  #status: number | null = null;
  #retryAfter: string | undefined;
  #bodyBytes = 0;
  readonly #body: Buffer[] = [];
  #hasInformational = false;
  #isComplete = false;

  constructor(answerMs: number, owner: ExchangeOwner) {
    this.#answerMs = answerMs;
    this.#owner = owner;
    this.#timer = setTimeout(() => this.#timeOut(), answerMs);
  }

  /**
   * Whether another request may use the connection. After anything but a clean 2xx, such as a proxy's 504 or an informational head,
   * the receiver may still send an answer that belongs to this request. An answer that came before the whole request was sent says
   * nothing about whether the rest will be read.
   */
  get leavesConnectionClean(): boolean {
    return this.#isComplete && isSuccess(this.#status) && !this.#hasInformational && this.#socket?.writableLength === 0;
  }

  /** The connection over which the request is sent next. */
  useSocket(socket: Socket): void {
    this.#socket = socket;
    this.#bytesBefore = socket.bytesRead;
  }

  /** Called when undici has read what was received. */
  checkReceived(): void {
    const received = (this.#socket?.bytesRead ?? 0) - this.#bytesBefore;
    if (received - this.#bodyBytes > maxOtherBytes) this.fail(new errors.HeadersOverflowError());
  }

  fail(error: unknown): void {
    this.#finish({ error: describeFailure(error), wasForbidden: error instanceof ForbiddenAddress });
  }

  onRequestStart(): void {
    this.#state = 'sent';
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    if (status < 200) this.#hasInformational = true;
    else {
      this.#status = status;
      [this.#retryAfter] = [headers['retry-after']].flat();
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#bodyBytes < maxAnswerBytes) this.#body.push(chunk);
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > maxBodyBytes) this.#finish({ error: null });
  }

  onResponseEnd(): void {
    this.checkReceived();
    this.#isComplete = true;
    this.#finish({ error: null });
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#state === 'waiting') this.#owner.onUnsent(error);
    else this.fail(error);
  }

  /** A 2xx status counts as delivered even if the body is incomplete; any other incomplete answer counts as none. */
  #timeOut(): void {
    const error = `no complete answer within ${this.#answerMs / 1_000} seconds`;
    this.#finish({ error, timedOut: !isSuccess(this.#status) });
  }

  #finish({ error, wasForbidden = false, timedOut = false }: Ending): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearTimeout(this.#timer);
    const status = this.#status;
    const isDelivered = isSuccess(status);
    this.#owner.onOver({
      verdict: isDelivered ? 'delivered' : status === gone ? 'ended' : 'failed',
      unavailable: wasForbidden ? null : status === null || unavailableStatuses.has(status),
      status,
      answer: status === null ? null : storable(Buffer.concat(this.#body)),
      error: error ?? (isDelivered ? null : `answered with status ${status}`),
      durationMs: Math.round(performance.now() - this.#begunAt),
      retryAfterMs: retryAfterMs(this.#retryAfter),
      timedOut,
    });
  }
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** The header has seconds or a date; anything else is ignored. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
