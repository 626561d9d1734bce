import type { OutgoingEvent, SigningKeys } from '../channel.ts';
import { signedHeaders } from '../signature.ts';
import { traceHeaders } from '../trace-headers.ts';

interface RequestOptions {
  readonly method: string;
  readonly url: URL;
  /** Of the registration. */
  readonly headers: Readonly<Record<string, string>>;
  readonly keys: SigningKeys;
}

/** What is sent to a receiver. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const agent = 'Usher-Webhooks/1';
const header = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that say where a request ends. */
const framing: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'upgrade']);

const traceNames: ReadonlySet<string> = new Set(['traceparent', 'tracestate']);

/** Returns a function that makes the requests of a webhook. What all of them have in common is made once. */
export function requestsFor({ method, url, headers, keys }: RequestOptions): (event: OutgoingEvent) => HttpRequest {
  const constant = headersOf(headers);
  const path = `${url.pathname}${url.search}`;
  // A registration may have headers of these names, which are sent instead. They belong together.
  const hasOwnTrace = Object.keys(headers).some((name) => traceNames.has(name.toLowerCase()));
  return (event) => ({
    method,
    path,
    headers: { ...(hasOwnTrace ? {} : traceHeaders(event)), ...constant, ...signedHeaders(event, keys) },
    body: event.json,
  });
}

/** The headers of every request. A registration may replace User-Agent and Content-Type. */
function headersOf(given: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  // Headers are checked when a webhook is registered. One that slipped through could forge a second request.
  for (const [name, value] of Object.entries(given))
    if (!header.test(`${name}:${value}`) || framing.has(name.toLowerCase()))
      throw new Error(`the stored header ${name} cannot be sent`);
  return {
    ...given,
    ...(names.has('user-agent') ? {} : { 'user-agent': agent }),
    ...(names.has('content-type') ? {} : { 'content-type': 'application/json' }),
  };
}
