import { PagedCall, type Answer } from './call.ts';
import { newId } from './new-id.ts';
import { rawOperations } from './operations.ts';
import { jsonRequest, placed, readJson, type Value } from './request.ts';
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
  const { path, search } = placed(template, values as Readonly<Record<string, Value>>);
  const isRaw = rawOperations.has(operation);
  const ask = async (query: string, content: unknown): Promise<Answer<unknown>> => {
    const { idempotencyKey = method === 'POST' ? newId() : undefined, ...others } = options;
    const request = { ...others, method, path: `${path}${query}`, body: content, idempotencyKey, isStream: isRaw };
    return transport.send(jsonRequest(request), async (response) => {
      const { status, headers } = response;
      const data = isRaw ? response : await readJson(response);
      return { data, etag: headers.get('etag'), status, headers };
    });
  };
  return new PagedCall(ask(search, body), (first) => pagesOf(first, body, ask));
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
