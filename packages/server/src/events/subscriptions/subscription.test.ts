import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Violation } from '../../platform/errors.ts';
import { body } from '../../platform/schema.ts';
import { refusalOfFaults, validatorCompiler } from '../../platform/http/validation.ts';
import { parseApnsUrl } from '../../channels/apns/url.ts';
import { eventTypes } from '../catalogue.ts';
import { attachedWebhooks, subscriptionOf, type WebhookInput } from './subscription.ts';

const schema = body({ webhooks: attachedWebhooks });
const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' });

/** The violations that a route with attached webhooks would answer; none if the webhooks are valid. */
function violationsOf(webhooks: unknown): readonly Violation[] {
  const given: unknown = structuredClone({ webhooks });
  if (validate(given) === true) return [];
  return refusalOfFaults((validate.errors ?? []).map((error) => ({ part: 'body', error }))).details;
}

const http = { url: 'https://example.com/hook?a=b', method: 'POST', events: ['engagement.start'] };
const apns = { url: 'apns://0a1b2c@com.example.App?env=sandbox', events: ['engagement.start'] };
const deviceless = { events: ['engagement.start'] };

const accepted: Readonly<Record<string, unknown>> = {
  'an HTTP webhook': http,
  'every method': ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ ...http, method })),
  'http, an upper-case scheme, a port, an address': [
    'http://example.com',
    'HTTPS://example.com:8443/',
    'http://[::1]/',
  ].map((url) => ({ ...http, url })),
  'an @ after the authority': { ...http, url: 'https://example.com/@somebody?mail=a@b#c@d' },
  'every event type, repeated': { ...http, events: [...eventTypes, ...eventTypes] },
  'headers of any token name': {
    ...http,
    headers: { Authorization: 'Bearer a', "x!#$%&'*+-.^_`|~1": '\tü ', 'te-x': '' },
  },
  '50 headers': { ...http, headers: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x-${n}`, 'v'])) },
  '8 KiB of headers': { ...http, headers: { 'x-a': 'v'.repeat(8_192 - 3) } },
  'a URL of 2,048 characters': { ...http, url: `https://example.com/${'a'.repeat(2_048 - 20)}` },
  'every choice of messages': ['own', 'other', 'all'].map((messages) => ({ ...http, messages })),
  'an APN webhook, with messages': { ...apns, messages: 'all' },
  'every parameter': ['env=production&content_available=true', 'content_available=false&env=sandbox'].map((query) => ({
    ...apns,
    url: `apns://token@topic?${query}`,
  })),
  'any case of true and false, 0 and 1': ['TRUE', 'False', '1', '0'].map((silent) => ({
    ...apns,
    url: `apns://token@topic?env=sandbox&content_available=${silent}`,
  })),
  'further parameters after the topic': { ...apns, url: 'apns://token@topic?env=sandbox&badge=1&sound=a&badge=2' },
  'a method in any case': ['post', 'Put', 'pAtCh', 'delete'].map((method) => ({ ...http, method })),
  'a content type that is JSON': [
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/vnd.example.v1+json',
    'text/json;charset="utf-8"; profile=x',
  ].map((value) => ({ ...http, headers: { 'Content-Type': value } })),
  'ten webhooks': Array.from({ length: 10 }, () => http),
  'no webhooks': [],
};

for (const [what, given] of Object.entries(accepted)) {
  test(`accepts ${what}`, () => assert.deepEqual(violationsOf([given].flat()), []));
}

const reservedHeaders =
  'Host content-length connection transfer-encoding TE trailer upgrade keep-alive proxy-authorization ' +
  'Proxy-Anything expect webhook-id Webhook-Timestamp webhook-signature';

type Refused = readonly [what: string, given: unknown, attributes: readonly string[]];
const refused: readonly Refused[] = [
  ['an empty object', {}, ['/events', '/url']],
  ['a number', 5, ['']],
  ['an unknown field', { ...http, secret: 'x' }, ['/secret']],
  ['HTTP without a method', { url: http.url, ...deviceless }, ['/method']],
  ['a GET', { ...http, method: 'GET' }, ['/method']],
  ['no event', { ...http, events: [] }, ['/events']],
  ['an unknown event type', { ...http, events: ['engagement.start', 'engagement.stop'] }, ['/events/1']],
  ['an unknown choice of messages', { ...http, messages: 'theirs' }, ['/messages']],
  ...[
    '',
    'example.com',
    '/path',
    'http:example.com',
    'http://',
    'http://a b/',
    'ftp://example.com',
    'javascript:alert(1)',
  ]
    .concat(['//example.com', ' https://example.com', 'https://example.com\n', 'https:\\\\example.com', 'http://[::1'])
    .map((url): Refused => [`the URL ${JSON.stringify(url)}`, { ...http, url }, ['/url']]),
  ...['http://user@example.com', 'https://user:secret@example.com/', 'http://@example.com', 'http://:@example.com']
    .concat([
      'https://a@b@example.com',
      'HTTP://u@example.com',
      'http:///user:secret@example.com/',
      'https:////u@example.com',
    ])
    .map((url): Refused => [`user-info in ${url}`, { ...http, url }, ['/url']]),
  ['a URL too long', { ...http, url: `https://example.com/${'a'.repeat(2_048 - 19)}` }, ['/url']],
  ...reservedHeaders
    .split(' ')
    .map((name): Refused => [`the header ${name}`, { ...http, headers: { [name]: 'x' } }, [`/headers/${name}`]]),
  ...['', 'a b', 'a:', 'ä', 'a\r\nb', 'x(y)'].map((name): Refused => [
    `the header name ${JSON.stringify(name)}`,
    { ...http, headers: { [name]: 'x' } },
    [`/headers/${name}`],
  ]),
  ['a header name with a slash', { ...http, headers: { 'a/b~c': 'x' } }, ['/headers/a~1b~0c']],
  ...['a\rb', 'a\nb', 'a\0b', 'a\x01b', 'a\x7fb', '€'].map((value): Refused => [
    `the header value ${JSON.stringify(value)}`,
    { ...http, headers: { 'x-a': value } },
    ['/headers/x-a'],
  ]),
  ...['text/plain', 'application/jsonp', 'application/json; charset=utf-16', '', 'json', 'image/svg+xml'].map(
    (value): Refused => [
      `the content type ${JSON.stringify(value)}`,
      { ...http, headers: { 'content-type': value } },
      ['/headers/content-type'],
    ],
  ),
  [
    'two content types',
    { ...http, headers: { 'content-type': 'application/json', 'Content-Type': 'text/json' } },
    ['/headers/Content-Type', '/headers/content-type'],
  ],
  ['a header that is no string', { ...http, headers: { 'x-a': 1 } }, ['/headers/x-a']],
  ['headers that are a list', { ...http, headers: ['x-a'] }, ['/headers']],
  [
    '51 headers',
    { ...http, headers: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`x-${n}`, 'v'])) },
    ['/headers'],
  ],
  ['more than 8 KiB of headers', { ...http, headers: { 'x-a': 'v'.repeat(8_192 - 2) } }, ['/headers']],
  ['more than 8 KiB in bytes', { ...http, headers: { 'x-a': 'ü'.repeat(4_096) } }, ['/headers']],
  ['APN with method and headers', { ...apns, method: 'POST', headers: {} }, ['/headers', '/method']],
  ['APN with a wrong method too', { ...apns, method: 'GET' }, ['/method']],
  ...[
    ['without env', 'apns://token@topic'],
    ['without env in its query', 'apns://token@topic?content_available=true'],
    ['with an unknown env', 'apns://token@topic?env=staging'],
    ['with env in another case', 'apns://token@topic?env=Sandbox'],
    ['with two envs', 'apns://token@topic?env=sandbox&env=production'],
    ['with content_available neither true nor false', 'apns://token@topic?env=sandbox&content_available=2'],
    ['without a token', 'apns://topic?env=sandbox'],
    ['with an empty token', 'apns://@topic?env=sandbox'],
    ['without a topic', 'apns://token@?env=sandbox'],
    ['with a password', 'apns://token:secret@topic?env=sandbox'],
    ['with a port', 'apns://token@topic:443?env=sandbox'],
    ['with a path', 'apns://token@topic/x?env=sandbox'],
    ['with a fragment', 'apns://token@topic?env=sandbox#x'],
    ['with a token that leaves its path', 'apns://..%2f@topic?env=sandbox'],
  ].map(([what, url]): Refused => [`an APN URL ${what}`, { ...apns, url }, ['/url']]),
];

for (const [what, given, attributes] of refused) {
  test(`refuses ${what}`, () => {
    const found = new Set(violationsOf([http, given]).map(({ attribute }) => attribute));
    assert.deepEqual(
      [...found].toSorted(),
      attributes.map((attribute) => `/webhooks/1${attribute}`),
    );
  });
}

test('refuses an eleventh webhook', () => {
  const found = violationsOf(Array.from({ length: 11 }, () => http));
  assert.deepEqual(
    found.map(({ attribute }) => attribute),
    ['/webhooks'],
  );
});

test('reports everything that is wrong with an APNs URL at once', () => {
  const found = violationsOf([{ ...apns, url: 'apns://token@topic?content_available=yes&content_available=no' }]);
  assert.deepEqual(
    found.map(({ detail }) => detail),
    [
      'must not have the query parameter content_available more than once',
      'must have the query parameter env=sandbox or env=production',
      'must have true or false as the query parameter content_available',
    ],
  );
});

test('a method in any case is stored in upper case', () => {
  const given = { webhooks: [{ ...http, method: 'pAtCh' }] };
  assert.equal(validate(given), true);
  assert.equal(given.webhooks[0]?.method, 'PATCH');
});

test('a subscription has no duplicate events, and all defaults filled in', () => {
  const events: WebhookInput['events'] = ['engagement.start', 'engagement.end', 'engagement.start'];
  assert.deepEqual(subscriptionOf({ url: 'https://example.com', method: 'PUT', events }, 'other'), {
    kind: 'http',
    url: 'https://example.com',
    method: 'PUT',
    headers: {},
    events: ['engagement.start', 'engagement.end'],
    messages: 'other',
    secret: null,
  });
  assert.deepEqual(subscriptionOf({ url: apns.url, events, messages: 'all' }, 'own'), {
    kind: 'apns',
    url: apns.url,
    events: ['engagement.start', 'engagement.end'],
    messages: 'all',
    secret: null,
  });
});

test('an APNs URL is parsed, and keeps the case of its topic', () => {
  assert.deepEqual(parseApnsUrl('apns://0a1B@com.example.App?content_available=true&env=production'), {
    deviceToken: '0a1B',
    topic: 'com.example.App',
    environment: 'production',
    contentAvailable: true,
  });
  assert.deepEqual(parseApnsUrl('apns://0a@app?env=sandbox'), {
    deviceToken: '0a',
    topic: 'app',
    environment: 'sandbox',
    contentAvailable: false,
  });
});
