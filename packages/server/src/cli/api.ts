import { Agent, request, type Dispatcher } from 'undici';
import { StartError } from '../platform/errors.ts';
import type { Connection } from './profile.ts';

const connectMs = 5_000;
/** Time until the response begins. */
const answerMs = 20_000;
/** A feed that sends nothing for this time is dead: the server sends a heartbeat every 15 s. */
const silenceMs = 45_000;
/** A token is renewed this long before it expires. */
const renewMs = 30_000;

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
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A client of a running server that signs in with an API key. Every refusal becomes a `StartError` that says what to do. */
export class Api {
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #agent = new Agent({ connect: { timeout: connectMs } });
  #token: { readonly text: string; readonly until: number } | null = null;

  /** `signal` aborts the running requests. */
  constructor(connection: Connection, signal: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
  }

  async get(path: string): Promise<unknown> {
    return (await this.#sendSignedIn({ method: 'GET', path })).body.json();
  }

  /** One resource with its entity tag. */
  async getTagged(path: string): Promise<{ readonly body: unknown; readonly etag: string }> {
    return tagged(await this.#sendSignedIn({ method: 'GET', path }));
  }

  /** Creates or changes a resource; with `ifMatch` only if it still has this entity tag. */
  async write(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    { body, ifMatch = null }: { readonly body: unknown; readonly ifMatch?: string | null },
  ): Promise<{ readonly body: unknown; readonly etag: string }> {
    const headers = { 'content-type': 'application/json', ...(ifMatch === null ? {} : { 'if-match': ifMatch }) };
    return tagged(await this.#sendSignedIn({ method, path, headers, body: JSON.stringify(body) }));
  }

  async delete(path: string, ifMatch: string | null): Promise<void> {
    const headers = ifMatch === null ? {} : { 'if-match': ifMatch };
    await (await this.#sendSignedIn({ method: 'DELETE', path, headers })).body.dump();
  }

  async post(path: string, body: unknown): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    return (await this.#sendSignedIn({ method: 'POST', path, headers, body: JSON.stringify(body) })).body.json();
  }

  /** The bytes of the live feed after the item with this id. */
  async openFeed(lastId: string | null): Promise<AsyncIterable<Buffer>> {
    const headers = lastId === null ? {} : { 'last-event-id': lastId };
    const { body } = await this.#sendSignedIn({ method: 'GET', path: '/feed', headers });
    return this.#untilCut(body);
  }

  /** The answer as it is, also a refusal. */
  async answer(call: Omit<ApiRequest, 'headers' | 'body'> & { readonly body?: unknown; readonly ifMatch?: string }) {
    const { body, ifMatch, ...rest } = call;
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await this.#sendWithToken({ ...rest, headers, ...text });
    const { etag, 'retry-after': retryAfter, 'content-type': type } = answer.headers;
    if (!/^application\/(?:problem\+)?json\b/.test(String(type))) {
      await answer.body.dump();
      throw this.#notUsher(`status ${answer.statusCode}`);
    }
    return {
      status: answer.statusCode,
      body: await answer.body.json(),
      etag: typeof etag === 'string' ? etag : null,
      retryAfterSec: retryAfter === undefined ? null : Number(retryAfter) || null,
    };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async *#untilCut(body: Dispatcher.ResponseData['body']): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body) yield chunk as Buffer;
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new TemporaryError('The connection was lost.', { cause: error });
    }
    throw new TemporaryError('The server closed the connection.');
  }

  async #sendSignedIn(call: ApiRequest): Promise<Dispatcher.ResponseData> {
    return this.#accept(await this.#sendWithToken(call));
  }

  async #sendWithToken(call: ApiRequest): Promise<Dispatcher.ResponseData> {
    const first = await this.#send({ ...call, headers: { ...call.headers, ...(await this.#authorization()) } });
    if (first.statusCode !== 401) return first;
    // The token was revoked before it expired; the key may still be valid.
    await first.body.dump();
    this.#token = null;
    return this.#send({ ...call, headers: { ...call.headers, ...(await this.#authorization()) } });
  }

  async #authorization(): Promise<{ authorization: string }> {
    if (this.#token === null || this.#token.until < performance.now()) this.#token = await this.#signIn();
    return { authorization: `Bearer ${this.#token.text}` };
  }

  async #signIn(): Promise<{ text: string; until: number }> {
    const { key } = this.#connection;
    const answer = await this.#send({
      method: 'POST',
      path: '/operator_authentication/tokens',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key_id: key.id, api_key_secret: key.secret }),
    });
    if (answer.statusCode === 401)
      throw new StartError(
        `The API key ${key.id} is unknown, its secret is wrong, or its operator is disabled. ` +
          'Use another key with --key-id and --key-secret.',
      );
    const { token, expires_in } = (await (await this.#accept(answer)).body.json()) as {
      token?: unknown;
      expires_in?: unknown;
    };
    if (typeof token !== 'string' || typeof expires_in !== 'number') throw this.#notUsher('no token');
    return { text: token, until: performance.now() + expires_in * 1_000 - renewMs };
  }

  async #send({ path, ...options }: ApiRequest): Promise<Dispatcher.ResponseData> {
    const { url } = this.#connection;
    try {
      return await request(`${url}${path}`, {
        ...options,
        dispatcher: this.#agent,
        signal: this.#signal,
        headersTimeout: answerMs,
        bodyTimeout: silenceMs,
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new TemporaryError(
        `No server responds at ${url} (${describeError(error)}). Start it, or set its URL with --url.`,
        {
          cause: error,
        },
      );
    }
  }

  async #accept(answer: Dispatcher.ResponseData): Promise<Dispatcher.ResponseData> {
    const { statusCode: status, headers } = answer;
    const type = String(headers['content-type']);
    if (status === 204) return answer;
    if (status >= 200 && status < 300 && /^(?:application\/json|text\/event-stream)\b/.test(type)) return answer;
    const text = await answer.body.text();
    const detail = type.startsWith('application/problem+json') ? detailOf(text) : null;
    if (status === 429 || status === 502 || status === 503 || status === 504) {
      const retryAfterMs = Number(headers['retry-after'] ?? 0) * 1_000 || 0;
      throw new TemporaryError(detail ?? `${this.#connection.url} responded with status ${status}. Try again later.`, {
        retryAfterMs,
      });
    }
    if (detail === null) throw this.#notUsher(`status ${status}`);
    if (status === 403)
      throw new RefusedError(`${detail} Use the API key of an operator with this permission.`, status);
    throw new RefusedError(detail, status);
  }

  #notUsher(what: string): StartError {
    return new StartError(`${this.#connection.url} is not an Usher server (${what}). Set the URL of Usher with --url.`);
  }
}

/** Runs `work` with a client, and closes it. */
export async function withApi<T>(connection: Connection, work: (api: Api) => Promise<T>): Promise<T> {
  const api = new Api(connection, new AbortController().signal);
  try {
    return await work(api);
  } finally {
    await api.close();
  }
}

async function tagged({
  body,
  headers: { etag },
}: Dispatcher.ResponseData): Promise<{ readonly body: unknown; readonly etag: string }> {
  return { body: await body.json(), etag: typeof etag === 'string' ? etag : '' };
}

function detailOf(problem: string): string | null {
  try {
    const { detail } = JSON.parse(problem) as { detail?: unknown };
    return typeof detail === 'string' ? detail : null;
  } catch {
    return null;
  }
}

/** The code of the error, which is shorter than its message and can be looked up. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'TimeoutError' ? 'no response in time' : error.message;
}
