import type { Operations } from './api-types.ts';
import { problemOf, ProblemError, Unreachable } from './problem.ts';
import { Repeats } from './repeats.ts';
import { upload } from './upload.ts';

export type Operation = keyof Operations;
export type Answer<O extends Operation> = Operations[O]['answer'];

/** Fields are asked for only where the operation has them. */
type Given<Key extends string, Value> = [Value] extends [undefined]
  ? { readonly [K in Key]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

export type Request<O extends Operation> = Given<'path', Operations[O]['path']> &
  Given<'query', Operations[O]['query']> &
  Given<'body', Operations[O]['body']> & {
    /** The version that is to be changed, as it was read: another's change in between is a refusal (412), not a loss. */
    readonly ifMatch?: string | null;
    /** The same key makes the same request safe to send again. */
    readonly idempotencyKey?: string;
    readonly signal?: AbortSignal;
    /** The request is not given up when the page is left. */
    readonly keepalive?: boolean;
  };

export interface Answered<O extends Operation> {
  readonly data: Answer<O>;
  readonly etag: string | null;
  readonly status: number;
}

interface ApiOptions {
  /** Before every path; empty for the origin of the page. */
  readonly base: string;
  /** The value of the Authorization header. May wait: for a sign-in, say. */
  readonly authorization: () => Promise<string>;
  /** The header was refused: whether another is to be had, so that the request is worth sending again. */
  readonly renew?: (refused: string) => Promise<boolean>;
  /** Whether an operation creates something, so that it must not be done twice by accident; left out: none is. */
  readonly creates?: (operation: Operation) => boolean;
}

/** Usher's API as its types say it. Refusals are thrown as `ProblemError`, a server that is not there as `Unreachable`. */
export class Api {
  readonly #options: ApiOptions;
  readonly #repeats = new Repeats();

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  async call<O extends Operation>(operation: O, request: Request<O>): Promise<Answer<O>> {
    return (await this.ask(operation, request)).data;
  }

  async ask<O extends Operation>(operation: O, request: Request<O>): Promise<Answered<O>> {
    if (request.idempotencyKey !== undefined || this.#options.creates?.(operation) !== true)
      return this.#ask(operation, request);
    const { path, body } = request as Loose;
    return this.#repeats.run(JSON.stringify([operation, path, body]), async (idempotencyKey) =>
      this.#ask(operation, { ...request, idempotencyKey }),
    );
  }

  async #ask<O extends Operation>(operation: O, request: Request<O>): Promise<Answered<O>> {
    const { path, query, body, ifMatch, idempotencyKey, signal, keepalive } = request as Loose;
    const [method = 'GET', template = '/'] = operation.split(' ');
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (ifMatch !== undefined && ifMatch !== null) headers['if-match'] = ifMatch;
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    const response = await this.send(`${fill(template, path)}${search(query)}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      ...(keepalive === undefined ? {} : { keepalive }),
    });
    const type = response.headers.get('content-type') ?? '';
    const data = type.startsWith('application/json') ? await response.json() : null;
    return { data: data as Answer<O>, etag: response.headers.get('etag'), status: response.status };
  }

  /** For what is not JSON: files, the feed. A path of ours, and what `fetch` takes. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const authorization = await this.#options.authorization();
    const response = await this.#fetch(path, init, authorization);
    if (response.ok) return response;
    if (response.status === 401 && (await this.#options.renew?.(authorization)) === true) {
      const again = await this.#fetch(path, init, await this.#options.authorization());
      if (again.ok) return again;
      throw await problemOf(again);
    }
    throw await problemOf(response);
  }

  /** A file, with word of how far it has come (from 0 to 1). */
  async upload(path: string, form: FormData, onProgress: (share: number) => void): Promise<unknown> {
    const url = `${this.#options.base}${path}`;
    const authorization = await this.#options.authorization();
    try {
      return await upload({ url, form, authorization, onProgress });
    } catch (error) {
      const isOver = error instanceof ProblemError && error.status === 401;
      if (!isOver || (await this.#options.renew?.(authorization)) !== true) throw error;
      return upload({ url, form, authorization: await this.#options.authorization(), onProgress });
    }
  }

  async #fetch(path: string, init: RequestInit, authorization: string): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string> | undefined), authorization };
    try {
      // No cookie goes along unless asked for: what a request may is said by its header alone.
      return await fetch(`${this.#options.base}${path}`, { credentials: 'omit', cache: 'no-store', ...init, headers });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new Unreachable(error);
    }
  }
}

type Plain = string | number | boolean;
type Query = Readonly<Record<string, Plain | readonly Plain[] | null | undefined>>;

interface Loose {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: unknown;
  readonly ifMatch?: string | null;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly keepalive?: boolean;
}

function fill(template: string, values: Readonly<Record<string, string>> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

/** Lists as `a[]=1&a[]=2`; what is not set is left out. */
function search(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    if (typeof value === 'object') for (const each of value) parameters.append(`${name}[]`, String(each));
    else parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
