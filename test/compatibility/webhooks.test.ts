import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { parseApnsUrl } from '../../packages/server/src/channels/apns/url.ts';
import { ApnsFixture, delivery } from '../support/receivers/apns.ts';
import { engage, say } from '../support/people/chat.ts';
import { openWorld } from '../support/fixture.ts';
import { call, type Answer, type Json } from '../support/server.ts';
import { apnsFields, webhookFields } from '../support/receivers/webhooks.ts';
import {
  expectStatus,
  makeAccount,
  makeOperator,
  makePolicy,
  makeQueue,
  makeSite,
  policyFields,
  queueFields,
} from '../support/world.ts';

/**
 * What existing clients expect of webhooks and of request formats: each numbered expectation next to a request that shows it.
 * Expectations that need more than one request are tested after the table.
 */
const { server, account } = await openWorld();
const second = await makeSite(server, account);
/** Has the same resources as the other sites, but no list requests it. */
const third = await makeSite(server, account);
/** super_manager of the first site only. */
const partial = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
const queue = await makeQueue(server, account);
for (const siteId of [account.siteId, second, third]) {
  const there = { ...account, siteId };
  await makeQueue(server, there);
  await makePolicy(server, there);
}
const chat = await engage(server);

interface TestRequest {
  readonly request: string;
  readonly token?: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Expected {
  readonly status: number;
  /** Fields of the response. */
  readonly fields?: Json;
  /** Attributes of the violations, in any order. */
  readonly violations?: readonly string[];
  readonly headers?: Readonly<Record<string, string | null>>;
  /** The listed resources belong to exactly these sites. */
  readonly listsSites?: readonly [list: string, siteIds: readonly string[]];
}

type Line = readonly [line: string, what: string, request: () => TestRequest, expected: () => Expected];

const examplePayload = { ...webhookFields, headers: { 'x-key': 'secret' } };
const post = (path: string, body: Json, more: Partial<TestRequest> = {}): TestRequest => ({
  request: `POST ${path}`,
  body,
  ...more,
});
const lenient = { headers: { prefer: 'handling=lenient' } };
const newQueue = (more: Json): Json => ({ site_id: account.siteId, ...queueFields, ...more });
const newPolicy = (more: Json = {}): Json => ({ site_id: account.siteId, ...policyFields, ...more });
const capacity = (policy: Json): Json => newQueue({ capacity_policy: policy });
const card = (attachment: Json): Json => newQueue({ welcome_message: JSON.stringify({ content: 'Hi', attachment }) });
const options = [{ text: 'Yes', value: 'y' }];
const ok =
  (status: number, fields: Json = {}): (() => Expected) =>
  () => ({ status, fields });
const refused =
  (...violations: string[]): (() => Expected) =>
  () => ({ status: 422, violations });
const push = (query: string): Json => ({ ...apnsFields, url: `apns://0a1b@com.example.App?${query}` });
const typed = (value: string): Json => ({ ...webhookFields, headers: { 'Content-Type': value } });

const lines: readonly Line[] = [
  [
    '1.2',
    'a super_manager of one site registers a webhook for that site',
    () => post('/webhooks', examplePayload, { token: partial.token }),
    () => ({ status: 201, fields: { site_ids: null, covered_site_ids: [account.siteId], registered_by: partial.id } }),
  ],
  [
    '1.2',
    'a super_manager of all sites registers a webhook for all sites',
    () => post('/webhooks', examplePayload),
    () => ({ status: 201, fields: { covered_site_ids: [account.siteId, second, third].toSorted(), registered_by: account.adminId } }),
  ],
  ['1.6', 'multiplier: null is accepted with type fixed', () => post('/queues', capacity({ type: 'fixed', capacity: 3, multiplier: null })), ok(201, { capacity_policy: { type: 'fixed', capacity: 3 } })],
  ['1.6', 'capacity: null is accepted with type variable', () => post('/queues', capacity({ type: 'variable', multiplier: 2, capacity: null })), ok(201, { capacity_policy: { type: 'variable', multiplier: 2 } })],
  ['1.6', 'capacity: null is refused with type fixed', () => post('/queues', capacity({ type: 'fixed', capacity: null })), refused('/capacity_policy/capacity')],
  ['1.6', 'image_url: null is accepted in the card of a queue', () => post('/queues', card({ type: 'single_choice', image_url: null, options })), ok(201)],
  [
    '1.6',
    'image_url: null is accepted in the card of a message',
    () => ({
      request: `PUT /engagements/${chat.id}/chat_messages/${randomUUID()}`,
      token: chat.operator.token,
      body: { content: 'Hi', attachment: { type: 'single_choice', image_url: null, options } },
    }),
    ok(200, { attachment: { type: 'single_choice', options } }),
  ],
  ['1.6', 'method: "post" is accepted in lower case', () => post('/webhooks', { ...webhookFields, method: 'post' }), ok(201, { method: 'POST' })],
  ['1.6', 'POST /queues/scheduling_policies accepts site_id in the query', () => post(`/queues/scheduling_policies?site_id=${account.siteId}`, policyFields), () => ({ status: 201, fields: { site_id: account.siteId } })],
  ['1.6', 'the same site_id is accepted in query and body', () => post(`/queues/scheduling_policies?site_id=${account.siteId.toUpperCase()}`, newPolicy()), () => ({ status: 201, fields: { site_id: account.siteId } })],
  ['1.6', 'different site_ids in query and body are refused', () => post(`/queues/scheduling_policies?site_id=${second}`, newPolicy()), refused('/site_id')],
  ['1.6', 'site_ids[0]=… is accepted', () => ({ request: `GET /queues?site_ids[0]=${account.siteId}&site_ids[1]=${second}` }), () => ({ status: 200, listsSites: ['queues', [account.siteId, second]] })],
  ['1.6', 'site_ids[1]=… is accepted without site_ids[0]', () => ({ request: `GET /queues?site_ids[1]=${second}` }), () => ({ status: 200, listsSites: ['queues', [second]] })],
  ['1.6', 'site_ids=a,b is accepted', () => ({ request: `GET /queues/scheduling_policies?site_ids=${account.siteId},${second}` }), () => ({ status: 200, listsSites: ['scheduling_policies', [account.siteId, second]] })],
  ['1.6', 'site_ids=a,b is refused if one is not an id', () => ({ request: `GET /queues?site_ids=${account.siteId},x` }), refused('/site_ids/1')],
  ['1.7', 'a JSON Content-Type is accepted', () => post('/webhooks', typed('application/vnd.example+json')), ok(201, { headers: { 'Content-Type': 'application/vnd.example+json' } })],
  ['1.7', 'a Content-Type that is not JSON is refused', () => post('/webhooks', typed('text/plain')), refused('/headers/Content-Type')],
  ['1.7', 'further parameters after the topic are accepted', () => post('/webhooks', push('env=sandbox&badge=1')), ok(201, { url: 'apns://0a1b@com.example.App?env=sandbox&badge=1' })],
  ['1.7', 'content_available=1 is accepted', () => post('/webhooks', push('env=sandbox&content_available=1')), ok(201)],
  ['1.7', 'content_available=TRUE is accepted', () => post('/webhooks', push('env=production&content_available=TRUE')), ok(201)],
  ['1.9', 'a queue can be copied by posting what GET returned', () => post('/queues', { ...existingQueue, name: 'Copy' }), () => ({ status: 201, fields: { name: 'Copy' } })],
  ['1.9', 'an unknown field is refused', () => post('/queues', newQueue({ colour: 'red' })), refused('/colour')],
  ['1.9', 'a nested unknown field is refused', () => post('/queues', newQueue({ routing_policy: { skill: 'x' } })), refused('/routing_policy/skill')],
  [
    '1.9',
    'unknown fields are ignored with Prefer: handling=lenient',
    () => post('/queues', newQueue({ colour: 'red', routing_policy: { skill: 'x' } }), lenient),
    () => ({ status: 201, headers: { 'preference-applied': 'handling=lenient' } }),
  ],
  ['1.9', 'Preference-Applied is absent if there is nothing unknown', () => post('/queues', newQueue({}), lenient), () => ({ status: 201, headers: { 'preference-applied': null } })],
  ['1.9', 'other violations are still refused with Prefer: handling=lenient', () => post('/queues', newQueue({ colour: 'red', name: '' }), lenient), refused('/name')],
  ['1.10', 'several violations of one attribute and of others are reported together', () => post('/queues', newQueue({ name: 5, welcome_message: JSON.stringify({ attachment: { type: 'x', options: [{}, 1] } }), capacity_policy: {} })), refused('/name', '/capacity_policy/type', '/welcome_message', '/welcome_message', '/welcome_message', '/welcome_message', '/welcome_message')],
  ['1.10', 'violations of body and query are reported together', () => post('/queues/scheduling_policies?x=1', newPolicy({ name: '' })), refused('/name', '/x')],
  ['2.4', 'an unknown query parameter is refused', () => ({ request: `GET /queues?site_ids[]=${account.siteId}&status=opened` }), refused('/status')],
  ['2.4', 'an unknown query parameter is refused where none is allowed', () => ({ request: `GET /queues/${queue}?fields=name` }), refused('/fields')],
  ['2.4', 'an unknown query parameter of a DELETE is refused', () => ({ request: `DELETE /queues/${queue}?force=true` }), refused('/force')],
  ['2.4', 'an unknown query parameter is ignored with Prefer: handling=lenient', () => ({ request: `GET /queues?site_ids[]=${account.siteId}&status=opened`, ...lenient }), () => ({ status: 200, headers: { 'preference-applied': 'handling=lenient' } })],
  ['2.4', 'the cache-busting parameter _ is ignored', () => ({ request: `GET /queues?site_ids[]=${account.siteId}&_=1700000000` }), () => ({ status: 200, headers: { 'preference-applied': null } })],
  ['2.11', 'attached_webhook_messages can be set', () => ({ request: `PATCH /sites/${second}`, body: { attached_webhook_messages: 'other' } }), ok(200, { attached_webhook_messages: 'other' })],
  ['2.11', 'attached_webhook_messages defaults to own', () => ({ request: `GET /sites/${account.siteId}` }), ok(200, { attached_webhook_messages: 'own', lenient_requests: false })],
  ['2.11', 'messages: "other" is accepted', () => ({ ...ticketWith({ messages: 'other' }) }), ok(201)],
  ['2.11', 'messages: "theirs" is refused', () => ({ ...ticketWith({ messages: 'theirs' }) }), refused('/webhooks/0/messages')],
]; // prettier-ignore

let existingQueue: Json;
let visitorToken: Json;

function ticketWith(webhook: Json): TestRequest {
  const webhooks = [{ ...webhookFields, ...webhook }];
  return {
    request: 'POST /queue_tickets',
    token: visitorToken.access_token,
    body: { site_id: account.siteId, media: 'text', webhooks },
  };
}

test('each expectation holds for its request', async (t) => {
  await call(server, `PUT /queues/${queue}`, {
    token: account.admin,
    body: { ...queueFields, when_unstaffed: 'accept' },
  });
  existingQueue = expectStatus(await call(server, `GET /queues/${queue}`, { token: account.admin }), 200).body;
  const visitor = { token: account.admin, body: { site_id: account.siteId } };
  visitorToken = expectStatus(await call(server, 'POST /visitors', visitor), 200).body;
  for (const [line, what, makeRequest, expected] of lines) {
    await t.test(`${line} ${what}`, async () => {
      const { request, token = account.admin, body, headers = {} } = makeRequest();
      const answer = await call(server, request, { token, body, headers });
      compare(answer, expected());
      // An account can have only ten webhooks.
      if (request === 'POST /webhooks' && answer.status === 201)
        expectStatus(await call(server, `DELETE /webhooks/${answer.body.id}`, { token }), 204);
    });
  }
});

function compare(answer: Answer, { status, fields = {}, violations, headers = {}, listsSites }: Expected): void {
  expectStatus(answer, status);
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(answer.body[name], value, name);
  if (listsSites !== undefined) {
    const [list, siteIds] = listsSites;
    const found = new Set<string>(answer.body[list].map(({ site_id }: Json) => site_id));
    assert.deepEqual([...found].toSorted(), siteIds.toSorted());
  }
  for (const [name, value] of Object.entries(headers)) assert.equal(answer.headers.get(name), value, name);
  if (violations === undefined) return;
  const found = answer.body.details.map(({ attribute }: Json) => attribute).toSorted();
  assert.deepEqual(found, violations.toSorted(), JSON.stringify(answer.body.details));
}

test('1.7 every spelling of content_available decides whether the push is silent', async () => {
  const stage = await ApnsFixture.open();
  try {
    const { apple, sender } = await stage.startAppleAndSender();
    for (const [value, type] of [
      ['1', 'background'],
      ['TRUE', 'background'],
      ['true', 'background'],
      ['0', 'alert'],
      ['False', 'alert'],
    ] as const) {
      const body = push(`env=sandbox&content_available=${value}&badge=1`);
      const { id, url } = expectStatus(await call(server, 'POST /webhooks', { token: account.admin, body }), 201).body;
      const target = parseApnsUrl(url);
      assert.ok(!('faults' in target));
      assert.equal((await sender.send(delivery(target))).verdict, 'delivered');
      const sent = apple.pushes.at(-1);
      assert.deepEqual(
        [sent?.headers['apns-push-type'], sent?.json.aps['content-available'], sent?.json.content_available],
        type === 'background' ? [type, 1, true] : [type, undefined, false],
        value,
      );
      expectStatus(await call(server, `DELETE /webhooks/${id}`, { token: account.admin }), 204);
    }
  } finally {
    await stage.cleanUp();
    await stage.close();
  }
});

test('1.8 rank: null removes an operator who left the site, and what GET returned may be sent back', async () => {
  const here = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const gone = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const path = `/queues/${queue}/rankings`;
  const patch = async (operators: Json): Promise<Answer> =>
    call(server, `PATCH ${path}`, { token: account.admin, body: { operators } });
  expectStatus(await patch([here, gone].map(({ id }, index) => ({ id, rank: index + 1 }))), 200);
  const assignments = [{ site_id: second, role: 'operator' }];
  expectStatus(await call(server, `PATCH /operators/${gone.id}`, { token: account.admin, body: { assignments } }), 200);
  const shown = expectStatus(await call(server, `GET ${path}`, { token: account.admin }), 200).body;
  assert.equal(shown.operators.length, 2);
  assert.deepEqual(expectStatus(await patch(shown.operators), 200).body, shown);
  const other = expectStatus(await patch([{ id: gone.id, rank: 5 }]), 422).body;
  assert.equal(other.details[0].attribute, '/operators/0/id');
  // Repeating the request gives the same result.
  for (const _ of [1, 2])
    assert.deepEqual(expectStatus(await patch([{ id: gone.id, rank: null }]), 200).body.operators, [
      { id: here.id, rank: 1 },
    ]);
  expectStatus(await patch([{ id: randomUUID(), rank: null }]), 422);
});

test('1.9 the response of a POST may be sent in another POST, for every resource', async () => {
  const team = { site_id: account.siteId, name: 'Team' };
  const created: readonly (readonly [string, Json])[] = [
    ['/teams', team],
    ['/sites', { name: 'Site' }],
    ['/queues', newQueue({})],
    ['/queues/scheduling_policies', newPolicy()],
    ['/operators', { name: 'A', email: `${randomUUID()}@test`, assignments: [] }],
    ['/webhooks', webhookFields],
    ['/webhooks', apnsFields],
    ['/sip_domains', { site_id: account.siteId, domain: `${randomUUID()}.example` }],
  ];
  for (const [path, body] of created) {
    const first = expectStatus(await call(server, `POST ${path}`, { token: account.admin, body }), 201).body;
    const other = path === '/operators' ? { email: `${randomUUID()}@test` } : path === '/sip_domains' ? { domain: `${randomUUID()}.example` } : {}; // prettier-ignore
    const again = await call(server, `POST ${path}`, { token: account.admin, body: { ...first, ...other } });
    assert.notEqual(expectStatus(again, 201).body.id, first.id, path);
    const wrong = await call(server, `POST ${path}`, { token: account.admin, body: { ...first, ...other, odd: 1 } });
    assert.deepEqual(
      expectStatus(wrong, 422).body.details.map(({ attribute }: Json) => attribute),
      ['/odd'],
      path,
    );
  }
});

test('1.11 the webhook of the sample data does not count towards the limit of ten', async () => {
  const own = await makeAccount(server);
  expectStatus(await call(server, 'POST /sample_data', { token: own.admin }), 201);
  const { webhooks } = expectStatus(await call(server, 'GET /webhooks', { token: own.admin }), 200).body;
  assert.equal(webhooks.length, 1);
  const register = async (): Promise<Answer> =>
    call(server, 'POST /webhooks', { token: own.admin, body: webhookFields });
  for (let n = 0; n < 10; n += 1) expectStatus(await register(), 201);
  assert.equal(expectStatus(await register(), 409).body.error, 'webhook_limit');
  // The webhook of the sample data cannot get another URL.
  const { secret: _, ...sample } = webhooks[0];
  const moved = { ...sample, url: 'http://127.0.0.1:9/mine' };
  const answer = await call(server, `PUT /webhooks/${sample.id}`, { token: own.admin, body: moved });
  assert.equal(expectStatus(answer, 422).body.details[0].attribute, '/url');
  expectStatus(await call(server, `PUT /webhooks/${sample.id}`, { token: own.admin, body: sample }), 200);
  expectStatus(await call(server, 'DELETE /sample_data', { token: own.admin }), 202);
});

test('2.2 unknown fields of a message are refused', async () => {
  const answer = expectStatus(await say(chat, chat.visitor, { content: 'Hi', colour: 'red' }), 422).body;
  assert.equal(answer.details[0].attribute, '/colour');
});
