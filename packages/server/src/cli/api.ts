import { Agent, request, type Dispatcher } from 'undici';
import { StartError } from '../platform/errors.ts';
import type { Connection } from './options.ts';

const connectMs = 5_000;
/** Until an answer begins. */
const answerMs = 20_000;
/** A feed that says nothing for so long is dead: the server says something every 15 s. */
const silenceMs = 45_000;
/** A token that ends within this time is not used any more. */
const renewMs = 30_000;

/** Nobody answers, or not now: the same may succeed later. */
export class NotNow extends StartError {
  readonly retryAfterMs: number;

  constructor(message: string, more: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(message, { cause: more.cause });
    this.retryAfterMs = more.retryAfterMs ?? 0;
  }
}

interface Asking {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A server of Usher, spoken to with an API key. Whatever it refuses is a `StartError` that says what to do. */
export class Api {
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #agent = new Agent({ connect: { timeout: connectMs } });
  #token: { readonly text: string; readonly until: number } | null = null;

  /** Whatever is under way when `signal` is given ends with its reason. */
  constructor(connection: Connection, signal: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
  }

  async get(path: string): Promise<unknown> {
    return (await this.#askSignedIn({ method: 'GET', path })).body.json();
  }

  /** The bytes of the feed, from where the id says. */
  async openFeed(lastId: string | null): Promise<AsyncIterable<Buffer>> {
    const headers = lastId === null ? {} : { 'last-event-id': lastId };
    const { body } = await this.#askSignedIn({ method: 'GET', path: '/feed', headers });
    return this.#untilCut(body);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async *#untilCut(body: Dispatcher.ResponseData['body']): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body) yield chunk as Buffer;
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new NotNow('The connection was cut.', { cause: error });
    }
    throw new NotNow('The server has ended the connection.');
  }

  async #askSignedIn(asking: Asking): Promise<Dispatcher.ResponseData> {
    const first = await this.#ask({ ...asking, headers: { ...asking.headers, ...(await this.#authorization()) } });
    if (first.statusCode !== 401) return this.#accept(first);
    // It has ended before its time: the key may still be good.
    await first.body.dump();
    this.#token = null;
    const again = await this.#ask({ ...asking, headers: { ...asking.headers, ...(await this.#authorization()) } });
    return this.#accept(again);
  }

  async #authorization(): Promise<{ authorization: string }> {
    if (this.#token === null || this.#token.until < performance.now()) this.#token = await this.#signIn();
    return { authorization: `Bearer ${this.#token.text}` };
  }

  async #signIn(): Promise<{ text: string; until: number }> {
    const { key } = this.#connection;
    const answer = await this.#ask({
      method: 'POST',
      path: '/operator_authentication/tokens',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key_id: key.id, api_key_secret: key.secret }),
    });
    if (answer.statusCode === 401)
      throw new StartError(
        `The API key ${key.id} is unknown, its secret is wrong, or its operator is disabled. ` +
          'Give another with --key-id and --key-secret.',
      );
    const { token, expires_in } = (await (await this.#accept(answer)).body.json()) as {
      token?: unknown;
      expires_in?: unknown;
    };
    if (typeof token !== 'string' || typeof expires_in !== 'number') throw this.#notUsher('no token');
    return { text: token, until: performance.now() + expires_in * 1_000 - renewMs };
  }

  async #ask({ path, ...asked }: Asking): Promise<Dispatcher.ResponseData> {
    const { url } = this.#connection;
    try {
      return await request(`${url}${path}`, {
        ...asked,
        dispatcher: this.#agent,
        signal: this.#signal,
        headersTimeout: answerMs,
        bodyTimeout: silenceMs,
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new NotNow(`No server answers at ${url} (${inWords(error)}). Start it, or say with --url where it is.`, {
        cause: error,
      });
    }
  }

  async #accept(answer: Dispatcher.ResponseData): Promise<Dispatcher.ResponseData> {
    const { statusCode: status, headers } = answer;
    const type = String(headers['content-type']);
    if (status === 200 && /^(?:application\/json|text\/event-stream)\b/.test(type)) return answer;
    const text = await answer.body.text();
    const detail = type.startsWith('application/problem+json') ? detailOf(text) : null;
    if (status === 429 || status === 502 || status === 503 || status === 504) {
      const retryAfterMs = Number(headers['retry-after'] ?? 0) * 1_000 || 0;
      throw new NotNow(detail ?? `${this.#connection.url} answers ${status}. Try again.`, { retryAfterMs });
    }
    if (detail === null) throw this.#notUsher(`status ${status}`);
    if (status === 403) throw new StartError(`${detail} Use the API key of an operator who may.`);
    throw new StartError(detail);
  }

  #notUsher(what: string): StartError {
    return new StartError(
      `${this.#connection.url} does not answer as Usher does (${what}). Say with --url where Usher serves.`,
    );
  }
}

function detailOf(problem: string): string | null {
  try {
    const { detail } = JSON.parse(problem) as { detail?: unknown };
    return typeof detail === 'string' ? detail : null;
  } catch {
    return null;
  }
}

/** The code of what went wrong, which is shorter than its message and can be looked up. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'TimeoutError' ? 'no answer in time' : error.message;
}
