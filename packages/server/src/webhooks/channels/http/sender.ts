import { Client, type buildConnector, type Dispatcher } from 'undici';
import { ForbiddenAddress } from '../../../platform/address-guard.ts';
import { describeFailure, maxAnswerBytes, storable, type Attempt } from '../attempt.ts';

const answerBytes = 65_536;
const keepAliveMs = 4_000;
/** Timeouts are checked this often. */
const checkEveryMs = 250;

export interface HttpRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Sends requests to one origin, each over an idle connection. The connection used last is reused first, so that connections
 * that are not needed time out. The caller limits the number of concurrent requests.
 */
export class HttpSender {
  readonly #origin: string;
  readonly #connect: buildConnector.connector;
  readonly #clients: Client[] = [];
  readonly #idle: Client[] = [];
  readonly #exchanges = new Set<Exchange>();
  #watch: NodeJS.Timeout | null = null;

  constructor(origin: string, connect: buildConnector.connector) {
    this.#origin = origin;
    this.#connect = connect;
  }

  /** Never rejects: every error is a failed attempt. */
  async send(request: HttpRequest, answerMs: number): Promise<Attempt> {
    const client = this.#idle.pop() ?? this.#newClient();
    return new Promise((resolve) => {
      const exchange = new Exchange(answerMs, (attempt) => {
        this.#exchanges.delete(exchange);
        this.#idle.push(client);
        resolve(attempt);
      });
      this.#exchanges.add(exchange);
      this.#watch ??= setInterval(() => this.#checkTimeouts(), checkEveryMs).unref();
      try {
        client.dispatch({ ...request }, exchange);
      } catch (error) {
        exchange.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Closes all connections and aborts their requests. */
  close(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    for (const client of this.#clients) void client.destroy().catch(() => undefined);
  }

  #newClient(): Client {
    const client = new Client(this.#origin, {
      connect: this.#connect,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // `#checkTimeouts` enforces the timeout, with one timer for all requests.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#clients.push(client);
    return client;
  }

  #checkTimeouts(): void {
    const now = performance.now();
    for (const exchange of this.#exchanges) if (now >= exchange.begunAt + exchange.answerMs) exchange.timeOut();
    if (this.#exchanges.size > 0 || this.#watch === null) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }
}

/** Statuses of a proxy or an overloaded server, which do not come from the receiver itself. */
const unavailableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const gone = 410;

/**
 * One request and its answer. This is a handler of undici's `dispatch`, which is cheaper than `request`: only the status and the
 * beginning of the answer are needed.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly begunAt = performance.now();
  readonly answerMs: number;
  readonly #settle: (attempt: Attempt) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #status: number | null = null;
  #retryAfter: string | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #settled = false;
  #wasForbidden = false;
  #hasTimedOut = false;

  constructor(answerMs: number, settle: (attempt: Attempt) => void) {
    this.answerMs = answerMs;
    this.#settle = settle;
  }

  /** The time is over. A 2xx status counts as delivered even if the body is incomplete; any other incomplete answer counts as none. */
  timeOut(): void {
    this.#hasTimedOut = !isSuccess(this.#status);
    this.#finish(`no complete answer within ${this.answerMs / 1_000} seconds`);
    this.#controller?.abort(new Error('timed out'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The request timed out before it began.
    if (this.#settled) controller.abort(new Error('too late'));
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    // Informational responses (such as 103) come before the answer.
    if (status < 200) return;
    this.#status = status;
    const retryAfter = headers['retry-after'];
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    // The rest is read only so that the connection can be reused, and only up to a limit.
    if (this.#size - chunk.length < maxAnswerBytes) this.#chunks.push(chunk);
    if (this.#size <= answerBytes) return;
    this.#finish(null);
    controller.abort(new Error('the answer is too long'));
  }

  onResponseEnd(): void {
    this.#finish(null);
  }

  onResponseError(_: unknown, error: Error): void {
    this.#wasForbidden = error instanceof ForbiddenAddress;
    this.#finish(describeFailure(error));
  }

  #finish(error: string | null): void {
    if (this.#settled) return;
    this.#settled = true;
    const status = this.#status;
    const isDelivered = isSuccess(status);
    this.#settle({
      verdict: isDelivered ? 'delivered' : status === gone ? 'ended' : 'failed',
      unavailable: this.#wasForbidden ? null : status === null || unavailableStatuses.has(status),
      status,
      answer:
        status === null
          ? null
          : storable(this.#chunks.length === 1 ? (this.#chunks[0] ?? empty) : Buffer.concat(this.#chunks)),
      error: error ?? (isDelivered ? null : `answered with status ${status}`),
      durationMs: Math.round(performance.now() - this.begunAt),
      retryAfterMs: retryAfterMs(this.#retryAfter),
      timedOut: this.#hasTimedOut,
    });
    this.#chunks = [];
  }
}

const empty = Buffer.alloc(0);

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** The header has seconds or a date; anything else is ignored. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
