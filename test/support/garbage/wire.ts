import type { PackedRequest } from './draft.ts';

/** Bytes for a socket of their own. */
export interface WireMessage {
  readonly name: string;
  readonly bytes: Buffer;
  /**
   * The message has no end, so the sender closes its side of the socket for the server not to wait. Node closes the other side, too, and
   * with it an answer that is not there yet. It also closes the socket of a CONNECT.
   */
  readonly isCut: boolean;
}

/** The request as text, with these lines instead of its headers about the body. */
interface Lines {
  readonly start?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly lineEnd?: string;
  /** `null` leaves the header out. */
  readonly host?: string | null;
  /** Keeps the header `connection: close` away, so that what follows on the socket is read. */
  readonly staysOpen?: boolean;
  readonly isCut?: true;
}

/** What HTTP clients refuse to send. */
export function wireMessages(request: PackedRequest): WireMessage[] {
  const { method, target, headers, body } = request;
  const content = (body ?? Buffer.alloc(0)).toString('latin1');
  const length = content.length;
  const kept = headers
    .filter(([name]) => !['content-length', 'connection', 'host', 'transfer-encoding'].includes(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value.replaceAll(/[\r\n\0]/g, ' ')}`);
  const withLines = (name: string, changed: Lines): WireMessage => {
    const { start = `${method} ${target} HTTP/1.1`, host = 'localhost', lineEnd = '\r\n' } = changed;
    const { headers: own = [`content-length: ${length}`], body: sent = content } = changed;
    const about = [
      ...(host === null ? [] : [`host: ${host}`]),
      ...(changed.staysOpen === true ? [] : ['connection: close']),
    ];
    const head = [start, ...about, ...kept, ...own, '', ''].join(lineEnd);
    return { name, bytes: Buffer.from(head + sent, 'latin1'), isCut: changed.isCut === true };
  };
  const cut = (name: string, text: string): WireMessage => ({ name, bytes: Buffer.from(text, 'latin1'), isCut: true });
  const chunk = `${length.toString(16)}\r\n${content}\r\n`;
  const next = `GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
  const chunked = 'transfer-encoding: chunked';
  const line = `${method} ${target}`;
  return [
    withLines('a Content-Length that is too long', { headers: [`content-length: ${length + 10}`], isCut: true }),
    withLines('a Content-Length that is too short', { headers: [`content-length: ${Math.max(0, length - 1)}`] }),
    withLines('a Content-Length of 0 with a body', { headers: ['content-length: 0'], body: `${content}{}` }),
    withLines('a negative Content-Length', { headers: ['content-length: -1'] }),
    withLines('a Content-Length that is no number', { headers: ['content-length: x'] }),
    withLines('a Content-Length with a sign', { headers: [`content-length: +${length}`] }),
    withLines('a Content-Length in hexadecimal', { headers: [`content-length: 0x${length.toString(16)}`] }),
    withLines('a Content-Length of 30 digits', { headers: [`content-length: ${'9'.repeat(30)}`] }),
    withLines('a Content-Length of 1 TB', { headers: ['content-length: 1099511627776'], isCut: true }),
    withLines('an empty Content-Length', { headers: ['content-length:'] }),
    withLines('two equal lengths', { headers: [`content-length: ${length}`, `content-length: ${length}`] }),
    withLines('two different lengths', { headers: [`content-length: ${length}`, 'content-length: 3'] }),
    withLines('no length', { headers: [] }),
    withLines('chunks', { headers: [chunked], body: `${chunk}0\r\n\r\n` }),
    withLines('a chunk per byte', { headers: [chunked], body: `${content.slice(0, 2_000).replaceAll(/[^]/g, (byte) => `1\r\n${byte}\r\n`)}0\r\n\r\n` }), // prettier-ignore
    withLines('chunks without an end', { headers: [chunked], body: chunk, isCut: true }),
    withLines('chunks with trailers', { headers: [chunked, 'trailer: x'], body: `${chunk}0\r\nx: y\r\n\r\n` }),
    withLines('chunks with a trailer that matters', { headers: [chunked], body: `${chunk}0\r\nauthorization: none\r\ncontent-length: 5\r\n\r\n` }), // prettier-ignore
    withLines('chunks with extensions', {
      headers: [chunked],
      body: `${chunk.replace('\r\n', ';a=b;c="d"\r\n')}0\r\n\r\n`,
    }),
    withLines('a chunk with an invalid size', { headers: [chunked], body: `x\r\n${content}\r\n0\r\n\r\n` }),
    withLines('a chunk with a huge size', {
      headers: [chunked],
      body: `fffffffffffffffff\r\n${content}\r\n0\r\n\r\n`,
      isCut: true,
    }),
    withLines('a chunk with a negative size', { headers: [chunked], body: `-1\r\n${content}\r\n0\r\n\r\n` }),
    withLines('a length and chunks', { headers: [`content-length: ${length}`, chunked], body: `${chunk}0\r\n\r\n` }),
    withLines('a short length and chunks', {
      headers: ['content-length: 4', chunked],
      body: `${chunk}0\r\n\r\n${next}`,
    }),
    withLines('chunks twice', { headers: [chunked, chunked], body: `${chunk}0\r\n\r\n` }),
    withLines('another transfer encoding', { headers: ['transfer-encoding: gzip'] }),
    withLines('a transfer encoding before chunks', { headers: ['transfer-encoding: gzip, chunked'], body: `${chunk}0\r\n\r\n` }), // prettier-ignore
    withLines('a transfer encoding after chunks', { headers: ['transfer-encoding: chunked, identity'], body: `${chunk}0\r\n\r\n` }), // prettier-ignore
    withLines('a misspelt transfer encoding', { headers: ['transfer-encoding: xchunked'], body: `${chunk}0\r\n\r\n` }),
    withLines('a space before the colon', { headers: [`transfer-encoding : chunked`], body: `${chunk}0\r\n\r\n` }),
    withLines('a folded header', { headers: [`content-length: ${length}`, 'x-folded: a', ' b'] }),
    withLines('a header without a colon', { headers: ['nonsense', `content-length: ${length}`] }),
    withLines('a header without a name', { headers: [': x', `content-length: ${length}`] }),
    withLines('a header with NUL', { headers: ['x: a\0b', `content-length: ${length}`] }),
    withLines('a header with a carriage return', { headers: ['x: a\rb', `content-length: ${length}`] }),
    withLines('a header that is not ASCII', { headers: ['x: \xff\xfe', `content-length: ${length}`] }),
    withLines('a name that is not ASCII', { headers: ['\xff: x', `content-length: ${length}`] }),
    withLines('a header of 20 KB', { headers: [`x: ${'y'.repeat(20_000)}`] }),
    withLines('a header of 1 MB', { headers: [`x: ${'y'.repeat(2 ** 20)}`] }),
    withLines('two tokens', { headers: ['authorization: Bearer x', `content-length: ${length}`] }),
    withLines('two hosts', { headers: ['host: other', `content-length: ${length}`] }),
    withLines('two content types', { headers: ['content-type: text/plain', `content-length: ${length}`] }),
    withLines('two idempotency keys', {
      headers: ['idempotency-key: a', 'idempotency-key: b', `content-length: ${length}`],
    }),
    withLines('two versions', { headers: ['if-match: "1"', 'if-match: "2"', `content-length: ${length}`] }),
    withLines('a name that is __proto__', { headers: ['__proto__: x', 'constructor: y', `content-length: ${length}`] }),
    withLines('an expectation', { headers: ['expect: 100-continue', `content-length: ${length}`] }),
    withLines('an unknown expectation', { headers: ['expect: nonsense', `content-length: ${length}`] }),
    withLines('an upgrade to HTTP/2', { headers: ['upgrade: h2c', 'http2-settings: AAMAAABkAARAAAAAAAIAAAAA', `content-length: ${length}`] }), // prettier-ignore
    withLines('an upgrade to a WebSocket', { headers: ['upgrade: websocket', 'sec-websocket-version: 13', `content-length: ${length}`] }), // prettier-ignore
    withLines('line feeds only', { lineEnd: '\n' }),
    withLines('a request behind it', { staysOpen: true, body: `${content}${next}` }),
    withLines('bytes behind it', { staysOpen: true, body: `${content}\0\0\0\0nonsense\r\n\r\n` }),
    withLines('HTTP/1.0', { start: `${line} HTTP/1.0` }),
    withLines('HTTP/0.9', { start: line }),
    withLines('HTTP/2.0', { start: `${line} HTTP/2.0` }),
    withLines('HTTP/1.9', { start: `${line} HTTP/1.9` }),
    withLines('an unknown protocol', { start: `${line} SIP/2.0` }),
    withLines('an unknown method', { start: `NONSENSE ${target} HTTP/1.1` }),
    withLines('a method in small letters', { start: `${method.toLowerCase()} ${target} HTTP/1.1` }),
    withLines('an empty method', { start: ` ${target} HTTP/1.1` }),
    withLines('CONNECT', { start: 'CONNECT localhost:80 HTTP/1.1', isCut: true }),
    withLines('an asterisk', { start: `OPTIONS * HTTP/1.1` }),
    withLines('an asterisk with its method', { start: `${method} * HTTP/1.1` }),
    withLines('a target without a slash', { start: `${method} nonsense HTTP/1.1` }),
    withLines('an empty target', { start: `${method}  HTTP/1.1` }),
    withLines('an absolute target', { start: `${method} http://other.example${target} HTTP/1.1` }),
    withLines('an absolute target that is invalid', { start: `${method} http://[::1${target} HTTP/1.1` }),
    withLines('a target with a space', { start: `${method} ${target} x HTTP/1.1` }),
    withLines('a target that is not ASCII', { start: `${method} ${target}\xff\xfe HTTP/1.1` }),
    withLines('a target with NUL', { start: `${method} ${target}\0 HTTP/1.1` }),
    withLines('a target of 20 KB', { start: `${method} ${target}?${'a'.repeat(20_000)} HTTP/1.1` }),
    withLines('no host', { host: null }),
    withLines('no host in HTTP/1.0', { host: null, start: `${line} HTTP/1.0` }),
    withLines('an empty host', { host: '' }),
    withLines('an invalid host', { host: 'a b<>"' }),
    withLines('a host that is not ASCII', { host: '\xff\xfe' }),
    withLines('a host with an invalid port', { host: 'localhost:99999999' }),
    withLines('half of an address as host', { host: '[::1' }),
    cut('an empty line first', `\r\n\r\n${line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
    cut('half of a head', `${line} HTTP/1.1\r\nhost: loc`),
    cut('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'),
    cut('a TLS hello', '\x16\x03\x01\0\xa5\x01\0\0\xa1\x03\x03'),
    cut('one byte', '\0'),
    cut('nothing', ''),
  ];
}
