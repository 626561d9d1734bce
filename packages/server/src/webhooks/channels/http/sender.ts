import { Client, type buildConnector, type Dispatcher } from 'undici';
import { ForbiddenAddress } from '../../../platform/address-guard.ts';
import { describeFailure, longestAnswer, storable, type Attempt } from '../attempt.ts';

const answerBytes = 65_536;
const keepAliveMs = 4_000;
/** How exactly the limits of time are kept. */
const lookEveryMs = 250;

export interface HttpRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Requests to one origin, each over a connection that has nothing else to do: the one used last, so that those that are not
 * needed go cold and are closed. Whoever sends sees to it that there are not too many at a time.
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

  /** Never rejects: whatever goes wrong is an attempt that failed. */
  async send(request: HttpRequest, answerMs: number): Promise<Attempt> {
    const client = this.#idle.pop() ?? this.#newClient();
    return new Promise((resolve) => {
      const exchange = new Exchange(answerMs, (attempt) => {
        this.#exchanges.delete(exchange);
        this.#idle.push(client);
        resolve(attempt);
      });
      this.#exchanges.add(exchange);
      this.#watch ??= setInterval(() => this.#look(), lookEveryMs).unref();
      try {
        client.dispatch({ ...request }, exchange);
      } catch (error) {
        exchange.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Cuts off what is under way, if anything is. */
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
      // Limits of time are kept here, by one timer for all.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#clients.push(client);
    return client;
  }

  #look(): void {
    const now = performance.now();
    for (const exchange of this.#exchanges) if (now >= exchange.begunAt + exchange.answerMs) exchange.giveUp();
    if (this.#exchanges.size > 0 || this.#watch === null) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }
}

/** No answer, or one by what stands before the receiver: nobody was there. */
const awayStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const gone = 410;

/**
 * One request and its answer. A handler of undici's, which its `request` wraps into a stream and more; all that is wanted
 * of the answer is its status and its beginning.
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

  /** It has had its time. A status that says the event was taken counts; any other answer that is not complete is none. */
  giveUp(): void {
    this.#hasTimedOut = !isTaken(this.#status);
    this.#finish(`no complete answer within ${this.answerMs / 1_000} seconds`);
    this.#controller?.abort(new Error('timed out'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was given up before it began.
    if (this.#settled) controller.abort(new Error('too late'));
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    // What comes before the answer (103, say) is none.
    if (status < 200) return;
    this.#status = status;
    const retryAfter = headers['retry-after'];
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    // The rest is read for the sake of the connection, which can be used again then; but not without end.
    if (this.#size - chunk.length < longestAnswer) this.#chunks.push(chunk);
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
    const taken = isTaken(status);
    this.#settle({
      verdict: taken ? 'delivered' : status === gone ? 'ended' : 'failed',
      unavailable: this.#wasForbidden ? null : status === null || awayStatuses.has(status),
      status,
      answer:
        status === null
          ? null
          : storable(this.#chunks.length === 1 ? (this.#chunks[0] ?? empty) : Buffer.concat(this.#chunks)),
      error: error ?? (taken ? null : `answered with status ${status}`),
      durationMs: Math.round(performance.now() - this.begunAt),
      retryAfterMs: retryAfterMs(this.#retryAfter),
      timedOut: this.#hasTimedOut,
    });
    this.#chunks = [];
  }
}

const empty = Buffer.alloc(0);

function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Seconds, or a date; anything else is nothing. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
