/** An answer of a receiver, byte by byte, in Latin-1. */
export interface RawAnswer {
  readonly name: string;
  readonly bytes: string;
  /** What the receiver does after its answer; by default the connection stays open. */
  readonly closing?: 'end' | 'reset';
  readonly method?: 'DELETE';
}

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

/** Complete answers, after which the connection may or may not be used again. */
const complete: readonly RawAnswer[] = [
  { name: 'a usual one', bytes: `${ok}content-type: text/plain\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'an empty body', bytes: `${ok}content-length: 0\r\n\r\n` },
  { name: 'no reason phrase', bytes: 'HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok' },
  { name: 'no space after the status', bytes: 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok' },
  { name: 'a reason phrase beyond ASCII', bytes: 'HTTP/1.1 200 Sch\xf6n\r\ncontent-length: 0\r\n\r\n' },
  { name: 'names in capitals', bytes: `${ok}CONTENT-LENGTH: 2\r\nX-A: b\r\n\r\nok` },
  { name: 'values with much space around them', bytes: `${ok}content-length: \t 2\r\nx:\t a \t\r\n\r\nok` },
  { name: 'an empty value', bytes: `${ok}x:\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'a value beyond ASCII', bytes: `${ok}x: \xe4\xff\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'line breaks before it', bytes: `\r\n\r\n${ok}content-length: 2\r\n\r\nok` },
  { name: 'line breaks after it', bytes: `${ok}content-length: 2\r\n\r\nok\r\n` },
  { name: 'a body beyond ASCII', bytes: `${ok}content-length: 4\r\n\r\n\xc3\xb5\xff\x00` },
  { name: 'a body of 5,000 bytes', bytes: `${ok}content-length: 5000\r\n\r\n${'x'.repeat(5_000)}` },
  { name: 'a body of 65,536 bytes', bytes: `${ok}content-length: 65536\r\n\r\n${'x'.repeat(65_536)}` },
  { name: 'a body of 65,537 bytes', bytes: `${ok}content-length: 65537\r\n\r\n${'x'.repeat(65_537)}` },
  { name: 'a status of 500', bytes: 'HTTP/1.1 500 Oh\r\ncontent-length: 2\r\n\r\nno' },
  { name: 'a status of 410', bytes: 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n' },
  { name: 'a status of 302', bytes: 'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n' },
  { name: 'a status of 799', bytes: 'HTTP/1.1 799 Other\r\ncontent-length: 0\r\n\r\n' },
  { name: 'Retry-After', bytes: 'HTTP/1.1 503 Busy\r\nRetry-After: 7\r\ncontent-length: 0\r\n\r\n' },
  {
    name: 'Retry-After twice',
    bytes: 'HTTP/1.1 503 Busy\r\nretry-after: 7\r\nretry-after: 9\r\ncontent-length: 0\r\n\r\n',
  },
  { name: 'DELETE', bytes: `${ok}content-length: 2\r\n\r\nok`, method: 'DELETE' },
];

const connections: readonly RawAnswer[] = [
  { name: 'Connection: close', bytes: `${ok}connection: close\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'Connection: close, but it stays open', bytes: `${ok}connection: CLOSE\r\ncontent-length: 0\r\n\r\n` },
  { name: 'Connection: keep-alive', bytes: `${ok}connection: keep-alive\r\ncontent-length: 0\r\n\r\n` },
  { name: 'a list with close', bytes: `${ok}connection: x, close\r\ncontent-length: 0\r\n\r\n` },
  { name: 'Proxy-Connection: close', bytes: `${ok}proxy-connection: close\r\ncontent-length: 0\r\n\r\n` },
  { name: 'Keep-Alive of 5 s', bytes: `${ok}keep-alive: timeout=5\r\ncontent-length: 0\r\n\r\n` },
  { name: 'Keep-Alive of 2 s', bytes: `${ok}keep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n` },
  { name: 'Keep-Alive without a time', bytes: `${ok}keep-alive: max=9\r\ncontent-length: 0\r\n\r\n` },
  { name: 'HTTP/1.0', bytes: 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok' },
  {
    name: 'HTTP/1.0 and keep-alive',
    bytes: 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok',
  },
  { name: 'HTTP/2.0', bytes: 'HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nok' },
  { name: 'a body that ends with the connection', bytes: `${ok}\r\nall of it`, closing: 'end' },
  { name: 'a body that ends with a reset', bytes: `${ok}\r\nall of it`, closing: 'reset' },
  { name: 'an empty body that ends with the connection', bytes: `${ok}\r\n`, closing: 'end' },
  { name: 'closing after the answer', bytes: `${ok}content-length: 2\r\n\r\nok`, closing: 'end' },
  { name: 'a second answer at once', bytes: `${ok}content-length: 2\r\n\r\nok${ok}content-length: 3\r\n\r\nbad` },
  { name: 'garbage after the answer', bytes: `${ok}content-length: 2\r\n\r\nokay` },
];

const bodiless: readonly RawAnswer[] = [
  { name: '204', bytes: 'HTTP/1.1 204 No\r\n\r\n' },
  { name: '204 with a length of 0', bytes: 'HTTP/1.1 204 No\r\ncontent-length: 0\r\n\r\n' },
  { name: '204 with a length', bytes: 'HTTP/1.1 204 No\r\ncontent-length: 2\r\n\r\n' },
  { name: '204 with a body', bytes: 'HTTP/1.1 204 No\r\ncontent-length: 2\r\n\r\nok' },
  { name: '204 with chunks', bytes: 'HTTP/1.1 204 No\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n' },
  { name: '304', bytes: 'HTTP/1.1 304 Same\r\n\r\n' },
  { name: '304 with a length', bytes: 'HTTP/1.1 304 Same\r\ncontent-length: 20\r\n\r\n' },
];

const informational: readonly RawAnswer[] = [
  { name: '100 before it', bytes: `HTTP/1.1 100 Continue\r\n\r\n${ok}content-length: 2\r\n\r\nok` },
  { name: '102 before it', bytes: `HTTP/1.1 102 Wait\r\nx: y\r\n\r\n${ok}content-length: 2\r\n\r\nok` },
  {
    name: '103 twice before it',
    bytes: `${'HTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\n'.repeat(2)}${ok}content-length: 2\r\n\r\nok`,
  },
  {
    name: '103 with Retry-After before it',
    bytes: `HTTP/1.1 103 Hints\r\nretry-after: 9\r\n\r\nHTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n`,
  },
  {
    name: '103 with Connection: close before it',
    bytes: `HTTP/1.1 103 Hints\r\nconnection: close\r\n\r\n${ok}content-length: 2\r\n\r\nok`,
  },
  { name: '101 that switches', bytes: 'HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n' },
  { name: '103 and nothing else', bytes: 'HTTP/1.1 103 Hints\r\n\r\n', closing: 'end' },
];

const chunks: readonly RawAnswer[] = [
  { name: 'one chunk', bytes: `${chunked}2\r\nok\r\n0\r\n\r\n` },
  { name: 'several chunks', bytes: `${chunked}2\r\nok\r\nA\r\n, and more\r\n00\r\n\r\n` },
  { name: 'chunk extensions', bytes: `${chunked}2;a;b=c;d="e f"\r\nok\r\n0;z\r\n\r\n` },
  { name: 'trailers', bytes: `${chunked}2\r\nok\r\n0\r\nx-sum: 1\r\ny: 2\r\n\r\n` },
  { name: 'an invalid trailer', bytes: `${chunked}2\r\nok\r\n0\r\nx sum\r\n\r\n` },
  { name: 'a length in the trailers', bytes: `${chunked}2\r\nok\r\n0\r\ncontent-length: 2\r\n\r\n` },
  { name: 'a chunk of more than 64 KiB', bytes: `${chunked}10001\r\n${'x'.repeat(65_537)}\r\n0\r\n\r\n` },
  { name: 'an invalid size', bytes: `${chunked}2x\r\nok\r\n0\r\n\r\n` },
  { name: 'a size with a sign', bytes: `${chunked}-2\r\nok\r\n0\r\n\r\n` },
  { name: 'an empty size', bytes: `${chunked}\r\nok\r\n0\r\n\r\n` },
  { name: 'a size beyond 64 bits', bytes: `${chunked}ffffffffffffffffff\r\nok`, closing: 'end' },
  { name: 'more data than the size', bytes: `${chunked}2\r\nokay\r\n0\r\n\r\n` },
  { name: 'LF alone after a chunk', bytes: `${chunked}2\r\nok\n0\r\n\r\n` },
  { name: 'LF alone after a size', bytes: `${chunked}2\nok\r\n0\r\n\r\n` },
  { name: 'chunks cut off', bytes: `${chunked}5\r\nok`, closing: 'end' },
  { name: 'chunks without the last one', bytes: `${chunked}2\r\nok\r\n`, closing: 'end' },
  { name: 'chunks in capitals', bytes: `${ok}Transfer-Encoding: CHUNKED\r\n\r\n2\r\nok\r\n0\r\n\r\n` },
  { name: 'gzip and chunks', bytes: `${ok}transfer-encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n` },
  { name: 'gzip without chunks', bytes: `${ok}transfer-encoding: gzip\r\n\r\nok`, closing: 'end' },
  { name: 'chunks of HTTP/1.0', bytes: 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n' },
];

const broken: readonly RawAnswer[] = [
  { name: 'no answer', bytes: '', closing: 'end' },
  { name: 'no answer and a reset', bytes: '', closing: 'reset' },
  { name: 'another protocol', bytes: '220 mail.example ESMTP\r\n' },
  { name: 'another protocol without a line break', bytes: 'SSH-2.0' },
  { name: 'a header with a space, without a line break', bytes: `${ok}not a header` },
  { name: 'HTTP/3.0', bytes: 'HTTP/3.0 200 OK\r\ncontent-length: 0\r\n\r\n' },
  { name: 'a status of two digits', bytes: 'HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n' },
  { name: 'a status of four digits', bytes: 'HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n' },
  { name: 'two spaces before the status', bytes: 'HTTP/1.1  200 OK\r\ncontent-length: 0\r\n\r\n' },
  { name: 'half a status line', bytes: 'HTTP/1.1 20', closing: 'end' },
  { name: 'half a head', bytes: `${ok}content-le`, closing: 'end' },
  { name: 'half a body', bytes: `${ok}content-length: 5\r\n\r\nok`, closing: 'end' },
  { name: 'half a body and a reset', bytes: `${ok}content-length: 5\r\n\r\nok`, closing: 'reset' },
  { name: 'half a body of a 500', bytes: 'HTTP/1.1 500 No\r\ncontent-length: 5\r\n\r\nok', closing: 'end' },
  { name: 'LF without CR', bytes: 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok' },
  { name: 'LF without CR after a header', bytes: `${ok}content-length: 2\n\r\nok` },
  { name: 'CR without LF', bytes: `${ok}x: a\rb\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'a folded header', bytes: `${ok}x: a\r\n b\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'a space before the first header', bytes: `${ok} x: a\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'a space before the colon', bytes: `${ok}x : a\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'no colon', bytes: `${ok}x\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'no name', bytes: `${ok}: a\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'NUL in a value', bytes: `${ok}x: a\0b\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'two different lengths', bytes: `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nok` },
  { name: 'the same length twice', bytes: `${ok}content-length: 2\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'a list of lengths', bytes: `${ok}content-length: 2, 2\r\n\r\nok` },
  { name: 'a length with a sign', bytes: `${ok}content-length: +2\r\n\r\nok` },
  { name: 'an empty length', bytes: `${ok}content-length:\r\n\r\nok` },
  { name: 'a hexadecimal length', bytes: `${ok}content-length: 0x2\r\n\r\nok` },
  { name: 'a length beyond 64 bits', bytes: `${ok}content-length: 99999999999999999999\r\n\r\nok` },
  {
    name: 'a length and chunks',
    bytes: `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  },
  {
    name: 'chunks and a length',
    bytes: `${ok}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  },
  { name: 'a head of 15,000 bytes', bytes: `${ok}x: ${'y'.repeat(15_000)}\r\ncontent-length: 2\r\n\r\nok` },
  { name: 'a head of 17,000 bytes', bytes: `${ok}x: ${'y'.repeat(17_000)}\r\ncontent-length: 2\r\n\r\nok` },
  {
    name: 'a head of many headers',
    bytes: `${ok}${'x-y: 12345678901234567890\r\n'.repeat(900)}content-length: 2\r\n\r\nok`,
  },
];

/** Receivers that stop in the middle of an answer without closing the connection. */
export const unfinished: readonly RawAnswer[] = [
  { name: 'nothing at all', bytes: '' },
  { name: 'half a status line', bytes: 'HTTP/1.1 20' },
  { name: 'a head without its end', bytes: `${ok}content-length: 2\r\n` },
  { name: 'half a body', bytes: `${ok}content-length: 5\r\n\r\nok` },
  { name: 'half a body of a 500', bytes: 'HTTP/1.1 500 No\r\ncontent-length: 5\r\n\r\nok' },
  { name: 'a body without an end', bytes: `${ok}\r\nok` },
  { name: 'half a chunk', bytes: `${chunked}5\r\nok` },
  { name: '103 alone', bytes: 'HTTP/1.1 103 Hints\r\n\r\n' },
];

export const finished: readonly RawAnswer[] = [
  ...complete,
  ...connections,
  ...bodiless,
  ...informational,
  ...chunks,
  ...broken,
];
