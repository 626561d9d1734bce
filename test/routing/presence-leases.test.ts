import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster } from '../support/processes/cluster.ts';
import { openFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { intervalsOf, nextInstant, intervalSummaries } from '../support/people/presence.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  makeTeam,
  setPresence,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

/** The seconds by type in the statistic, from an hour ago to an hour from now. */
async function timeOf(own: TestAccount, operatorId: string): Promise<Record<string, number>> {
  const hour = 3_600_000;
  const answer = await call(server, 'POST /operators/stats/online_duration', {
    token: own.admin,
    body: {
      start_date: new Date(Date.now() - hour).toISOString(),
      end_date: new Date(Date.now() + hour).toISOString(),
      dimensions: ['type'],
      filter: { type: 'selector', dimension: 'operator_id', value: operatorId },
    },
  });
  return Object.fromEntries(expectStatus(answer, 200).body.map(({ type, seconds }: Json) => [type, seconds]));
}

test('the interval ends when the lease ends, also for operators who are away', async () => {
  const own = await makeAccount(server);
  const available = await makeAvailableOperator(server, own, { expires_in_sec: 1 });
  const away = await makeAvailableOperator(server, own, { available: false, reason: 'Lunch', expires_in_sec: 1 });
  const leases = new Map<string, Date>();
  for (const { id } of [available, away]) {
    const { body } = await call(server, `GET /operators/${id}`, { token: own.admin });
    leases.set(id, new Date(body.presence_expires_at));
  }
  for (const { id } of [available, away]) {
    await until(async () => (await intervalsOf(server, id)).at(-1)?.ended_at !== null);
    assert.deepEqual((await intervalsOf(server, id)).at(-1)?.ended_at, leases.get(id));
  }
  // The operator is back: the time in between belongs to no interval.
  await setPresence(server, available);
  const [first, second, ...others] = await intervalsOf(server, available.id);
  assert.deepEqual(others, []);
  assert.ok((first?.ended_at ?? Infinity) < (second?.started_at ?? 0));
});

test('an operator who missed an offer at an open console stays online: the feed renews the lease', async () => {
  const own = await makeAccount(server);
  const site = { token: own.admin, body: { reactive_call_timeout: 1 } };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, site), 200);
  const operator = await makeAvailableOperator(server, own, { expires_in_sec: 5 });
  const read = async (): Promise<Json> =>
    expectStatus(await call(server, `GET /operators/${operator.id}`, { token: own.admin }), 200).body;
  await using desk = await openFeed(server, { token: operator.token, query: '?hold_presence=true' });
  await enqueue(server, own, await makeQueue(server, own));
  await until(async () => (await read()).presence_reason === 'missed_call');
  const { presence_expires_at: lease } = await read();
  await until(async () => (await read()).presence_expires_at > lease, 20_000);
  const { available, presence_reason: reason } = await read();
  assert.deepEqual([available, reason], [false, 'missed_call']);
  assert.equal((await intervalSummaries(server, operator.id)).at(-1), 'missed_call…');
  await until(async () => ((await timeOf(own, operator.id))['missed_call'] ?? 0) >= 1);
  await desk.close();
});

test('an operator who is away and closes the console is offline when the lease ends, without an event', async () => {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own, { expires_in_sec: 30 });
  await nextInstant();
  await setPresence(server, operator, { available: false, reason: 'Lunch', expires_in_sec: 2 });
  const read = async (): Promise<Json> =>
    expectStatus(await call(server, `GET /operators/${operator.id}`, { token: own.admin }), 200).body;
  const before = await read();
  await using manager = await openFeed(server, { token: own.admin });
  await until(async () => (await intervalsOf(server, operator.id)).at(-1)?.ended_at !== null);
  assert.deepEqual(await read(), before);
  assert.equal((await timeOf(own, operator.id))['Lunch'], 2);
  // A later item on the feed shows that no item about the operator came before it.
  const other = await makeAvailableOperator(server, own);
  await manager.until(({ type, data }) => type === 'operator.state' && data.id === other.id);
  assert.equal(manager.items.some(({ type, data }) => type === 'operator.state' && data.id === operator.id), false); // prettier-ignore
  // The operator opens the console during lunch: they are online again, but still unavailable.
  await using desk = await openFeed(server, { token: operator.token, query: '?hold_presence=true' });
  const { presence_expires_at: lease, ...rest } = await read();
  assert.deepEqual({ ...rest, presence_expires_at: before.presence_expires_at }, before);
  assert.ok(Date.parse(lease) > Date.now());
  assert.equal((await intervalSummaries(server, operator.id)).at(-1), 'Lunch…');
  await desk.close();
});

test('a change of teams does not renew presence: an offline operator stays offline', async () => {
  const own = await makeAccount(server);
  const team = await makeTeam(server, own, own.siteId);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const { sql } = server.database;
  // The state that the console of an earlier version left: away, without a lease and without an interval.
  await sql`UPDATE operators SET available = false, presence_set_at = now() WHERE id = ${operator.id}`;
  await sql`DELETE FROM presence_intervals WHERE operator_id = ${operator.id}`;
  const body = { assignments: [{ site_id: own.siteId, role: 'operator', team_ids: [team] }] };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  assert.deepEqual(await intervalSummaries(server, operator.id), []);
});

test('after a process is killed the lease ends the interval, and another process continues', async () => {
  await using cluster = await startCluster(2);
  // The other process serves, so this is no outage (D5.15).
  const [first = assert.fail(), other = assert.fail()] = cluster.nodes;
  const reached = cluster.reach(first);
  const own = await makeAccount(reached);
  const leased = await makeAvailableOperator(reached, own, { expires_in_sec: 2 });
  const lasting = await makeAvailableOperator(reached, own, { media: ['text'] });
  const operator = expectStatus(await call(reached, `GET /operators/${leased.id}`, { token: own.admin }), 200).body;
  await first.stop('SIGKILL');
  const lease = new Date(operator.presence_expires_at);
  await until(() => Date.now() > lease.getTime() + 200);
  const second = cluster.reach(other);
  const range = `from=${new Date(Date.now() - 60_000).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`;
  const path = `GET /operators/presence_intervals?site_ids[]=${own.siteId}&${range}`;
  const read = async (): Promise<Json[]> =>
    expectStatus(await call(second, path, { token: own.admin }), 200).body.presence_intervals;
  const ends = new Map((await read()).map(({ operator_id, ended_at }) => [operator_id, ended_at]));
  assert.deepEqual([ends.get(leased.id), ends.get(lasting.id)], [lease.toISOString(), null]);
  // The operator is back after the crash: the old interval still ends with the lease.
  await setPresence(second, leased);
  const kept = await intervalsOf(second, leased.id);
  assert.deepEqual(kept[0]?.ended_at, lease);
  assert.ok((kept[1]?.started_at ?? 0) > lease);
  assert.equal(kept.length, 2);
});
