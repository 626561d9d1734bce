import type { OutgoingEvent, SigningKeys } from '../channel.ts';
import { signedHeaders } from '../signature.ts';
import { traceHeaders } from '../trace-headers.ts';
import { headerLine } from './answer-parser.ts';
import type { HttpRequest } from './exchange.ts';

interface RequestOptions {
  readonly method: string;
  readonly url: URL;
  /** Of the registration. */
  readonly headers: Readonly<Record<string, string>>;
  readonly keys: SigningKeys;
}

const agent = 'Usher-Webhooks/1';
/** Headers that say where a request ends. */
const framing: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'upgrade']);

const traceNames: ReadonlySet<string> = new Set(['traceparent', 'tracestate']);

/** Returns a function that makes the requests of a webhook. What all of them have in common is made once. */
export function requestsFor({ method, url, headers, keys }: RequestOptions): (event: OutgoingEvent) => HttpRequest {
  const constant = linesOf(headersOf(headers));
  const start = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`;
  // A registration may have headers of these names, which are sent instead. They belong together.
  const hasOwnTrace = Object.keys(headers).some((name) => traceNames.has(name.toLowerCase()));
  const isAscii = Buffer.byteLength(constant) === constant.length;
  const isLast = method === 'DELETE';
  return (event) => {
    const trace = hasOwnTrace ? '' : linesOf(traceHeaders(event));
    const signed = linesOf(signedHeaders(event, keys));
    const length = `content-length: ${Buffer.byteLength(event.json)}\r\n\r\n`;
    return { head: `${start}${trace}${constant}${signed}${length}`, body: event.json, isAscii, isLast };
  };
}

/** The headers of every request. A registration may replace User-Agent and Content-Type. */
function headersOf(given: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  // Headers are checked when a webhook is registered. One that slipped through could forge a second request.
  for (const [name, value] of Object.entries(given))
    if (!headerLine.test(`${name}:${value}`) || framing.has(name.toLowerCase()))
      throw new Error(`the stored header ${name} cannot be sent`);
  return {
    ...given,
    ...(names.has('user-agent') ? {} : { 'user-agent': agent }),
    ...(names.has('content-type') ? {} : { 'content-type': 'application/json' }),
  };
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name of Object.keys(headers)) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}
