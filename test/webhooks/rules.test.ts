import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTypes } from '../../packages/server/src/events/catalogue.ts';
import { openWorld } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import { apnsFields as apns, webhookFields } from '../support/receivers/webhooks.ts';
import { expectStatus } from '../support/world.ts';

/** What D8.4 and D8.9 refuse at registration, by POST and by PUT. This server allows only public addresses. */
const { server, account: own } = await openWorld({ webhookAllowCidrs: [] });
/** A public address. No test calls it. */
const http = { ...webhookFields, url: 'https://93.184.215.14/hook' };
const made = await call(server, 'POST /webhooks', { token: own.admin, body: http });
const put = `PUT /webhooks/${expectStatus(made, 201).body.id}`;

async function violations(request: string, body: unknown): Promise<string[]> {
  const { error, details } = expectStatus(await call(server, request, { token: own.admin, body }), 422).body;
  assert.equal(error, 'invalid_request');
  return details.map(({ attribute, detail }: Json) => {
    assert.ok(detail.length > 0);
    return attribute;
  });
}

type Refused = readonly [what: string, given: Json, attributes: readonly string[]];

function refuse(cases: readonly Refused[]): void {
  for (const [what, given, attributes] of cases) {
    test(`refused: ${what}`, async () => {
      for (const request of ['POST /webhooks', put])
        assert.deepEqual((await violations(request, given)).toSorted(), attributes.toSorted(), request);
    });
  }
}

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'v']));
}

refuse([
  ['an empty body', {}, ['/url', '/events']],
  ['a body that is not an object', [], ['']],
  ['a field of attached webhooks', { ...http, messages: 'all' }, ['/messages']],
  ['an unknown field', { ...http, retries: 3 }, ['/retries']],
  ['an empty list of events', { ...http, events: [] }, ['/events']],
  ['an unknown event', { ...http, events: ['engagement.start', 'engagement.stop'] }, ['/events/1']],
  ['events that are not a list', { ...http, events: 'engagement.start' }, ['/events']],
  ['an empty list of sites', { ...http, site_ids: [] }, ['/site_ids']],
  ['an invalid site id', { ...http, site_ids: ['here'] }, ['/site_ids/0']],
  ['a description that is too long', { ...http, description: 'x'.repeat(4_097) }, ['/description']],
  ['an unknown ordering', { ...http, ordering: 'strict' }, ['/ordering']],
  ['enabled that is not a boolean', { ...http, enabled: 'true' }, ['/enabled']],
]);

refuse([
  ['http without a method', { url: http.url, events: http.events }, ['/method']],
  ['http with the method null', { ...http, method: null }, ['/method']],
  ...['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', '', 'POST ', 'PO ST', 5, ['POST']].map((method): Refused => [
    `the method ${JSON.stringify(method)}`,
    { ...http, method },
    ['/method'],
  ]),
]);

const elsewhere = [
  '',
  'example.com',
  '/hook',
  '//example.com/hook',
  'http:example.com',
  'http:/example.com',
  'http://',
];
const schemes = ['ftp', 'file', 'ws', 'wss', 'gopher', 'data', 'javascript', 'unix', 'apn', 'apnss', 'httpx', 'x'];
refuse([
  ...[...elsewhere, 'http://?', 'http://[::1', 'http://a b/', ' https://example.com', 'https://example.com\n']
    .concat(['https:\\\\example.com', 'https://example.com\\@127.0.0.1', 'http://exa\tmple.com', 'http://1.2.3.4.5.6/'])
    .concat(['http://example.com:99999/', 'http://256.256.256.256/', 'data:text/plain,x', 'mailto:a@example.com'])
    .concat(schemes.map((scheme) => `${scheme}://example.com/hook`))
    .map((url): Refused => [`the URL ${JSON.stringify(url)}`, { ...http, url }, ['/url']]),
  ...['user@', 'user:pass@', ':pass@', '@', ':@', 'a@b@', 'a%40b:c@']
    .flatMap((userInfo) => ['http', 'HTTPS'].map((scheme) => `${scheme}://${userInfo}93.184.215.14/`))
    .map((url): Refused => [`the user-info of ${url}`, { ...http, url }, ['/url']]),
  ['a URL that is too long', { ...http, url: `https://93.184.215.14/${'a'.repeat(2_048)}` }, ['/url']],
  ['a URL that is not a text', { ...http, url: { href: http.url } }, ['/url']],
]);

const framing = ['host', 'Host', 'HOST', 'hOsT', 'content-length', 'Content-Length'];
const hops = ['connection', 'Connection', 'transfer-encoding', 'Transfer-Encoding', 'te', 'TE', 'trailer', 'Trailer'];
const moreHops = [
  'upgrade',
  'Upgrade',
  'keep-alive',
  'Keep-Alive',
  'expect',
  'eXpEcT',
  'proxy-authorization',
  'PROXY-X',
];
const proofs = ['Proxy-Connection', 'proxy-', 'webhook-id', 'Webhook-Id', 'webhook-timestamp', 'WEBHOOK-TIMESTAMP'];
const reserved = [...framing, ...hops, ...moreHops, ...proofs, 'webhook-signature', 'Webhook-Signature'];
const names = [
  '',
  ' ',
  'a b',
  'a:',
  ':a',
  'ä',
  'a\r\nb',
  'a\n',
  'a\tb',
  'x(y)',
  'x,y',
  'x"y',
  'x=y',
  'x@y',
  '[x]',
  '{x}',
];
const values = ['a\rb', 'a\nb', 'a\r\nx-b: c', '\n', 'a\x01b', 'a\x1fb', 'a\x7fb', '\u20ac', '\u{1f600}', '\u2028'];
refuse([
  ...reserved.map((name): Refused => [
    `the header ${name}`,
    { ...http, headers: { 'x-fine': 'v', [name]: 'v' } },
    [`/headers/${name}`],
  ]),
  ...names.map((name): Refused => [
    `the header name ${JSON.stringify(name)}`,
    { ...http, headers: { [name]: 'v' } },
    [`/headers/${name}`],
  ]),
  ['a header name that is escaped in the pointer', { ...http, headers: { 'a/b~c': 'v' } }, ['/headers/a~1b~0c']],
  ...values.map((value): Refused => [
    `the header value ${JSON.stringify(value)}`,
    { ...http, headers: { 'x-a': value } },
    ['/headers/x-a'],
  ]),
  ['NUL in a header', { ...http, headers: { 'x-a': 'a\0b' } }, ['/headers/x-a']],
  ['a header that is not a text', { ...http, headers: { 'x-a': 1 } }, ['/headers/x-a']],
  ['a header that is a list', { ...http, headers: { 'x-a': ['v'] } }, ['/headers/x-a']],
  ['headers that are a list', { ...http, headers: ['x-a: v'] }, ['/headers']],
  ['51 headers', { ...http, headers: many(51) }, ['/headers']],
  ['more than 8 KiB of headers', { ...http, headers: { 'x-a': 'v'.repeat(8_190) } }, ['/headers']],
  ['more than 8 KiB in names', { ...http, headers: { ['x'.repeat(8_193)]: '' } }, ['/headers']],
  ['more than 8 KiB in bytes', { ...http, headers: { 'x-a': 'ü'.repeat(4_095) } }, ['/headers']],
]);

refuse([
  ['a method with apns', { ...apns, method: 'POST' }, ['/method']],
  ['headers with apns', { ...apns, headers: {} }, ['/headers']],
  ['both with apns', { ...apns, method: 'PUT', headers: { 'x-a': 'b' } }, ['/method', '/headers']],
  ...[
    'apns://',
    'apns:token@topic?env=sandbox',
    'apns:///token@topic?env=sandbox',
    'apns://topic?env=sandbox',
    'apns://@topic?env=sandbox',
    'apns://token@?env=sandbox',
    'apns://token@topic',
    'apns://token@topic?',
    'apns://token@topic?env',
    'apns://token@topic?env=',
    'apns://token@topic?env=staging',
    'apns://token@topic?env=Sandbox',
    'apns://token@topic?ENV=sandbox',
    'apns://token@topic?env=sandbox&env=sandbox',
    'apns://token@topic?env=sandbox&env=production',
    'apns://token@topic?env=sandbox&content_available',
    'apns://token@topic?env=sandbox&content_available=yes',
    'apns://token@topic?env=sandbox&content_available=true&content_available=true',
    'apns://token@topic?content_available=true',
    'apns://token:secret@topic?env=sandbox',
    'apns://token@topic:443?env=sandbox',
    'apns://token@topic/?env=sandbox',
    'apns://token@topic/path?env=sandbox',
    'apns://token@topic?env=sandbox#fragment',
    'apns://to%2fken@topic?env=sandbox',
    'apns://../token@topic?env=sandbox',
    'apns://to ken@topic?env=sandbox',
    'apns://token@to pic?env=sandbox',
    'apns://token@topic?env=sandbox\r\n',
    `apns://${'a'.repeat(201)}@topic?env=sandbox`,
    `apns://token@${'a'.repeat(256)}?env=sandbox`,
  ].map((url): Refused => [`the APN URL ${url.slice(0, 80)}`, { ...apns, url }, ['/url']]),
]);

test('refused: a secret with apns, and an invalid secret', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  assert.deepEqual(await violations('POST /webhooks', { ...apns, secret }), ['/secret']);
  const wrong = ['', 'whsec_', 'x', secret.slice(6), secret.toUpperCase(), `whsec_${'A'.repeat(28)}`, 5]
    .concat([`whsec_${Buffer.alloc(65).toString('base64')}`, `whsec_${'-'.repeat(43)}=`, secret.replace('B', '\n')])
    .concat([`whsec_${'A'.repeat(33)}`]);
  for (const each of wrong)
    assert.deepEqual(await violations('POST /webhooks', { ...http, secret: each }), ['/secret'], String(each));
});

const loopback = ['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1'];
const odd = [
  '127.255.255.254',
  '127.0.0.1.',
  '0',
  '0.0.0.0',
  '0x0',
  '00',
  '%31%32%37.0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
];
const inside = ['10.0.0.1', '0xa.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '192.168.257', '3232235777'];
const special = ['169.254.169.254', '0xa9fea9fe', '2852039166', '169.254.0.1', '100.64.0.1', '100.100.100.200'];
const beyond = ['192.0.0.192', '192.0.2.1', '198.18.0.1', '224.0.0.1', '239.1.2.3', '240.0.0.1', '255.255.255.255'];
const v6 = ['::1', '0:0:0:0:0:0:0:1', '::', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::127.0.0.1'];
const v6Wrapped = ['64:ff9b::7f00:1', '64:ff9b::169.254.169.254', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:7f00::1'];
const v6Local = [
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '100::1',
  '::ffff:0:7f00:1',
];
const byName = ['localhost', 'LOCALHOST', 'LocalHost:8080'];
const forbidden = [...loopback, ...odd, ...inside, ...special, ...beyond, ...byName].concat(
  [...v6, ...v6Wrapped, ...v6Local].map((address) => `[${address}]`),
);
refuse(
  forbidden.map((host): Refused => [
    `the address of http://${host}/`,
    { ...http, url: `http://${host}/hook` },
    ['/url'],
  ]),
);

test('the refusal of an address says why, and all violations are in one answer', async () => {
  const answer = await call(server, 'POST /webhooks', { token: own.admin, body: { ...http, url: 'http://127.1/' } });
  assert.equal(expectStatus(answer, 422).body.details[0].detail, 'is not an address that Usher may connect to');
  const named = await call(server, 'POST /webhooks', { token: own.admin, body: { ...http, url: 'http://localhost/' } });
  assert.match(expectStatus(named, 422).body.details[0].detail, /^localhost resolves to .*, which is not an address/);
  const all = { url: 'ftp://example.com', method: 'GET', headers: { host: 'a', 'x y': 'b' }, events: ['x'], extra: 1 };
  assert.deepEqual(
    new Set(await violations('POST /webhooks', all)),
    new Set(['/url', '/method', '/headers/host', '/headers/x y', '/events/0', '/extra']),
  );
});

const accepted: readonly (readonly [what: string, given: Json])[] = [
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [`the method ${method}`, { ...http, method }] as const),
  ...[
    'http://93.184.215.14',
    'HTTPS://93.184.215.14:8443/a/@b?c=d@e#f',
    'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
  ]
    .concat(['https://nowhere.invalid/hook', 'http://0x5db8d70e/'])
    .map((url) => [`the URL ${url}`, { ...http, url }] as const),
  ['a URL of 2,048 characters', { ...http, url: `https://93.184.215.14/${'a'.repeat(2_048 - 22)}` }],
  ['every event', { ...http, events: eventTypes }],
  ['odd headers', { ...http, headers: { Authorization: 'Bearer a', "x!#$%&'*+-.^_`|~1": '\tü ', 'te-x': '' } }],
  ['a JSON content type', { ...http, headers: { 'CONTENT-TYPE': 'application/vnd.a+json; charset=UTF-8' } }],
  ['50 headers', { ...http, headers: many(50) }],
  ['8 KiB of headers', { ...http, headers: { 'x-a': 'v'.repeat(8_189) } }],
  ...['apns://token@topic?env=production&content_available=true', 'APNS://0a-B_c@com.example.App?env=sandbox']
    .concat(['apns://token@topic?content_available=false&env=sandbox', 'apns://token@topic?env=sandbox&badge=1'])
    .concat(['1', '0', 'TRUE', 'False'].map((silent) => `apns://token@topic?env=sandbox&content_available=${silent}`))
    .map((url) => [`the APN URL ${url}`, { ...apns, url }] as const),
];

for (const [what, given] of accepted) {
  test(`accepted: ${what}`, async () => {
    const made = expectStatus(await call(server, 'POST /webhooks', { token: own.admin, body: given }), 201).body;
    for (const [field, value] of Object.entries(given)) assert.deepEqual(made[field], value, field);
    const changed = expectStatus(await call(server, put, { token: own.admin, body: given }), 200).body;
    for (const [field, value] of Object.entries(given)) assert.deepEqual(changed[field], value, field);
    expectStatus(await call(server, `DELETE /webhooks/${made.id}`, { token: own.admin }), 204);
  });
}

test('a webhook with an address that is now forbidden can be changed, but not to another forbidden address', async () => {
  const lenient = await startTestServer({ webhookAllowCidrs: ['127.0.0.0/8'] }, server.database.address);
  try {
    const made = await call(lenient, 'POST /webhooks', { token: own.admin, body: webhookFields });
    const path = `/webhooks/${expectStatus(made, 201).body.id}`;
    const off = { ...webhookFields, enabled: false };
    expectStatus(await call(server, `PUT ${path}`, { token: own.admin, body: off }), 200);
    assert.deepEqual(await violations(`PUT ${path}`, { ...off, url: 'http://127.0.0.1:10/' }), ['/url']);
    expectStatus(await call(server, `DELETE ${path}`, { token: own.admin }), 204);
  } finally {
    await lenient[Symbol.asyncDispose]();
  }
});
