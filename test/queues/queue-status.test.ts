import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import { SiteQueues } from '../../packages/server/src/queues/site-queues.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makePolicy,
  makeQueue,
  makeTeam,
  policyFields,
  queueFields,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

async function read(id: string, who: TestAccount): Promise<Json> {
  return expectStatus(await call(server, `GET /queues/${id}`, { token: who.admin }), 200).body;
}

async function list(who: TestAccount): Promise<Json[]> {
  return expectStatus(await call(server, `GET /queues?site_ids[]=${who.siteId}`, { token: who.admin }), 200).body
    .queues;
}

test('D1, D2 the status follows changes of operators, visitors, capacity and fallback', async () => {
  const own = await makeAccount(server);
  const team = await makeTeam(server, own, own.siteId);
  const fallback = await makeQueue(server, own, { name: 'Fallback', routing_policy: { media: ['phone'] } });
  const id = await makeQueue(server, own, {
    capacity_policy: { type: 'variable', multiplier: 1 },
    routing_policy: { media: ['text'], team_ids: [team] },
    fallback_queue_id: fallback,
  });
  const inTeam = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator', team_ids: [team] }]);
  const outside = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const present = async (operator: { id: string; token: string }, body: unknown) =>
    expectStatus(await call(server, `PUT /operators/${operator.id}/presence`, { token: operator.token, body }), 200);
  const seen = async (): Promise<unknown> => {
    const queue = await read(id, own);
    assert.deepEqual(
      (await list(own)).find((listed) => listed.id === id),
      queue,
    );
    return [queue.self_status, queue.status, queue.capacity, queue.available_properties.media.join()];
  };
  assert.deepEqual(await seen(), ['unstaffed', 'unstaffed', 0, '']);
  await present(outside, { available: true, media: ['phone'] });
  assert.deepEqual(await seen(), ['unstaffed', 'opened', 0, 'phone']);
  await present(inTeam, { available: true, media: ['audio'] });
  assert.deepEqual(await seen(), ['unstaffed', 'opened', 0, 'phone']);
  await present(inTeam, { available: true, media: ['text', 'audio'] });
  assert.deepEqual(await seen(), ['opened', 'opened', 1, 'text,phone']);
  const member = { site_id: own.siteId, team_ids: [team] };
  const visitor = expectStatus(await call(server, 'POST /visitors', { token: own.admin, body: member }), 200).body;
  await enqueue(server, own, id, { id: visitor.id, token: visitor.access_token });
  assert.deepEqual(await seen(), ['full', 'opened', 1, 'phone']);
  assert.equal((await read(id, own)).visitors_count, 1);
  await present(outside, { available: false });
  assert.deepEqual(await seen(), ['full', 'full', 1, '']);
  const engagement = await acceptOffer(server, inTeam);
  assert.deepEqual(await seen(), ['opened', 'opened', 1, 'text']);
  const [row] = await server.database.sql<{ wait: number }[]>`
    SELECT extract(epoch FROM e.started_at - t.enqueued_at)::float8 AS wait
      FROM engagements e JOIN queue_tickets t ON t.id = e.ticket_id WHERE e.id = ${engagement}`;
  assert.ok(row !== undefined && row.wait > 0);
  assert.equal((await read(id, own)).average_wait_time, row.wait);
  expectStatus(await call(server, `DELETE /operators/${inTeam.id}`, { token: own.admin }), 204);
  assert.deepEqual(await seen(), ['unstaffed', 'unstaffed', 0, '']);
});

test('D5.5 the end of a lease removes the operator from the staff of the queue without any request', async () => {
  const own = await makeAccount(server);
  const id = await makeQueue(server, own);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const body = { available: true, expires_in_sec: 1 };
  expectStatus(await call(server, `PUT /operators/${operator.id}/presence`, { token: operator.token, body }), 200);
  assert.equal((await list(own))[0].status, 'opened');
  await until(async () => (await list(own))[0].status === 'unstaffed', 3_000);
  assert.equal((await read(id, own)).status, 'unstaffed');
});

test('D1.5, D6 a queue opens and closes with its hours and with changes of its policy', async () => {
  const own = await makeAccount(server);
  const always = [
    { opens_at: '00:00', closes_at: '24:00', days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] },
  ];
  const policy = await makePolicy(server, own, { business_hours: always });
  const id = await makeQueue(server, own, { when_unstaffed: 'accept', scheduling_policy_id: policy });
  assert.equal((await list(own))[0].status, 'opened');
  const today = new Date().toLocaleDateString('sv-SE', { timeZone: 'Europe/Tallinn' });
  const near = [-1, 0, 1].map((days) => ({
    date: new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10),
  }));
  const change = { ...policyFields, business_hours: always, exceptions: near };
  expectStatus(
    await call(server, `PUT /queues/scheduling_policies/${policy}`, { token: own.admin, body: change }),
    200,
  );
  assert.deepEqual([(await list(own))[0].self_status, (await read(id, own)).self_status], ['closed', 'closed']);
  const unset = { ...policyFields, business_hours: always, exceptions: null };
  expectStatus(await call(server, `PUT /queues/scheduling_policies/${policy}`, { token: own.admin, body: unset }), 200);
  assert.equal((await list(own))[0].status, 'opened');
});

test('a change made in one process is seen in another', async () => {
  const other = await startTestServer({}, server.database.address);
  try {
    const own = await makeAccount(server);
    const id = await makeQueue(server, own);
    const name = async () =>
      (await call(other, `GET /queues?site_ids[]=${own.siteId}`, { token: own.admin })).body.queues[0].name;
    assert.equal(await name(), 'Queue');
    expectStatus(
      await call(server, `PUT /queues/${id}`, { token: own.admin, body: { ...queueFields, name: 'Other' } }),
      200,
    );
    await until(async () => (await name()) === 'Other', 1_000);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('D6 a status changes with the minute, whether or not it was read in between', async () => {
  const own = await makeAccount(server);
  const policy = await makePolicy(server, own, {
    timezone: 'Europe/Tallinn',
    business_hours: [{ opens_at: '09:00', closes_at: '17:00', days_of_week: ['mon'] }],
  });
  await makeQueue(server, own, { when_unstaffed: 'accept', scheduling_policy_id: policy });
  const [row] = await server.database.sql<{ account_id: AccountId }[]>`
    SELECT account_id FROM sites WHERE id = ${own.siteId}`;
  assert.ok(row);
  const opens = Date.parse('2027-01-04T09:00:00+02:00');
  const closes = Date.parse('2027-01-04T17:00:00+02:00');
  const status = async (queues: SiteQueues, now: number): Promise<string | undefined> =>
    (await queues.list(row.account_id, own.siteId, now))[0]?.status;
  const watching = new SiteQueues(server.database.sql, server.changes, server.clock);
  for (const [now, expected] of [
    [opens - 1, 'closed'],
    [opens, 'opened'],
    [closes - 1, 'opened'],
    [closes, 'closed'],
    [opens + 7 * 86_400_000, 'opened'],
  ] as const) {
    assert.equal(await status(watching, now), expected, new Date(now).toISOString());
    // A process that was down until then sees the same at its first look.
    assert.equal(await status(new SiteQueues(server.database.sql, server.changes, server.clock), now), expected);
  }
});
