import { PagedCall, type Answer } from './call.ts';
import { unknownError } from './errors.ts';
import { newId } from './new-id.ts';
import { rawOperations } from './operations.ts';
import type { Transport } from './transport.ts';

/** Options of every call. */
export interface CallOptions {
  /** The ETag of the version to change. If somebody else has changed it meanwhile, the request is refused (412). */
  readonly ifMatch?: string;
  /** Default: a new key for each POST. With the same key, the same request has one effect, within a day. */
  readonly idempotencyKey?: string;
  /** Ends the call at once, also while it waits for a retry. */
  readonly signal?: AbortSignal;
  /** The browser completes the request even if the page is closed. */
  readonly keepalive?: boolean;
  /** How long one attempt may take. */
  readonly timeoutMs?: number;
  /** 0: the request is sent once. */
  readonly maxRetries?: number;
}

type Scalar = string | number | boolean | null | undefined;
type Value = Scalar | readonly Scalar[];
/** The body, if there is one, and the parameters of the path and the query by their names in camelCase. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Starts an operation, such as `GET /queues/{queue_id}`. Arguments without a place in the path are the query. */
export function startCall(
  transport: Transport,
  operation: string,
  args: Arguments = {},
  options: CallOptions = {},
): PagedCall<unknown, unknown> {
  const [method = 'GET', template = '/'] = operation.split(' ');
  const { body, ...values } = args;
  const { path, query } = placed(template, values as Readonly<Record<string, Value>>);
  const ask = async (search: string, content: unknown): Promise<Answer<unknown>> =>
    send(transport, { operation, method, path: `${path}${search}`, body: content, options });
  return new PagedCall(ask(searchOf(query), body), (first) => pagesOf(first, body, ask));
}

interface OperationRequest {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly options: CallOptions;
}

async function send(transport: Transport, request: OperationRequest): Promise<Answer<unknown>> {
  const { operation, method, path, body, options } = request;
  const { ifMatch, idempotencyKey = method === 'POST' ? newId() : undefined, ...others } = options;
  const isRaw = rawOperations.has(operation);
  const content = body === undefined ? undefined : JSON.stringify(body);
  return transport.send(
    {
      ...others,
      method,
      path,
      headers: {
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(content === undefined ? {} : { body: () => content }),
      isStream: isRaw,
    },
    async (response) => {
      const { status, headers } = response;
      const data = isRaw ? response : await readJson(response);
      return { data, etag: headers.get('etag'), status, headers };
    },
  );
}

/** The JSON of an answer; `null` if it has no body. */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return null;
  const type = response.headers.get('content-type') ?? 'no content type';
  if (!/^application\/json\b/.test(type))
    throw unknownError(response, `The answer is ${type} instead of JSON. Check that the URL is that of Usher.`);
  return JSON.parse(text) as unknown;
}

/** Follows `next_page`, the URL of the next page, or `next_page_token`, a field of the next body. */
async function* pagesOf(
  first: Promise<unknown>,
  body: unknown,
  ask: (search: string, body: unknown) => Promise<Answer<unknown>>,
): AsyncGenerator {
  let page = await first;
  for (;;) {
    yield page;
    const { next_page: url, next_page_token: token } = page as { next_page?: string; next_page_token?: string };
    // Only the query is used: behind a proxy the server may not know its own address.
    if (typeof url === 'string') page = (await ask(new URL(url, 'http://usher').search, body)).data;
    else if (typeof token === 'string') page = (await ask('', { ...(body as object), page_token: token })).data;
    else return;
  }
}

/** Puts each argument into its place: `queueId` replaces `{queue_id}`, the others become the query. */
function placed(
  template: string,
  values: Readonly<Record<string, Value>>,
): { path: string; query: ReadonlyMap<string, Value> } {
  const query = new Map(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = query.get(name);
    query.delete(name);
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${camelCase(name)} is missing: it is part of the path ${template}.`);
    return encodeURIComponent(value);
  });
  return { path, query };
}

/** Writes lists as `a[]=1&a[]=2` and leaves out unset values. */
function searchOf(query: ReadonlyMap<string, Value>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of query) {
    if (Array.isArray(value)) for (const each of value) parameters.append(`${name}[]`, String(each));
    else if (value !== undefined && value !== null) parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
