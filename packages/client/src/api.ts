import type { Operations } from '@usher/sdk/api-types';
import { problemOf, ProblemError, Unreachable } from './problem.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { upload } from './upload.ts';

export type Operation = keyof Operations;
export type Answer<O extends Operation> = Operations[O]['answer'];

/** A field of the request: absent, optional or required, as the operation defines it. */
type Field<Key extends string, Value> = [Value] extends [undefined]
  ? { readonly [K in Key]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

export type Request<O extends Operation> = Field<'path', Operations[O]['path']> &
  Field<'query', Operations[O]['query']> &
  Field<'body', Operations[O]['body']> & {
    /** The ETag of the version to change. If somebody else changed it meanwhile, the request is refused (412). */
    readonly ifMatch?: string | null;
    /** With the same key, the same request can be repeated safely. */
    readonly idempotencyKey?: string;
    readonly signal?: AbortSignal;
    /** The browser completes the request even if the page is closed. */
    readonly keepalive?: boolean;
  };

export interface Answered<O extends Operation> {
  readonly data: Answer<O>;
  readonly etag: string | null;
  readonly status: number;
}

interface ApiOptions {
  /** Prefix of every path; empty for the origin of the page. */
  readonly base: string;
  /** The value of the Authorization header. May wait, for example for a sign-in. */
  readonly authorization: () => Promise<string>;
  /** Called when the header was refused. `true`: a new header is available, so the request is repeated. */
  readonly renew?: (refused: string) => Promise<boolean>;
  /** Whether an operation creates a resource and therefore needs an Idempotency-Key. Default: no operation. */
  readonly creates?: (operation: Operation) => boolean;
}

/** A typed client of Usher's API. Refusals are thrown as `ProblemError`, an unreachable server as `Unreachable`. */
export class Api {
  readonly #options: ApiOptions;
  readonly #keys = new IdempotencyKeys();

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  async call<O extends Operation>(operation: O, request: Request<O>): Promise<Answer<O>> {
    return (await this.ask(operation, request)).data;
  }

  async ask<O extends Operation>(operation: O, request: Request<O>): Promise<Answered<O>> {
    if (request.idempotencyKey !== undefined || this.#options.creates?.(operation) !== true)
      return this.#ask(operation, request);
    const { path, body } = request as AnyRequest;
    return this.#keys.run(JSON.stringify([operation, path, body]), async (idempotencyKey) =>
      this.#ask(operation, { ...request, idempotencyKey }),
    );
  }

  async #ask<O extends Operation>(operation: O, request: Request<O>): Promise<Answered<O>> {
    const { path, query, body, ifMatch, idempotencyKey, signal, keepalive } = request as AnyRequest;
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

  /** Sends a request whose body or answer is not JSON, such as a file or the feed. Takes the options of `fetch`. */
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

  /** Uploads a file and reports the progress from 0 to 1. */
  async upload(path: string, form: FormData, onProgress: (share: number) => void): Promise<unknown> {
    const url = `${this.#options.base}${path}`;
    const authorization = await this.#options.authorization();
    try {
      return await upload({ url, form, authorization, onProgress });
    } catch (error) {
      const isUnauthorized = error instanceof ProblemError && error.status === 401;
      if (!isUnauthorized || (await this.#options.renew?.(authorization)) !== true) throw error;
      return upload({ url, form, authorization: await this.#options.authorization(), onProgress });
    }
  }

  async #fetch(path: string, init: RequestInit, authorization: string): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string> | undefined), authorization };
    try {
      // Cookies are omitted by default, because the Authorization header alone authorises a request.
      return await fetch(`${this.#options.base}${path}`, { credentials: 'omit', cache: 'no-store', ...init, headers });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new Unreachable(error);
    }
  }
}

type Scalar = string | number | boolean;
type Query = Readonly<Record<string, Scalar | readonly Scalar[] | null | undefined>>;

interface AnyRequest {
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

/** Writes lists as `a[]=1&a[]=2` and leaves out unset values. */
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
