import { gunzipSync, inflateSync } from 'node:zlib';
import { Agent, request, type Dispatcher } from 'undici';

interface ClientRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
}

interface ClientResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Empty if it is an event stream, which does not end. */
  readonly text: string;
}

const agent = new Agent();
/** What `fetch` of Node sends with every request. */
const ownHeaders = {
  accept: '*/*',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
  'accept-encoding': 'gzip, deflate',
};

/**
 * Sends a request as `fetch` does, for less than half of its processor time: tests send many thousand requests. Forms, and requests over
 * TLS, are few, and are sent by `fetch` itself.
 */
export async function send(url: string, { method, headers, body }: ClientRequest): Promise<ClientResponse> {
  if (body instanceof FormData || url.startsWith('https:')) return sendByFetch(url, { method, headers, body });
  const options = {
    dispatcher: agent,
    method,
    headers: { ...ownHeaders, ...headers },
    body: body ?? null,
  };
  const response = await request(new URL(url), options).catch(asFetchError('fetch failed'));
  const found = headersOf(response.headers);
  if (isEventStream(found)) {
    response.body.on('error', () => undefined).destroy();
    return { status: response.statusCode, headers: found, text: '' };
  }
  const text = await readText(response.body, found.get('content-encoding')).catch(asFetchError('terminated'));
  return { status: response.statusCode, headers: found, text };
}

async function sendByFetch(url: string, { method, headers, body }: ClientRequest): Promise<ClientResponse> {
  const content = body === undefined ? {} : { body };
  const response = await fetch(url, { method, redirect: 'manual', headers, ...content });
  const isFeed = isEventStream(response.headers);
  if (isFeed) await response.body?.cancel();
  return { status: response.status, headers: response.headers, text: isFeed ? '' : await response.text() };
}

function isEventStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

async function readText(body: Dispatcher.ResponseData['body'], encoding: string | null): Promise<string> {
  if (encoding !== 'gzip' && encoding !== 'deflate') return body.text();
  const packed = await body.bytes();
  return (encoding === 'gzip' ? gunzipSync : inflateSync)(packed).toString('utf8');
}

function headersOf(received: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received))
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each);
  return headers;
}

/** Tests know the errors of `fetch`. */
function asFetchError(message: string): (cause: unknown) => never {
  return (cause) => {
    throw new TypeError(message, { cause });
  };
}
