import { UsherError, UsherUnreachable } from '@usher/sdk/errors';
import { FeedReader, type SubscribedItem } from '@usher/sdk/feed';
import { jsonRequest, readJson } from '@usher/sdk/request';
import { keyAuthorization } from '@usher/sdk/sign-in';
import { Transport } from '@usher/sdk/transport';
import { StartError } from '../../platform/errors.ts';
import type { Connection } from '../profile.ts';

const answerMs = 20_000;

/** The server is unreachable or temporarily refuses: the same request may succeed later. */
export class TemporaryError extends StartError {
  readonly retryAfterMs: number;

  constructor(message: string, more: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(message, { cause: more.cause });
    this.retryAfterMs = more.retryAfterMs ?? 0;
  }
}

/** The server refuses the request as it is. */
export class RefusedError extends StartError {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly ifMatch?: string | null;
}

interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly etag: string | null;
  readonly retryAfterSec: number | null;
}

/**
 * A client of a running server that signs in with an API key: the SDK's, without retries. Every failure becomes a `StartError` that says
 * what to do.
 */
export class Api {
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #transport: Transport;

  /** `signal` aborts the running requests. */
  constructor(connection: Connection, signal: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
    const options = { url: connection.url, timeoutMs: answerMs, maxRetries: 0 };
    this.#transport = new Transport(options, keyAuthorization({ ...options, key: connection.key }));
  }

  async get(path: string): Promise<unknown> {
    return (await this.#send({ method: 'GET', path })).body;
  }

  /** One resource with its entity tag. */
  async getTagged(path: string): Promise<Tagged> {
    return tagged(await this.#send({ method: 'GET', path }));
  }

  /** Creates or changes a resource; with `ifMatch` only if it still has this entity tag. */
  async write(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    request: { readonly body: unknown; readonly ifMatch?: string | null },
  ): Promise<Tagged> {
    return tagged(await this.#send({ method, path, ...request }));
  }

  async delete(path: string, ifMatch: string | null): Promise<void> {
    await this.#send({ method: 'DELETE', path, ifMatch });
  }

  async post(path: string, body: unknown): Promise<unknown> {
    return (await this.#send({ method: 'POST', path, body })).body;
  }

  /** The live feed. `onFailure` is called with a `StartError`. */
  feed(onFailure: (error: unknown, failures: number) => void): AsyncIterable<SubscribedItem> {
    const reader = new FeedReader(this.#transport, {
      holdPresence: () => false,
      onFailure: (error, failures) => onFailure(this.#failure(error), failures),
    });
    return this.#translated(reader.items(this.#signal));
  }

  /** The answer as it is, also a refusal, unless it refuses the key. */
  async answer(request: ApiRequest): Promise<ApiAnswer> {
    try {
      return await this.#ask(request);
    } catch (error) {
      if (!(error instanceof UsherError) || error.code === 'unknown' || error.status === 401)
        throw this.#failure(error);
      const { status, code, message: detail, etag, retryAfterSec } = error;
      return { status, body: { error: code, detail }, etag, retryAfterSec };
    }
  }

  async *#translated<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* items;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #send(request: ApiRequest): Promise<ApiAnswer> {
    return this.#ask(request).catch((error: unknown) => {
      throw this.#failure(error);
    });
  }

  async #ask(request: ApiRequest): Promise<ApiAnswer> {
    return this.#transport.send(jsonRequest({ ...request, signal: this.#signal }), async (response) => {
      const { status, headers } = response;
      return { status, body: await readJson(response), etag: headers.get('etag'), retryAfterSec: null };
    });
  }

  /** What went wrong and what to do. */
  #failure(error: unknown): unknown {
    const { url, key } = this.#connection;
    if (error === null) return new TemporaryError('The server closed the connection.');
    if (error instanceof UsherUnreachable)
      return new TemporaryError(
        `No server responds at ${url} (${describeError(error.cause)}). Start it, or set its URL with --url.`,
        { cause: error },
      );
    if (!(error instanceof UsherError)) return error;
    const { status, code, message, retryAfterSec } = error;
    if (status === 429 || status === 502 || status === 503 || status === 504)
      return new TemporaryError(
        code === 'unknown' ? `${url} responded with status ${status}. Try again later.` : message,
        { retryAfterMs: (retryAfterSec ?? 0) * 1_000 },
      );
    if (code === 'unknown')
      return new StartError(`${url} is not an Usher server (status ${status}). Set the URL of Usher with --url.`);
    if (status === 401)
      return new StartError(
        `The API key ${key.id} is unknown, its secret is wrong, or its operator is disabled. ` +
          'Use another key with --key-id and --key-secret.',
      );
    if (status === 403)
      return new RefusedError(`${message} Use the API key of an operator with this permission.`, status);
    return new RefusedError(message, status);
  }
}

interface Tagged {
  readonly body: unknown;
  readonly etag: string;
}

function tagged({ body, etag }: ApiAnswer): Tagged {
  return { body, etag: etag ?? '' };
}

/** Runs `work` with a client. */
export async function withApi<T>(connection: Connection, work: (api: Api) => Promise<T>): Promise<T> {
  return work(new Api(connection, new AbortController().signal));
}

/** The code of the error, which is shorter than its message and can be looked up. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no response in time';
  // `fetch` hides the reason in the cause.
  return error.cause instanceof Error ? describeError(error.cause) : error.message;
}
