import type { IncomingMessage as Incoming } from 'node:http';
import { Socket } from 'node:net';
import { dataHeaders } from './security-headers.ts';

// See security-headers.ts: an import of node:http would load a second HTTP client.
const { IncomingMessage, ServerResponse } = process.getBuiltinModule('node:http');

/** The headers of a response by lower-case name. The values are texts, or pairs of name and text if `setHeader` was used. */
type Headers = Readonly<Record<string, unknown>>;

interface StoresHead {
  readonly _storeHeader: (firstLine: string, headers?: Headers) => void;
}

const { _storeHeader: storeHead } = ServerResponse.prototype as unknown as StoresHead;

const lines = Object.entries(dataHeaders()).map(([name, value]) => ({ name, line: `${name}: ${value}\r\n` }));
const allLines = lines.map(({ line }) => line).join('');

/**
 * A response that begins with the headers that every response has: the security headers of data, and the id of the request. They
 * follow the status line as prepared text. Otherwise Fastify would copy and Node would validate each of them for each response, a
 * tenth of the cost of a read.
 */
export class Response<Request extends Incoming = Incoming> extends ServerResponse<Request> implements StoresHead {
  /** Consists of characters that a header may have. Empty until the request is known. */
  requestId = '';

  /** Node calls this once for each response, to compose its head. */
  _storeHeader(firstLine: string, headers: Headers = {}): void {
    const id = this.requestId === '' ? '' : `x-request-id: ${this.requestId}\r\n`;
    storeHead.call(this, `${firstLine}${securityLines(headers)}${id}`, headers);
  }
}

/** Without those that the response sets itself, as pages and files do. */
function securityLines(own: Headers): string {
  if (!lines.some(({ name }) => name in own)) return allLines;
  return lines.map(({ name, line }) => (name in own ? '' : line)).join('');
}

/** V8 watches this many objects of a class. One more, to be sure. */
const watchedObjects = 8;
/** As many properties as Node adds to a response after it was constructed. */
const addedLater = { first: null, second: null, third: null, fourth: null };

/**
 * Makes the first requests and responses of the process at once. V8 watches the first seven objects of a class and then gives all
 * later ones as much room as the watched shapes needed. A full garbage collection just before the seventh removes these shapes, so V8
 * finds that no room is needed, and all later requests and responses become hash tables: a read cost a fifth more for as long as the
 * process lived.
 */
export function settleShapes(): void {
  const socket = new Socket();
  Array.from({ length: watchedObjects }, () => Object.assign(new Response(new IncomingMessage(socket)), addedLater));
}

/** `_storeHeader` is not documented. If a version of Node does not call it, Fastify has to set the headers. */
export function callsStoreHeader(): boolean {
  let isCalled = false;
  class Probe extends Response {
    override _storeHeader(): void {
      isCalled = true;
    }
  }
  new Probe(new IncomingMessage(new Socket())).writeHead(200);
  return isCalled && typeof storeHead === 'function';
}
