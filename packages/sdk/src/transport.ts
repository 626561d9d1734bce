import { fixedHeader, type Authorization } from './authorization.ts';
import { errorOf, UsherError, UsherUnreachable } from './errors.ts';
import { isRepeatable, retryDelayMs } from './retries.ts';
import { orAborted, pause } from './waiting.ts';

export interface TransportOptions {
  /** The URL of Usher, with the path prefix if it has one. Empty: the origin of the page. */
  readonly url: string;
  readonly fetch?: typeof fetch;
  /** Default: 3. */
  readonly maxRetries?: number;
  /** How long one attempt may take. Default: 30,000. */
  readonly timeoutMs?: number;
}

export interface TransportRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the body of an attempt: a stream can be sent once. */
  readonly body?: () => NonNullable<RequestInit['body']>;
  readonly signal?: AbortSignal | undefined;
  /** The browser completes the request even if the page is closed. */
  readonly keepalive?: boolean;
  /** Default: `omit`, because the Authorization header alone authorises a request. */
  readonly credentials?: 'omit' | 'same-origin';
  /** The time limit ends with the first byte of the answer, and the signal also ends the body: for downloads and the feed. */
  readonly isStream?: boolean;
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
  /** Sends the attempt instead of `fetch`, which does not report the progress of an upload. */
  readonly sendWith?: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * Sends requests to Usher: adds the Authorization header and renews it once after a 401, retries what may be repeated, and turns
 * every failure into `UsherError`, `UsherUnreachable` or the reason of the signal.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #base: string;
  readonly #authorization: Authorization;

  constructor(options: TransportOptions, authorization: Authorization = fixedHeader(null)) {
    this.#options = options;
    this.#base = options.url.endsWith('/') ? options.url.slice(0, -1) : options.url;
    this.#authorization = authorization;
  }

  /** `read` reads the answer within the attempt: an answer that ends too early is a failed attempt. */
  async send<T>(request: TransportRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, headers = {}, signal } = request;
    const mayRepeat = isRepeatable(method, 'if-match' in headers);
    const maxRetries = request.maxRetries ?? this.#options.maxRetries ?? 3;
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.#sendAuthorized(request, read);
      } catch (error) {
        signal?.throwIfAborted();
        const delayMs = retryDelayMs({ error, isRepeatable: mayRepeat, retries, random: Math.random() });
        if (delayMs === null || retries >= maxRetries) throw error;
        await pause(delayMs, signal);
      }
    }
  }

  async #sendAuthorized<T>(request: TransportRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { signal } = request;
    const header = await orAborted(this.#authorization.header(), signal);
    try {
      return await this.#attempt(request, header, read);
    } catch (error) {
      const isRefused = error instanceof UsherError && error.status === 401;
      if (!isRefused || !(await orAborted(this.#authorization.renew(header), signal))) throw error;
      return this.#attempt(request, await orAborted(this.#authorization.header(), signal), read);
    }
  }

  async #attempt<T>(
    request: TransportRequest,
    authorization: string | null,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { signal, isStream = false } = request;
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs ?? 30_000;
    const attempt = new AbortController();
    const abort = (): void => attempt.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      attempt.abort();
    }, timeoutMs);
    let isOpen = false;
    try {
      const response = await this.#fetch(request, authorization, attempt.signal);
      if (!response.ok) throw await errorOf(response);
      const answer = await read(response);
      isOpen = isStream;
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof UsherError) throw error;
      throw isLate
        ? new UsherUnreachable(error, `${this.#base || 'The server'} did not answer within ${timeoutMs / 1000} s.`)
        : new UsherUnreachable(error);
    } finally {
      clearTimeout(timer);
      // The body of a stream is still being read.
      if (!isOpen) signal?.removeEventListener('abort', abort);
    }
  }

  async #fetch(request: TransportRequest, authorization: string | null, signal: AbortSignal): Promise<Response> {
    const { method, path, headers, body, keepalive, credentials = 'omit' } = request;
    const content = body?.();
    const init = {
      method,
      headers: { ...headers, ...(authorization === null ? {} : { authorization }) },
      signal,
      credentials,
      // Every answer may have changed since the last one.
      cache: 'no-store',
      ...(content === undefined ? {} : { body: content }),
      ...(content instanceof ReadableStream ? { duplex: 'half' } : {}),
      ...(keepalive === undefined ? {} : { keepalive }),
    };
    // A browser's `fetch` must not be called as a method of another object.
    const send = request.sendWith ?? this.#options.fetch ?? fetch;
    return send(`${this.#base}${path}`, init as RequestInit);
  }
}
