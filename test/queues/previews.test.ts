import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Answer, type Json } from '../support/server.ts';
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
  policyFields,
  queueFields,
  type TestAccount,
} from '../support/world.ts';

let account: TestAccount;

const server = await forThisFile(startTestServer());

const ask = async (path: string, body: Json, token = account.admin): Promise<Answer> =>
  call(server, `POST ${path}`, { token, body });
const suppose = async (fields: Json = {}): Promise<Json> =>
  expectStatus(await ask('/queues/preview', { site_id: account.siteId, ...queueFields, ...fields }), 200).body;

test('a preview uses the current staff, visitors and hours, and changes nothing', async () => {
  account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const before = await server.database.sql`SELECT xmin, queues.* FROM queues`;
  assert.equal((await suppose()).self_status, 'unstaffed');
  assert.equal((await suppose({ when_unstaffed: 'accept' })).self_status, 'opened');
  await enqueue(server, account, queue);
  await makeAvailableOperator(server, account, { media: ['audio'] });
  await makeAvailableOperator(server, account, { media: ['video'] });
  const variable = { capacity_policy: { type: 'variable', multiplier: 1.6 } };
  const seen = await suppose(variable);
  assert.deepEqual([seen.staff, seen.capacity, seen.self_status, seen.visitors_count], [2, 3, 'opened', 0]);
  const narrow = await suppose({ ...variable, routing_policy: { media: ['audio'] } });
  assert.deepEqual([narrow.staff, narrow.capacity, narrow.available_properties.media], [1, 1, ['audio']]);
  const full = await suppose({ id: queue, capacity_policy: { type: 'fixed', capacity: 1 } });
  assert.deepEqual([full.visitors_count, full.self_status], [1, 'full']);
  const closed = await makePolicy(server, account, {
    business_hours: [{ opens_at: '09:00', closes_at: '09:01', days_of_week: ['mon'] }],
    exceptions: [{ date: '2020-01-01' }],
  });
  const shut = await suppose({ scheduling_policy_id: closed });
  assert.deepEqual([shut.within_hours, shut.self_status], [false, 'closed']);
  assert.match(shut.hours_change_at, /T0[67]:0[01]:00.000Z$/);
  assert.deepEqual((await suppose()).hours_change_at, null);
  assert.deepEqual(await server.database.sql`SELECT xmin, queues.* FROM queues`, before);
});

test('fields left out of a preview keep the value of the queue, as in an update', async () => {
  account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  assert.equal((await suppose({ id: queue })).self_status, 'opened');
  assert.equal((await suppose({ id: queue, when_unstaffed: null })).self_status, 'unstaffed');
});

test('a preview shows the fallback chain with the status of each queue, and a cycle with its path', async () => {
  account = await makeAccount(server);
  const c = await makeQueue(server, account, { name: 'C', when_unstaffed: 'accept' });
  const b = await makeQueue(server, account, { name: 'B', fallback_queue_id: c });
  const a = await makeQueue(server, account, { name: 'A', fallback_queue_id: b });
  const path = (seen: Json): unknown => seen.fallback_path.map((link: Json) => [link.name, link.self_status]);
  const chained = await suppose({ fallback_queue_id: a });
  assert.deepEqual(path(chained), [
    ['A', 'unstaffed'],
    ['B', 'unstaffed'],
    ['C', 'opened'],
  ]);
  assert.deepEqual([chained.self_status, chained.status, chained.violations], ['unstaffed', 'opened', []]);
  const circle = await suppose({ id: c, name: 'C', when_unstaffed: 'accept', fallback_queue_id: a });
  assert.deepEqual(path(circle), [
    ['A', 'unstaffed'],
    ['B', 'unstaffed'],
    ['C', 'opened'],
  ]);
  assert.deepEqual(circle.violations, [
    { attribute: '/fallback_queue_id', detail: `would form a cycle: ${[c, a, b, c].join(' → ')}` },
  ]);
  const itself = await suppose({ id: c, fallback_queue_id: c });
  assert.deepEqual(itself.violations, [{ attribute: '/fallback_queue_id', detail: `would form a cycle: ${c} → ${c}` }]);
});

test('a preview lists violations, and does not read what the caller may not see', async () => {
  const stranger = await makeAccount(server);
  const theirs = await makeQueue(server, stranger, { name: 'Secret' });
  const never = await makePolicy(server, stranger, {
    business_hours: [{ opens_at: '09:00', closes_at: '09:01', days_of_week: ['mon'] }],
  });
  account = await makeAccount(server);
  const team = await makeTeam(server, account, account.siteId);
  const seen = await suppose({
    routing_policy: { team_ids: [team, stranger.siteId] },
    scheduling_policy_id: never,
    fallback_queue_id: theirs,
  });
  assert.deepEqual(seen.violations, [
    { attribute: '/routing_policy/team_ids/1', detail: 'is not a team of the site' },
    { attribute: '/scheduling_policy_id', detail: 'is not a scheduling policy of the site' },
    { attribute: '/fallback_queue_id', detail: 'is not a queue of a site where the caller is super_manager' },
  ]);
  assert.deepEqual([seen.within_hours, seen.hours_change_at, seen.fallback_path], [true, null, []]);
  const body = { site_id: account.siteId, ...queueFields };
  assert.equal((await ask('/queues/preview', { ...body, id: theirs })).status, 404);
  assert.equal((await ask('/queues/preview', { ...body, capacity_policy: { type: 'fixed' } })).status, 422);
  assert.equal((await ask('/queues/preview', { ...body, welcome_message: '{}' })).status, 422);
});

test('a fallback on a site where the caller has no role is shown without its name', async () => {
  account = await makeAccount(server);
  const site = await makeSite(server, account);
  const there = await makeQueue(server, { ...account, siteId: site }, { name: 'Elsewhere' });
  const queue = await makeQueue(server, account, { fallback_queue_id: there });
  const boss = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  const body = { site_id: account.siteId, ...queueFields, id: queue };
  const seen = expectStatus(await ask('/queues/preview', body, boss.token), 200).body;
  assert.deepEqual([seen.violations, seen.fallback_path.length, seen.fallback_path[0].name], [[], 1, null]);
});

test('unsaved hours are previewed day by day with the clock change', async () => {
  account = await makeAccount(server);
  const { timezone, business_hours } = policyFields;
  const body = { site_id: account.siteId, timezone, business_hours };
  const path = '/queues/scheduling_policies/preview';
  const around = { ...body, from: '2027-10-29T12:00:00Z', days: 4, exceptions: [{ date: '2027-11-01' }] };
  const seen = expectStatus(await ask(path, around), 200).body;
  assert.deepEqual(seen.days[2], {
    date: '2027-10-31',
    starts_at: '2027-10-30T21:00:00.000Z',
    ends_at: '2027-10-31T22:00:00.000Z',
  });
  assert.deepEqual(seen.intervals, [{ opens_at: '2027-10-29T06:00:00.000Z', closes_at: '2027-10-29T14:00:00.000Z' }]);
  assert.deepEqual(seen.clock_changes, [
    { at: '2027-10-31T01:00:00.000Z', offset_before_sec: 10_800, offset_after_sec: 7_200 },
  ]);
  const plain = expectStatus(await ask(path, body), 200).body;
  assert.equal(plain.days.length, 14);
  assert.equal(typeof plain.open, 'boolean');
  assert.ok(Date.parse(plain.next_change_at) > Date.now());
  assert.equal(
    (await server.database.sql`SELECT 1 FROM scheduling_policies WHERE site_id = ${account.siteId}`).length,
    0,
  );
});

test('invalid hours are refused with a violation per field', async () => {
  account = await makeAccount(server);
  const { timezone, business_hours } = policyFields;
  const body = { site_id: account.siteId, timezone, business_hours };
  const refused = async (fields: Json): Promise<string[]> =>
    expectStatus(await ask('/queues/scheduling_policies/preview', { ...body, ...fields }), 422).body.details.map(
      ({ attribute }: Json) => attribute,
    );
  assert.deepEqual(await refused({ timezone: 'Mars/Olympus' }), ['/timezone']);
  assert.deepEqual(await refused({ business_hours: [] }), ['/business_hours']);
  assert.deepEqual(await refused({ days: 32 }), ['/days']);
  assert.deepEqual(await refused({ from: '2026-12-31T23:59:60Z' }), ['/from']);
  assert.deepEqual(await refused({ exceptions: [{ date: '2027-02-30' }] }), ['/exceptions/0/date']);
  const many = Array.from({ length: 700 }, (_, i) => {
    const time = (minute: number): string =>
      `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
    return {
      opens_at: time(i * 2),
      closes_at: time(i * 2 + 1),
      days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
    };
  });
  assert.deepEqual(await refused({ business_hours: many, days: 31 }), ['/business_hours']);
});
