import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call, type Json } from '../support/server.ts';
import { expectStatus, makePolicy, makeQueue, policyFields, queueFields } from '../support/world.ts';

/** Each rule of the interface document beside requests that break it, and the pointer that must come back. */
const { server, account } = await openWorld();
const queue = await makeQueue(server, account);
const policy = await makePolicy(server, account);

type Break = readonly [rule: string, pointer: string, fields: Json];
const card = (value: unknown): { welcome_message: string } => ({ welcome_message: JSON.stringify(value) });
const hours = (opens_at: unknown, closes_at: unknown, days_of_week: unknown = ['mon']): Json => ({
  business_hours: [{ opens_at, closes_at, days_of_week }],
});

const queueRules: readonly Break[] = [
  ['name is required', '/name', { name: undefined }],
  ['name is a string', '/name', { name: 7 }],
  ['name has at least one character', '/name', { name: '' }],
  ['name has at most 255', '/name', { name: 'x'.repeat(256) }],
  ['name cannot be null', '/name', { name: null }],
  ['description is a string', '/description', { description: 1 }],
  ['description has at most 4,096', '/description', { description: 'x'.repeat(4_097) }],
  ['capacity is an integer', '/capacity', { capacity: 'ten' }],
  ['capacity is a whole number', '/capacity', { capacity: 1.5 }],
  ['capacity_policy is required', '/capacity_policy', { capacity_policy: undefined }],
  ['capacity_policy is an object', '/capacity_policy', { capacity_policy: 'fixed' }],
  ['capacity_policy has a type', '/capacity_policy/type', { capacity_policy: { capacity: 1 } }],
  ['the type is fixed or variable', '/capacity_policy/type', { capacity_policy: { type: 'elastic' } }],
  ['fixed needs capacity', '/capacity_policy/capacity', { capacity_policy: { type: 'fixed' } }],
  [
    'fixed has no multiplier',
    '/capacity_policy/multiplier',
    { capacity_policy: { type: 'fixed', capacity: 1, multiplier: 1 } },
  ],
  ['capacity is a whole number', '/capacity_policy/capacity', { capacity_policy: { type: 'fixed', capacity: 1.5 } }],
  ['capacity is not negative', '/capacity_policy/capacity', { capacity_policy: { type: 'fixed', capacity: -1 } }],
  ['variable needs a multiplier', '/capacity_policy/multiplier', { capacity_policy: { type: 'variable' } }],
  [
    'variable has no capacity',
    '/capacity_policy/capacity',
    { capacity_policy: { type: 'variable', multiplier: 1, capacity: 1 } },
  ],
  [
    'the multiplier is above 0',
    '/capacity_policy/multiplier',
    { capacity_policy: { type: 'variable', multiplier: 0 } },
  ],
  [
    'the multiplier is finite',
    '/capacity_policy/multiplier',
    { capacity_policy: { type: 'variable', multiplier: Infinity } },
  ],
  [
    'the multiplier is a number',
    '/capacity_policy/multiplier',
    { capacity_policy: { type: 'variable', multiplier: '2' } },
  ],
  [
    'capacity_policy has no other field',
    '/capacity_policy/more',
    { capacity_policy: { type: 'fixed', capacity: 1, more: 1 } },
  ],
  ['routing_policy is required', '/routing_policy', { routing_policy: undefined }],
  ['routing_policy is an object', '/routing_policy', { routing_policy: [] }],
  ['routing_policy has no other field', '/routing_policy/more', { routing_policy: { more: 1 } }],
  ['media are known', '/routing_policy/media/1', { routing_policy: { media: ['text', 'fax'] } }],
  ['media is a list', '/routing_policy/media', { routing_policy: { media: 'text' } }],
  ['team ids are UUIDs', '/routing_policy/team_ids/0', { routing_policy: { team_ids: ['x'] } }],
  ['teams are of the site', '/routing_policy/team_ids/0', { routing_policy: { team_ids: [crypto.randomUUID()] } }],
  ['when_unstaffed is accept or reject', '/when_unstaffed', { when_unstaffed: 'maybe' }],
  ['operator_ranking_enabled is a boolean', '/operator_ranking_enabled', { operator_ranking_enabled: 'yes' }],
  ['welcome_message is a string', '/welcome_message', { welcome_message: { content: 'x' } }],
  ['welcome_message has at most 16 KiB', '/welcome_message', { welcome_message: 'ü'.repeat(8_193) }],
  ['a card has a content', '/welcome_message', card({})],
  ['a card’s content is a string', '/welcome_message', card({ content: 1 })],
  ['a card’s attachment is an object', '/welcome_message', card({ content: 'x', attachment: [] })],
  [
    'a card’s attachment is single_choice',
    '/welcome_message',
    card({ content: 'x', attachment: { type: 'files', options: [{ text: 'a', value: 'b' }] } }),
  ],
  ['a card has options', '/welcome_message', card({ content: 'x', attachment: { type: 'single_choice' } })],
  [
    'a card’s options have text and value',
    '/welcome_message',
    card({ content: 'x', attachment: { type: 'single_choice', options: [{ text: 'a' }] } }),
  ],
  [
    'a card’s image_url is a string',
    '/welcome_message',
    card({ content: 'x', attachment: { type: 'single_choice', image_url: 1, options: [{ text: 'a', value: 'b' }] } }),
  ],
  ['scheduling_policy_id is a UUID', '/scheduling_policy_id', { scheduling_policy_id: 'x' }],
  ['scheduling_policy_id is of the site', '/scheduling_policy_id', { scheduling_policy_id: crypto.randomUUID() }],
  ['fallback_queue_id is a UUID', '/fallback_queue_id', { fallback_queue_id: 'x' }],
  ['fallback_queue_id is a queue', '/fallback_queue_id', { fallback_queue_id: crypto.randomUUID() }],
  ['operator_affinity is an object', '/operator_affinity', { operator_affinity: 60 }],
  ['operator_affinity has a window', '/operator_affinity/time_window_sec', { operator_affinity: {} }],
  ['the window is above 0', '/operator_affinity/time_window_sec', { operator_affinity: { time_window_sec: 0 } }],
  [
    'the window is at most 345600',
    '/operator_affinity/time_window_sec',
    { operator_affinity: { time_window_sec: 345_601 } },
  ],
  [
    'the window is a whole number',
    '/operator_affinity/time_window_sec',
    { operator_affinity: { time_window_sec: 1.5 } },
  ],
  ['no unknown field', '/surprise', { surprise: 1 }],
];

const policyRules: readonly Break[] = [
  ['name is required', '/name', { name: undefined }],
  ['name has at most 255', '/name', { name: 'x'.repeat(256) }],
  ['description is a string', '/description', { description: 1 }],
  ['timezone is required', '/timezone', { timezone: undefined }],
  ['timezone is a zone', '/timezone', { timezone: 'Mars/Olympus' }],
  ['an offset is not a zone', '/timezone', { timezone: '+02:00' }],
  ['business_hours is required', '/business_hours', { business_hours: undefined }],
  ['D6.3 business_hours is not empty', '/business_hours', { business_hours: [] }],
  ['opens_at is required', '/business_hours/0/opens_at', hours(undefined, '17:00')],
  ['closes_at is required', '/business_hours/0/closes_at', hours('09:00', undefined)],
  ['times are HH:MM', '/business_hours/0/opens_at', hours('9:00', '17:00')],
  ['HH is at most 24', '/business_hours/0/opens_at', hours('25:00', '17:00')],
  ['MM is at most 59', '/business_hours/0/closes_at', hours('09:00', '17:60')],
  ['D6.2 equal times are no interval', '/business_hours/0/closes_at', hours('09:00', '09:00')],
  ['D6.2 24:00 equals 24:00', '/business_hours/0/closes_at', hours('24:00', '24:00')],
  [
    'days_of_week is required',
    '/business_hours/0/days_of_week',
    { business_hours: [{ opens_at: '09:00', closes_at: '17:00' }] },
  ],
  ['days_of_week is not empty', '/business_hours/0/days_of_week', hours('09:00', '17:00', [])],
  ['days are known', '/business_hours/0/days_of_week/1', hours('09:00', '17:00', ['mon', 'monday'])],
  [
    'no other field in hours',
    '/business_hours/0/more',
    { business_hours: [{ opens_at: '09:00', closes_at: '10:00', days_of_week: ['mon'], more: 1 }] },
  ],
  ['D6.6 an exception has a date', '/exceptions/0/date', { exceptions: [{}] }],
  ['D6.6 the date is one', '/exceptions/0/date', { exceptions: [{ date: '2027-02-29' }] }],
  ['D6.6 both times or none', '/exceptions/0/closes_at', { exceptions: [{ date: '2027-02-28', opens_at: '09:00' }] }],
  [
    'hours times exceptions are bounded',
    '/exceptions',
    {
      business_hours: Array.from({ length: 20 }, (_, n) => ({
        opens_at: `0${n % 10}:00`,
        closes_at: '12:00',
        days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
      })),
      exceptions: Array.from({ length: 900 }, () => ({ date: '2027-01-01' })),
    },
  ],
  ['no unknown field', '/surprise', { surprise: 1 }],
];

/** JSON has no infinity, but it has numbers that are read as one. */
function written(body: Json): string {
  const marked = JSON.stringify(body, (_key, value: unknown) => (value === Infinity ? 'INFINITY' : value));
  return marked.replace('"INFINITY"', '1e400');
}

async function assertBreaks(kind: 'queue' | 'policy', [, pointer, fields]: Break): Promise<void> {
  const [collection, id, valid] =
    kind === 'queue' ? ['/queues', queue, queueFields] : ['/queues/scheduling_policies', policy, policyFields];
  const token = account.admin;
  const before = await call(server, `GET ${collection}/${id}`, { token });
  const body = { ...valid, ...fields };
  for (const request of [`POST ${collection}`, `PUT ${collection}/${id}`]) {
    const sent = request.startsWith('POST') ? { site_id: account.siteId, ...body } : body;
    const answer = expectStatus(await call(server, request, { token, body: written(sent) }), 422);
    assert.deepEqual(
      answer.body.details.map(({ attribute }: Json) => attribute),
      [pointer],
      JSON.stringify(answer.body.details),
    );
  }
  const after = await call(server, `GET ${collection}/${id}`, { token });
  assert.deepEqual(after.body, before.body);
  assert.equal(after.headers.get('etag'), before.headers.get('etag'));
}

test('each violation of a rule on queues is refused with its attribute', async (t) => {
  for (const rule of queueRules) await t.test(rule[0], async () => assertBreaks('queue', rule));
});

test('each violation of a rule on scheduling policies is refused with its attribute', async (t) => {
  for (const rule of policyRules) await t.test(rule[0], async () => assertBreaks('policy', rule));
});

test('site_id is required to create, an unknown site is 404, and it cannot be changed', async () => {
  const token = account.admin;
  for (const [collection, id, valid] of [
    ['/queues', queue, queueFields],
    ['/queues/scheduling_policies', policy, policyFields],
  ] as const) {
    const missing = expectStatus(await call(server, `POST ${collection}`, { token, body: valid }), 422);
    assert.deepEqual(missing.body.details, [{ attribute: '/site_id', detail: 'is required' }]);
    expectStatus(
      await call(server, `POST ${collection}`, { token, body: { ...valid, site_id: crypto.randomUUID() } }),
      404,
    );
    const moved = expectStatus(
      await call(server, `PUT ${collection}/${id}`, { token, body: { ...valid, site_id: crypto.randomUUID() } }),
      422,
    );
    assert.deepEqual(moved.body.details, [{ attribute: '/site_id', detail: 'cannot be changed' }]);
    expectStatus(
      await call(server, `PUT ${collection}/${id}`, { token, body: { ...valid, site_id: account.siteId } }),
      200,
    );
  }
});

test('all violations of schemas and rules are reported at once', async () => {
  const body = {
    site_id: account.siteId,
    name: '',
    capacity_policy: { type: 'fixed' },
    routing_policy: { media: ['fax'] },
    welcome_message: '{}',
    operator_affinity: { time_window_sec: -1 },
    x: 1,
  };
  const answer = expectStatus(await call(server, 'POST /queues', { token: account.admin, body }), 422);
  assert.deepEqual(answer.body.details.map(({ attribute }: Json) => attribute).toSorted(), [
    '/capacity_policy/capacity',
    '/name',
    '/operator_affinity/time_window_sec',
    '/routing_policy/media/0',
    '/welcome_message',
    '/x',
  ]);
});

test('values at the limits are accepted', async () => {
  const fields: readonly Json[] = [
    { capacity_policy: { type: 'fixed', capacity: 0 } },
    { capacity_policy: { type: 'variable', multiplier: 0.0001 } },
    { routing_policy: { media: ['text', 'phone', 'audio', 'video'] } },
    { routing_policy: { media: [], team_ids: [] } },
    { operator_affinity: { time_window_sec: 1 } },
    { operator_affinity: { time_window_sec: 345_600 } },
    { welcome_message: 'x'.repeat(16_384) },
    { welcome_message: '[1, 2]' },
    { welcome_message: '"text"' },
    card({ content: '', attachment: null, id: 'ignored' }),
    { name: 'x'.repeat(255), description: 'x'.repeat(4_096) },
  ];
  for (const each of fields)
    expectStatus(
      await call(server, `PUT /queues/${queue}`, { token: account.admin, body: { ...queueFields, ...each } }),
      200,
    );
  for (const each of [
    hours('00:00', '00:00'),
    hours('00:00', '24:00'),
    hours('22:00', '06:00'),
    hours('24:30', '24:59', ['SUN', 'sun']),
    { timezone: 'us/eastern' },
  ]) {
    expectStatus(
      await call(server, `PUT /queues/scheduling_policies/${policy}`, {
        token: account.admin,
        body: { ...policyFields, ...each },
      }),
      200,
    );
  }
});
