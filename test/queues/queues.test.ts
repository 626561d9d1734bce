import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call, type Json } from '../support/server.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makePolicy,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  offersOf,
  queueFields,
  type TestAccount,
} from '../support/world.ts';

const { server, account } = await openWorld();
const token = account.admin;

async function read(id: string, who = account): Promise<Json> {
  return expectStatus(await call(server, `GET /queues/${id}`, { token: who.admin }), 200).body;
}

async function list(who: TestAccount): Promise<Json[]> {
  return expectStatus(await call(server, `GET /queues?site_ids[]=${who.siteId}`, { token: who.admin }), 200).body
    .queues;
}

test('D2.6, D7.1 a new queue is closed, rejects visitors without staff, and has null for unset fields', async () => {
  const own = await makeAccount(server);
  const body = { site_id: own.siteId, ...queueFields };
  const created = expectStatus(await call(server, 'POST /queues', { token: own.admin, body }), 201);
  const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = created.body;
  assert.equal(created.headers.get('location'), `/queues/${id}`);
  assert.equal(created.headers.get('etag'), '"1"');
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(rest, {
    site_id: own.siteId,
    name: 'Queue',
    description: null,
    capacity: 10,
    capacity_policy: { type: 'fixed', capacity: 10 },
    routing_policy: {},
    available_properties: { media: [] },
    status: 'closed',
    self_status: 'closed',
    when_unstaffed: 'reject',
    operator_ranking_enabled: false,
    welcome_message: null,
    scheduling_policy_id: null,
    fallback_queue_id: null,
    operator_affinity: null,
    staffed: false,
    visitors_count: 0,
    average_wait_time: 0,
  });
  assert.deepEqual(await read(id, own), { ...created.body, status: 'unstaffed', self_status: 'unstaffed' });
  assert.deepEqual(await list(own), [await read(id, own)]);
});

test('D2.7 every field is written and read, kept if left out, and unset by null', async () => {
  const team = await makeTeam(server, account, account.siteId);
  const card = JSON.stringify({
    content: 'Hello',
    attachment: { type: 'single_choice', options: [{ text: 'Yes', value: 'y' }] },
  });
  const all = {
    ...queueFields,
    description: 'Describes',
    capacity: 99,
    capacity_policy: { type: 'variable', multiplier: 1.5 },
    routing_policy: { media: ['video', 'text', 'text'], team_ids: [team, team] },
    when_unstaffed: 'accept',
    operator_ranking_enabled: true,
    welcome_message: card,
    scheduling_policy_id: await makePolicy(server, account),
    fallback_queue_id: await makeQueue(server, account),
    operator_affinity: { time_window_sec: 345_600 },
  };
  const id = await makeQueue(server, account, all);
  const stored = await read(id);
  const { capacity: _ignored, ...expected } = {
    ...all,
    routing_policy: { media: ['text', 'video'], team_ids: [team] },
  };
  for (const [field, value] of Object.entries(expected)) assert.deepEqual(stored[field], value, field);
  assert.equal(stored.capacity, 0);

  const kept = expectStatus(
    await call(server, `PUT /queues/${id}`, { token, body: { ...queueFields, name: 'Renamed' } }),
    200,
  ).body;
  for (const field of [
    'description',
    'when_unstaffed',
    'welcome_message',
    'scheduling_policy_id',
    'fallback_queue_id',
    'operator_affinity',
    'operator_ranking_enabled',
  ]) {
    assert.deepEqual(kept[field], stored[field], field);
  }
  assert.deepEqual(
    [kept.name, kept.routing_policy, kept.capacity_policy],
    ['Renamed', {}, { type: 'fixed', capacity: 10 }],
  );
  assert.notEqual(kept.updated_at, stored.updated_at);
  assert.equal(kept.created_at, stored.created_at);

  const echoed = expectStatus(await call(server, `PUT /queues/${id}`, { token, body: await read(id) }), 200).body;
  assert.equal(echoed.name, 'Renamed');
  const nulls = Object.fromEntries(
    [
      'description',
      'capacity',
      'when_unstaffed',
      'operator_ranking_enabled',
      'welcome_message',
      'scheduling_policy_id',
      'fallback_queue_id',
      'operator_affinity',
    ].map((field) => [field, null]),
  );
  const unset = expectStatus(
    await call(server, `PUT /queues/${id}`, { token, body: { ...queueFields, ...nulls } }),
    200,
  ).body;
  assert.deepEqual(
    [
      unset.description,
      unset.when_unstaffed,
      unset.operator_ranking_enabled,
      unset.welcome_message,
      unset.scheduling_policy_id,
      unset.fallback_queue_id,
      unset.operator_affinity,
    ],
    [null, 'reject', false, null, null, null, null],
  );
});

test('the list has the queues of the requested sites, all at once or by page; a visitor sees their own site', async () => {
  const own = await makeAccount(server);
  const second = await makeSite(server, own);
  const ids = [];
  for (let made = 0; made < 3; made += 1) ids.push(await makeQueue(server, own, { name: `Q${made}` }));
  const there = await makeQueue(server, own, { site_id: second });
  const both = await call(server, `GET /queues?site_ids[]=${own.siteId}&site_ids[]=${second}`, { token: own.admin });
  assert.deepEqual(
    both.body.queues.map((queue: Json) => queue.id),
    [...ids, there],
  );
  assert.equal(both.body.next_page, null);
  const page = await call(server, `GET /queues?site_ids[]=${own.siteId}&per_page=2`, { token: own.admin });
  assert.deepEqual(
    page.body.queues.map((queue: Json) => queue.id),
    ids.slice(0, 2),
  );
  const rest = await call(server, `GET ${page.body.next_page.slice(server.url.length)}`, { token: own.admin });
  assert.deepEqual([rest.body.queues.map((queue: Json) => queue.id), rest.body.next_page], [ids.slice(2), null]);
  const visitor = await makeVisitor(server, own);
  expectStatus(await call(server, `GET /queues?site_ids[]=${own.siteId}`, { token: visitor.token }), 200);
  expectStatus(
    await call(server, `GET /queues?site_ids[]=${own.siteId}&site_ids[]=${second}`, { token: visitor.token }),
    404,
  );
  const missing = await call(server, 'GET /queues', { token: own.admin });
  assert.equal(expectStatus(missing, 422).body.details[0].attribute, '/site_ids');
  assert.equal((await call(server, 'GET /queues?site_ids[]=', { token: own.admin })).status, 422);
});

test('a fallback may be on another site of the account where the caller is super_manager', async () => {
  const own = await makeAccount(server);
  const second = await makeSite(server, own);
  const there = await makeQueue(server, own, { site_id: second, when_unstaffed: 'accept' });
  const id = await makeQueue(server, own, { fallback_queue_id: there });
  assert.deepEqual([(await read(id, own)).self_status, (await read(id, own)).status], ['unstaffed', 'opened']);
  const half = await makeOperator(server, own, [{ site_id: own.siteId, role: 'super_manager' }]);
  const foreign = await makeQueue(server, account);
  for (const fallback of [there, foreign, randomUUID()]) {
    const body = { site_id: own.siteId, ...queueFields, fallback_queue_id: fallback };
    const refused = expectStatus(await call(server, 'POST /queues', { token: half.token, body }), 422);
    assert.equal(refused.body.details[0].attribute, '/fallback_queue_id');
  }
});

test('rankings have an ETag of their content, and If-Match protects a change from another one', async () => {
  const id = await makeQueue(server, account);
  const path = `/queues/${id}/rankings`;
  const token = account.admin;
  const { id: operator } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const rank = async (value: number | null, headers: Record<string, string> = {}) =>
    call(server, `PATCH ${path}`, { token, body: { operators: [{ id: operator, rank: value }] }, headers });
  const empty = expectStatus(await call(server, `GET ${path}`, { token }), 200).headers.get('etag') ?? '';
  assert.match(empty, /^"[\w-]{22}"$/);
  const first = expectStatus(await rank(1, { 'if-match': empty }), 200).headers.get('etag') ?? '';
  assert.notEqual(first, empty);
  const late = expectStatus(await rank(2, { 'if-match': empty }), 412);
  assert.deepEqual([late.body.error, late.headers.get('etag')], ['precondition_failed', first]);
  expectStatus(await rank(2, { 'if-match': `"another", ${first}` }), 200);
  expectStatus(await rank(3, { 'if-match': 'unquoted' }), 400);
  expectStatus(await rank(null, { 'if-match': '*' }), 200);
  assert.equal((await call(server, `GET ${path}`, { token })).headers.get('etag'), empty);
});

test('rankings change all at once or not at all, only for operators of the site; null removes an operator, and one who left may stay', async () => {
  const own = await makeAccount(server);
  const id = await makeQueue(server, own, { operator_ranking_enabled: true });
  const assigned = [{ site_id: own.siteId, role: 'operator' }];
  const [a, b] = [await makeOperator(server, own, assigned), await makeOperator(server, own, assigned)];
  const path = `/queues/${id}/rankings`;
  const patch = async (operators: unknown) => call(server, `PATCH ${path}`, { token: own.admin, body: { operators } });
  const ranks = async () => (await call(server, `GET ${path}`, { token: own.admin })).body.operators;
  assert.deepEqual(await ranks(), []);
  const set = expectStatus(
    await patch([
      { id: a.id, rank: 10 },
      { id: b.id, rank: 1 },
    ]),
    200,
  );
  assert.deepEqual(set.body, {
    operators: [
      { id: b.id, rank: 1 },
      { id: a.id, rank: 10 },
    ],
  });
  const refused = expectStatus(
    await patch([
      { id: a.id, rank: 2 },
      { id: account.adminId, rank: 3 },
      { id: a.id, rank: 4 },
    ]),
    422,
  );
  assert.deepEqual(refused.body.details, [
    { attribute: '/operators/1/id', detail: 'is not an operator assigned to the site of the queue' },
    { attribute: '/operators/2/id', detail: 'is listed twice' },
  ]);
  for (const rank of [0, 11, 1.5, '1', undefined]) {
    const answer = expectStatus(await patch([{ id: a.id, rank }]), 422);
    assert.equal(answer.body.details[0].attribute, '/operators/0/rank');
  }
  assert.deepEqual(await ranks(), set.body.operators);
  assert.deepEqual(expectStatus(await patch([{ id: b.id, rank: null }]), 200).body.operators, [{ id: a.id, rank: 10 }]);
  expectStatus(await call(server, `PATCH /operators/${a.id}`, { token: own.admin, body: { assignments: [] } }), 200);
  assert.deepEqual(await ranks(), [{ id: a.id, rank: 10 }]);
  expectStatus(await call(server, `DELETE /queues/${id}`, { token: own.admin }), 204);
});

test('D7.5 a queue can be deleted only if it is empty and not in use', async () => {
  const own = await makeAccount(server);
  const id = await makeQueue(server, own);
  const remove = async () => call(server, `DELETE /queues/${id}`, { token: own.admin });
  const user = await makeQueue(server, own, { fallback_queue_id: id });
  const phone = await call(server, 'POST /phone_channels', {
    token: own.admin,
    body: { site_id: own.siteId, number: '+3725550001', queue_id: id },
  });
  const digital = await call(server, 'POST /digital_channels', {
    token: own.admin,
    body: { site_id: own.siteId, kind: 'sms', address: 'x', queue_id: id },
  });
  const inUse = expectStatus(await remove(), 409);
  assert.equal(inUse.body.error, 'queue_in_use');
  assert.deepEqual(
    inUse.body.details.map((entry: Json) => entry.detail),
    [
      `is the fallback of queue ${user}`,
      `is used by phone channel ${expectStatus(phone, 201).body.id}`,
      `is used by digital channel ${expectStatus(digital, 201).body.id}`,
    ],
  );
  expectStatus(await call(server, `DELETE /phone_channels/${phone.body.id}`, { token: own.admin }), 204);
  expectStatus(await call(server, `DELETE /digital_channels/${digital.body.id}`, { token: own.admin }), 204);
  expectStatus(
    await call(server, `PUT /queues/${user}`, { token: own.admin, body: { ...queueFields, fallback_queue_id: null } }),
    200,
  );
  const operator = await makeAvailableOperator(server, own);
  const { visitor } = await enqueue(server, own, id);
  assert.equal(expectStatus(await remove(), 409).body.error, 'queue_not_empty');
  const [offer] = await offersOf(server, operator);
  await call(server, `PATCH /engagement_requests/${offer.id}`, { token: visitor.token, body: { action: 'cancel' } });
  const empty = await remove();
  assert.deepEqual([empty.status, empty.body], [204, '']);
  expectStatus(await remove(), 404);
});

test('D7.5 a team in a routing policy and a policy on a queue cannot be deleted', async () => {
  const own = await makeAccount(server);
  const team = await makeTeam(server, own, own.siteId);
  const policy = await makePolicy(server, own);
  const id = await makeQueue(server, own, { routing_policy: { team_ids: [team] }, scheduling_policy_id: policy });
  assert.equal(
    expectStatus(await call(server, `DELETE /teams/${team}`, { token: own.admin }), 409).body.error,
    'team_in_use',
  );
  const refused = expectStatus(
    await call(server, `DELETE /queues/scheduling_policies/${policy}`, { token: own.admin }),
    409,
  );
  assert.deepEqual(
    [refused.body.error, refused.body.details],
    ['policy_in_use', [{ attribute: '/scheduling_policy_id', detail: `is used by queue ${id}` }]],
  );
  expectStatus(
    await call(server, `PUT /queues/${id}`, { token: own.admin, body: { ...queueFields, scheduling_policy_id: null } }),
    200,
  );
  expectStatus(await call(server, `DELETE /teams/${team}`, { token: own.admin }), 204);
  expectStatus(await call(server, `DELETE /queues/scheduling_policies/${policy}`, { token: own.admin }), 204);
});

test('a channel’s number is unique in the account, and its queue must be on the same site', async () => {
  const own = await makeAccount(server);
  const second = await makeSite(server, own);
  const [here, there] = [await makeQueue(server, own), await makeQueue(server, own, { site_id: second })];
  const create = async (body: Json) =>
    call(server, 'POST /phone_channels', { token: own.admin, body: { site_id: own.siteId, ...body } });
  const made = expectStatus(await create({ number: '+3725550002', queue_id: here }), 201).body;
  assert.equal(expectStatus(await create({ number: '+3725550002', queue_id: here }), 409).body.error, 'channel_taken');
  assert.equal(
    expectStatus(await create({ number: '+3725550003', queue_id: there }), 422).body.details[0].attribute,
    '/queue_id',
  );
  expectStatus(await create({ number: '5550003', queue_id: here }), 422);
  const moved = await call(server, `PATCH /phone_channels/${made.id}`, {
    token: own.admin,
    body: { number: '+3725550009' },
  });
  assert.deepEqual([expectStatus(moved, 200).body.number, moved.body.queue_id], ['+3725550009', here]);
  expectStatus(
    await call(server, `PATCH /phone_channels/${made.id}`, { token: own.admin, body: { queue_id: there } }),
    422,
  );
  const listed = await call(server, `GET /phone_channels?site_ids[]=${own.siteId}`, { token: own.admin });
  assert.deepEqual(listed.body, { phone_channels: [moved.body], next_page: null });
});
