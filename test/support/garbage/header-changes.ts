import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { bodyBytes, withHeader, type Change, type Draft } from './draft.ts';

/** Changes of headers that any HTTP client would send. What a client refuses to send is in wire.ts. */
const headerValues: Readonly<Record<string, readonly string[]>> = {
  'content-type': [
    '',
    'json',
    'text/plain',
    'text/json',
    'application/xml',
    'application/jsonp',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=x',
    `multipart/form-data; boundary=${'x'.repeat(300)}`,
    'multipart/mixed; boundary=x',
    'application/octet-stream',
    'APPLICATION/JSON',
    'application/json;',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json; charset=nonsense',
    'application/json, text/plain',
    'application/problem+json',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/json; a="',
    '; charset=utf-8',
    'a/b/c',
    `application/json; ${'a=b; '.repeat(1_000)}`,
    '*/*',
  ],
  'content-encoding': ['', 'identity', 'gzip', 'br', 'deflate', 'gzip, gzip', 'nonsense', 'chunked'],
  'if-match': [
    '',
    '"1"',
    '*',
    'W/"1"',
    '""',
    '"9999999999999999999999"',
    '"-1"',
    '"1.5"',
    'x',
    '"1", "2"',
    '"'.repeat(5_000),
  ],
  'if-none-match': ['*', '"1"', 'W/"x"'],
  'if-modified-since': ['nonsense', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  'idempotency-key': ['', 'x', 'y z', 'k'.repeat(255), 'k'.repeat(256), '\u00e9', '"', '__proto__'],
  prefer: [
    '',
    'handling=lenient',
    'handling=strict',
    'handling="lenient"; a=b',
    'handling',
    '=',
    ',,,',
    'return=minimal',
    'handling=lenient, handling=strict',
    ','.repeat(5_000),
  ],
  'x-request-id': ['', '{"a":1}', 'x'.repeat(500), '../../x', '\u00e9', '__proto__'],
  origin: ['', 'null', 'https://a.example', 'nonsense', '*', 'https://a.example:99999', 'file://', 'https://[::1'],
  referer: ['nonsense'],
  accept: [
    '',
    'text/nonsense',
    '*/*;q=nonsense',
    'text/event-stream',
    'text/html',
    'application/json;q=0',
    ','.repeat(5_000),
  ],
  'accept-encoding': ['', 'br;q=0', '*;q=0', 'gzip;q=nonsense', 'nonsense', ','.repeat(3_000)],
  'accept-language': ['x-nonsense', '*', '1'.repeat(3_000)],
  'user-agent': ['', '\u00e9', 'a'.repeat(5_000)],
  cookie: [
    '',
    'a',
    '=',
    '=;=;=',
    '__proto__=1',
    'a=%',
    `a=${'b'.repeat(8_000)}`,
    'usher_session=x',
    '__Host-usher_session=x',
    'a=1; '.repeat(1_000),
  ],
  range: ['bytes=0-0', 'bytes=-1', 'bytes=5-1', 'bytes=0-0,1-1', 'nonsense=1', 'bytes=99999999999999999999-'],
  'last-event-id': ['', 'x', '1', '-1', '0-0', '99999999999999999999', '\u00e9', 'a'.repeat(5_000)],
  traceparent: [
    '',
    'x',
    '00-0-0-0',
    `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`,
    `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-ff`,
  ],
  tracestate: ['', 'a=b,'.repeat(100), '='],
  'x-http-method-override': ['DELETE', 'nonsense'],
  'x-forwarded-for': [
    'nonsense',
    '::',
    '1.2.3.4, nonsense',
    '1.2.3.4:99999',
    '[::1]:80',
    '1.2.3.4,'.repeat(500),
    '256.256.256.256',
  ],
  'x-forwarded-host': ['', 'a b', 'other.example', '[::1', '<script>', 'a'.repeat(5_000)],
  'x-forwarded-proto': ['', 'ftp', 'https,http', 'javascript'],
  forwarded: ['for=nonsense;;;', 'for="[::1"'],
  'x-twilio-signature': ['', 'nonsense', '='.repeat(100)],
  'sec-fetch-site': ['cross-site', 'nonsense'],
  'mcp-protocol-version': ['', 'nonsense', '1900-01-01'],
  'mcp-session-id': ['nonsense'],
  'content-md5': ['nonsense'],
  'content-language': ['nonsense'],
  'sec-websocket-key': ['nonsense'],
  via: ['1.1 a'.repeat(200)],
};

/** What becomes of the Authorization header, if there is one. */
const tokenChanges: readonly (readonly [string, (value: string) => string])[] = [
  ['is empty', () => ''],
  ['has no scheme', (value) => value.split(' ')[1] ?? ''],
  ['has another scheme', (value) => `Basic ${value}`],
  ['is in capitals', (value) => value.toUpperCase()],
  ['lacks its last character', (value) => value.slice(0, -1)],
  ['has one character changed', (value) => value.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
  ['has two spaces', (value) => value.replace(' ', '  ')],
  ['has a tab', (value) => value.replace(' ', '\t')],
  ['has the scheme Token', (value) => value.replace(/^\w+/, 'Token')],
  ['has the scheme ApplicationToken', (value) => value.replace(/^\w+/, 'ApplicationToken')],
  ['is there twice in one value', (value) => `${value}, ${value}`],
  ['has 10,000 characters', (value) => `${value}${'a'.repeat(10_000)}`],
  ['is not ASCII', (value) => `${value}\u00e9`],
  ['has an unsigned token', (value) => `${value.split('.', 2).join('.')}.`],
  ['has a token of another algorithm', (value) => value.replace(/ [^.]*/, ` ${Buffer.from('{"alg":"none"}').toString('base64url')}`)], // prettier-ignore
  ['has a token without claims', (value) => value.replace(/\.[^.]*\./, '..')],
  ['has other claims', (value) => value.replace(/\.[^.]*\./, `.${Buffer.from('{"sub":"x"}').toString('base64url')}.`)],
];

/** Packs 50 MB into 50 kB. */
let bomb: Buffer | null = null;

const encodings: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['gzip', (bytes) => gzipSync(bytes)],
  ['br', (bytes) => brotliCompressSync(bytes)],
  ['deflate', (bytes) => deflateSync(bytes)],
  ['gzip', () => (bomb ??= gzipSync(Buffer.alloc(50_000_000)))],
  ['gzip', (bytes) => gzipSync(bytes).subarray(0, 20)],
];

export const headerChanges: readonly Change[] = [
  ...Object.entries(headerValues).flatMap(([name, values]) =>
    values.map((value): Change => ({
      name: `${name}: ${value.slice(0, 60)}`,
      apply: (draft) => withHeader(draft, name, value),
    })),
  ),
  ...tokenChanges.map(([name, edit]): Change => ({
    name: `the token ${name}`,
    apply(draft) {
      const [, value] = draft.headers.find(([each]) => each === 'authorization') ?? [];
      return value === undefined ? draft : withHeader(draft, 'authorization', edit(value));
    },
  })),
  ...encodings.map(([name, encode]): Change => ({
    name: `the body is compressed by ${name}`,
    apply: (draft) => withBytes(withHeader(draft, 'content-encoding', name), encode),
  })),
  {
    name: 'the body is there although the method has none',
    apply: (draft) => (draft.body === undefined ? { ...draft, body: { a: 1 } } : draft),
  },
  { name: 'no body', apply: (draft) => ({ ...draft, body: undefined }) },
  { name: '200 headers', apply: (draft) => ({ ...draft, headers: [...draft.headers, ...manyHeaders(200, 20)] }) },
  { name: '2,500 headers', apply: (draft) => ({ ...draft, headers: [...draft.headers, ...manyHeaders(2_500, 1)] }) },
  {
    name: 'headers of 20 KB',
    apply: (draft) => ({ ...draft, headers: [...draft.headers, ...manyHeaders(10, 2_000)] }),
  },
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY', 'LINK'].map(
    (method): Change => ({ name: `the method ${method}`, apply: (draft) => ({ ...draft, method }) }),
  ),
];

function manyHeaders(count: number, length: number): [string, string][] {
  return Array.from({ length: count }, (_, index) => [`x-many-${index}`, 'y'.repeat(length)]);
}

function withBytes(draft: Draft, edit: (bytes: Buffer) => Buffer): Draft {
  const bytes = bodyBytes(draft.body);
  return bytes === null ? draft : { ...draft, body: edit(bytes) };
}

/** Changes of a form with a file. */
export const formChanges: readonly Change[] = [
  formChange('has another boundary', (text) => text.replaceAll(/^--/gm, '--x')),
  formChange('does not end', (text) => text.replace(/--\r\n$/, '')),
  formChange('is cut in the middle', (text) => text.slice(0, text.length / 2)),
  formChange('has a part with another name', (text) => text.replace('name="content"', 'name="other"')),
  formChange('has a part without a name', (text) => text.replace('name="content"; ', '')),
  formChange('has a part without a file name', (text) => text.replace(/; filename="[^"]*"/, '')),
  formChange('has an empty file name', (text) => text.replace(/filename="[^"]*"/, 'filename=""')),
  formChange('has a path as file name', (text) => text.replace(/filename="[^"]*"/, 'filename="../../../etc/passwd"')),
  formChange('has NUL in the file name', (text) => text.replace(/filename="/, 'filename="a\0b')),
  formChange('has a file name of 5,000 characters', (text) => text.replace(/filename="/, `filename="${'a'.repeat(5_000)}`)), // prettier-ignore
  formChange('has a file name that is not UTF-8', (text) => text.replace(/filename="/, 'filename="\u00ff\u00fe')),
  formChange('has an extended file name', (text) => text.replace(/filename="[^"]*"/, "filename*=UTF-8''%ff%00%e2%80%ae.txt")), // prettier-ignore
  formChange('has an invalid content type', (text) => text.replace(/content-type: .*/i, 'content-type: a;;;=')),
  formChange('has no content type', (text) => text.replace(/content-type: .*\r\n/i, '')),
  formChange('has an HTML content type', (text) => text.replace(/content-type: .*/i, 'content-type: text/html')),
  formChange('has a transfer encoding', (text) => text.replace('\r\n\r\n', '\r\ncontent-transfer-encoding: base64\r\n\r\n')), // prettier-ignore
  formChange('has a part twice', (text) => text.replace(/^(--[^\r]*)([\s\S]*?)\1--/, '$1$2$1$2$1--')),
  formChange('has a part header of 20 KB', (text) => text.replace('\r\n\r\n', `\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`)),
  formChange('has 1,000 part headers', (text) => text.replace('\r\n\r\n', `\r\n${'x: y\r\n'.repeat(1_000)}\r\n`)),
  formChange('has bare line feeds', (text) => text.replaceAll('\r\n', '\n')),
  formChange('has an empty file', (text) => text.replace('Hello', '')),
  formChange('has a file of 200,000 bytes', (text) => text.replace('Hello', 'a'.repeat(200_000))),
  formChange('is empty', () => ''),
  formChange('has a preamble', (text) => `preamble\r\n${text}`),
];

function formChange(name: string, edit: (text: string) => string): Change {
  return {
    name: `the form ${name}`,
    // Latin-1 keeps each byte of the form.
    apply: (draft) => withBytes(draft, (bytes) => Buffer.from(edit(bytes.toString('latin1')), 'latin1')),
  };
}
