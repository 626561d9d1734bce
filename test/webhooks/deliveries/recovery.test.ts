import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startCluster } from '../../support/processes/cluster.ts';
import {
  insertDeliveries,
  insertWebhook,
  waitingDeliveries,
  type TestWebhook,
} from '../../support/receivers/deliveries.ts';
import { openWorld } from '../../support/fixture.ts';
import { call, until, type Answer, type Json } from '../../support/server.ts';
import { leaseElsewhere } from '../../support/receivers/webhooks.ts';
import { expectStatus, makeAccount, type ServerHandle } from '../../support/world.ts';

const { server, account: own } = await openWorld();
const { sql } = server.database;
// Deliveries stay as the tests insert them.
await leaseElsewhere(server);

const minuteMs = 60_000;
/** A transaction id older than any running transaction, so that the recovery starts at once. */
const oldXid = '3';
const patienceMs = 60_000;

async function recover(
  webhook: { id: string },
  body: Json,
  where: ServerHandle = server,
  token = own.admin,
): Promise<Answer> {
  return call(where, `POST /webhooks/${webhook.id}/recover`, { token, body });
}

async function untilEnded({ id, webhook_id }: Json, where: ServerHandle = server, token = own.admin): Promise<Json> {
  let found: Json;
  await until(async () => {
    found = expectStatus(await call(where, `GET /webhooks/${webhook_id}/recoveries/${id}`, { token }), 200).body;
    return found.state !== 'running';
  }, patienceMs);
  return found;
}

async function stateOf({ id, webhook_id }: Json): Promise<string> {
  return (await call(server, `GET /webhooks/${webhook_id}/recoveries/${id}`, { token: own.admin })).body.state;
}

async function recoverAll(webhook: TestWebhook, body: Json): Promise<Json> {
  return untilEnded(expectStatus(await recover(webhook, body), 202).body);
}

test('a recovery includes deliveries whose transaction commits late, with a sequence number it would have passed', async () => {
  const webhook = await insertWebhook(server, own);
  const since = new Date(Date.now() - 5 * minuteMs).toISOString();
  const late: string[] = [];
  let recovery: Json;
  await server.database.sql.begin(async (slow) => {
    late.push(...(await insertDeliveries(slow, webhook, 'held', { count: 1 })));
    late.push(...(await insertDeliveries(sql, webhook, 'held', { count: 3 })));
    recovery = expectStatus(await recover(webhook, { since }), 202).body;
    // A later recovery of another webhook waits too, because the slow transaction may contain its deliveries.
    const other = expectStatus(await recover(await insertWebhook(server, own), { since }), 202).body;
    await assert.rejects(until(async () => (await stateOf(other)) !== 'running', 1_500));
  });
  assert.equal((await untilEnded(recovery)).recovered, 4);
  assert.deepEqual((await waitingDeliveries(sql, webhook)).map(({ id }) => id).toSorted(), late.toSorted());
});

test('a recovery requeues held and exhausted deliveries of its time range in the order of the log, and nothing else', async () => {
  const webhook = await insertWebhook(server, own);
  const start = Date.now() - 60 * minuteMs;
  const at = (minutes: number): { count: number; at: Date; engagementId: string } => ({
    count: 3,
    at: new Date(start + minutes * minuteMs),
    engagementId: randomUUID(),
  });
  await insertDeliveries(sql, webhook, 'held', at(0));
  await insertDeliveries(sql, webhook, 'exhausted', at(1));
  const missed: string[] = [];
  for (const seeded of ['exhausted', 'held', 'exhausted', 'held'] as const)
    missed.push(...(await insertDeliveries(sql, webhook, seeded, at(10 + missed.length))));
  const others: string[] = [];
  for (const seeded of ['delivered', 'discarded', 'retrying', 'pending', 'fresh'] as const)
    others.push(...(await insertDeliveries(sql, webhook, seeded, at(30))));
  const gone = await insertDeliveries(sql, webhook, 'exhausted', at(40));
  await sql`DELETE FROM events WHERE id IN (SELECT event_id FROM delivery_log WHERE delivery_id = ANY(${gone}::uuid[]))`;
  await insertDeliveries(sql, webhook, 'exhausted', at(50));
  await insertDeliveries(sql, webhook, 'held', at(50));
  const { destinationId } = await insertWebhook(server, own);
  await sql`UPDATE webhooks SET destination_id = ${destinationId} WHERE id = ${webhook.id}`;
  const notifications: string[] = [];
  server.changes.on('told', (text) => notifications.push(text));

  const since = new Date(start + 10 * minuteMs).toISOString();
  const later = new Date(start + 50 * minuteMs).toISOString();
  const { id, created_at, updated_at, ...recovery } = expectStatus(
    await recover(webhook, { since, until: later }),
    202,
  ).body;
  assert.deepEqual(recovery, {
    webhook_id: webhook.id,
    state: 'running',
    since,
    until: later,
    recovered: 0,
    finished_at: null,
  });
  assert.equal(updated_at, created_at);
  const done = await untilEnded({ id, webhook_id: webhook.id });
  assert.deepEqual([done.state, done.recovered, done.finished_at !== null], ['finished', 12, true]);
  const listed = await call(server, `GET /webhooks/${webhook.id}/recoveries`, { token: own.admin });
  assert.deepEqual(listed.body, { recoveries: [done], next_page: null });
  await until(() => notifications.some((text) => text.startsWith(webhook.accountId)));

  const waiting = await waitingDeliveries(sql, webhook);
  const requeued = waiting.filter((row) => missed.includes(row.id));
  assert.deepEqual(
    requeued.map((row) => row.id),
    missed,
  );
  for (const row of requeued) {
    assert.deepEqual([row.state, row.attempts, row.parked, row.destination_id], ['pending', 0, false, destinationId]);
    assert.ok(row.due_at !== null && row.due_at.getTime() <= Date.now() + 1_000);
  }
  const states = waiting.filter((row) => !missed.includes(row.id)).map((row) => row.state);
  const thrice = (...names: string[]): string[] => names.flatMap((name) => [name, name, name]);
  assert.deepEqual(states, thrice('held', 'retrying', 'pending', 'pending', 'held'));
  const left = await sql<{ state: string; count: number }[]>`
    SELECT state, count(*)::integer AS count FROM delivery_log
     WHERE webhook_id = ${webhook.id} AND final GROUP BY state ORDER BY state`;
  assert.deepEqual(
    left.map((row) => ({ ...row })),
    [
      { state: 'delivered', count: 3 },
      { state: 'discarded', count: 3 },
      { state: 'exhausted', count: 9 },
    ],
  );
  // A second recovery does not touch deliveries that already wait.
  assert.equal((await recoverAll(webhook, { since, until: later })).recovered, 0);
  assert.deepEqual(await waitingDeliveries(sql, webhook), waiting);
});

test('two concurrent recoveries requeue ten thousand deliveries once, in batches and in order', async () => {
  const webhook = await insertWebhook(server, own);
  const bystander = await insertWebhook(server, own);
  await insertDeliveries(sql, bystander, 'held', { count: 10 });
  const at = new Date(Date.now() - 60 * minuteMs);
  await insertDeliveries(sql, webhook, 'held', { count: 9_000, at });
  await insertDeliveries(sql, webhook, 'exhausted', { count: 1_000, at });
  // More rows in between than one batch reads.
  await insertDeliveries(sql, webhook, 'discarded', { count: 12_000, at });
  await insertDeliveries(sql, webhook, 'exhausted', { count: 10, at });
  const recovery = await Promise.all([0, 1].map(async () => recover(webhook, { since: at.toISOString() })));
  const done = await Promise.all(recovery.map(async (answer) => untilEnded(expectStatus(answer, 202).body)));
  assert.deepEqual(
    done.map(({ state }) => state),
    ['finished', 'finished'],
  );
  assert.equal(done[0].recovered + done[1].recovered, 10_010);
  const waiting = await waitingDeliveries(sql, webhook);
  assert.equal(waiting.length, 10_010);
  assert.equal(new Set(waiting.map(({ id }) => id)).size, 10_010);
  assert.ok(waiting.every(({ state, parked }) => state === 'pending' && !parked));
  assert.ok((await waitingDeliveries(sql, bystander)).every(({ state }) => state === 'held'));
});

test('a recovery keeps the order: no delivery is due before an earlier one', async () => {
  const webhook = await insertWebhook(server, own);
  const at = new Date(Date.now() - 60 * minuteMs);
  for (let turn = 0; turn < 6; turn += 1)
    await insertDeliveries(sql, webhook, turn % 2 === 0 ? 'held' : 'exhausted', { count: 300, at });
  assert.equal((await recoverAll(webhook, { since: at.toISOString() })).recovered, 1_800);
  const due = (await waitingDeliveries(sql, webhook)).map(({ due_at }) => due_at?.getTime() ?? 0);
  assert.deepEqual(
    due,
    due.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(due).size, 4);
});

test('since accepts any year and keeps it', async () => {
  for (const year of ['0001', '0030', '0049', '0099', '0100', '1800']) {
    const webhook = await insertWebhook(server, own);
    await insertDeliveries(sql, webhook, 'held', { count: 1, at: new Date(Date.now() - minuteMs) });
    const since = `${year}-02-03T04:05:06.789Z`;
    const { since: stored, recovered: count } = await recoverAll(webhook, { since });
    assert.deepEqual([stored, count], [since, 1]);
    expectStatus(await call(server, `DELETE /webhooks/${webhook.id}`, { token: own.admin }), 204);
  }
});

test('a recovery of a disabled or deleted webhook is refused', async () => {
  const webhook = await insertWebhook(server, own, { enabled: false });
  await insertDeliveries(sql, webhook, 'held', { count: 3 });
  const since = new Date(0).toISOString();
  assert.equal(expectStatus(await recover(webhook, { since }), 409).body.error, 'webhook_disabled');
  await sql`UPDATE webhooks SET deleted_at = now() WHERE id = ${webhook.id}`;
  assert.equal(expectStatus(await recover(webhook, { since }), 409).body.error, 'webhook_deleted');
  assert.ok((await waitingDeliveries(sql, webhook)).every(({ state }) => state === 'held'));
  expectStatus(await recover({ id: randomUUID() }, { since }), 404);
  const stranger = await makeAccount(server);
  expectStatus(await recover(webhook, { since }, server, stranger.admin), 404);
});

test('disabling a webhook stops its recovery, and nothing is sent', async () => {
  const webhook = await insertWebhook(server, own);
  await insertDeliveries(sql, webhook, 'held', { count: 3 });
  let recovery: Json;
  // The recovery waits while another transaction changes the webhook.
  await server.database.sql.begin(async (transaction) => {
    const id = randomUUID();
    await transaction`UPDATE webhooks SET enabled = false, disabled_because = 'gone' WHERE id = ${webhook.id}`;
    await sql`
      INSERT INTO webhook_recoveries (id, account_id, webhook_id, since, asked_in)
      VALUES (${id}, ${webhook.accountId}, ${webhook.id}, now() - interval '1 hour', ${oldXid}::text::xid8)`;
    recovery = { id, webhook_id: webhook.id };
    await until(async () => {
      const [row] = await sql<{ taken: boolean }[]>`SELECT epoch > 0 AS taken FROM webhook_recoveries WHERE id = ${id}`;
      return row?.taken === true;
    });
  });
  const done = await untilEnded(recovery);
  assert.deepEqual([done.state, done.recovered], ['stopped', 0]);
  assert.ok((await waitingDeliveries(sql, webhook)).every(({ state }) => state === 'held'));
});

test('an invalid time range is refused, and so is a recovery above the limit', async () => {
  const webhook = await insertWebhook(server, own);
  const since = '2026-01-01T00:00:00Z';
  const wrong: [Json, string][] = [
    [{}, '/since'],
    [{ since: 'yesterday' }, '/since'],
    [{ since: '2026-06-30T23:59:60Z' }, '/since'],
    [{ since: null }, '/since'],
    [{ since: new Date(Date.now() + minuteMs).toISOString() }, '/since'],
    [{ since: '9999-01-01T00:00:00Z', until: '9999-01-02T00:00:00Z' }, '/since'],
    [{ since, until: since }, '/until'],
    [{ since, until: '2025-12-31T00:00:00Z' }, '/until'],
    [{ since, more: true }, '/more'],
  ];
  for (const [body, attribute] of wrong)
    assert.equal(expectStatus(await recover(webhook, body), 422).body.details[0].attribute, attribute);
  // Both are reported, and a range may end in the future.
  const both = { since: '9999-01-02T00:00:00Z', until: '9999-01-01T00:00:00Z' };
  assert.deepEqual(
    expectStatus(await recover(webhook, both), 422).body.details.map(({ attribute }: Json) => attribute),
    ['/since', '/until'],
  );
  expectStatus(await recover(await insertWebhook(server, own), { since, until: '9999-01-01T00:00:00Z' }), 202);
  await sql`
    INSERT INTO webhook_recoveries (id, account_id, webhook_id, since, taken_until)
    SELECT gen_random_uuid(), ${webhook.accountId}, ${webhook.id}, now(), 'infinity' FROM generate_series(1, 8)`;
  const answers = await Promise.all(Array.from({ length: 6 }, async () => recover(webhook, { since })));
  const full = answers.filter(({ status }) => status === 409);
  for (const { body } of full) assert.equal(body.error, 'too_many');
  // Accepted recoveries may already have ended and made room for others.
  assert.ok(answers.every(({ status }) => status === 409 || status === 202));
  assert.ok(answers.some(({ status }) => status === 202));
  await sql`UPDATE webhook_recoveries SET taken_until = 'infinity' WHERE webhook_id = ${webhook.id}`;
  await sql`
    INSERT INTO webhook_recoveries (id, account_id, webhook_id, since, taken_until)
    SELECT gen_random_uuid(), ${webhook.accountId}, ${webhook.id}, now(), 'infinity' FROM generate_series(1, 2)`;
  assert.equal(expectStatus(await recover(webhook, { since }), 409).body.error, 'too_many');

  const pages: string[] = [];
  for (let next: string | null = `/webhooks/${webhook.id}/recoveries?per_page=3`; next !== null;) {
    const { body } = await call(server, `GET ${next}`, { token: own.admin });
    pages.push(...body.recoveries.map(({ id }: Json) => id));
    next = body.next_page === null ? null : new URL(body.next_page).pathname + new URL(body.next_page).search;
  }
  const [count] = await sql`SELECT count(*)::integer AS count FROM webhook_recoveries WHERE webhook_id = ${webhook.id}`;
  assert.equal(new Set(pages).size, count?.['count']);
  assert.equal(pages.length, count?.['count']);
  const other = await insertWebhook(server, own);
  expectStatus(await call(server, `GET /webhooks/${other.id}/recoveries/${pages[0]}`, { token: own.admin }), 404);
});

test('a process that has lost the lease of a recovery writes nothing', async () => {
  const webhook = await insertWebhook(server, own);
  await insertDeliveries(sql, webhook, 'held', { count: 1_200 });
  let recovery: Json;
  await server.database.sql.begin(async (transaction) => {
    await transaction`SELECT 1 FROM webhooks WHERE id = ${webhook.id} FOR UPDATE`;
    const id = randomUUID();
    await sql`
      INSERT INTO webhook_recoveries (id, account_id, webhook_id, since, asked_in)
      VALUES (${id}, ${webhook.accountId}, ${webhook.id}, now() - interval '1 hour', ${oldXid}::text::xid8)`;
    recovery = { id, webhook_id: webhook.id };
    const taken = async (times: number): Promise<void> =>
      until(async () => {
        const [row] = await sql<{ epoch: number }[]>`
          SELECT epoch::integer AS epoch FROM webhook_recoveries WHERE id = ${id}`;
        return row?.epoch === times;
      });
    await taken(1);
    // The first process waits for the row of the webhook. Its lease ends, and a second process waits too.
    await sql`UPDATE webhook_recoveries SET taken_until = '-infinity' WHERE id = ${id}`;
    await taken(2);
  });
  const done = await untilEnded(recovery);
  assert.deepEqual([done.state, done.recovered], ['finished', 1_200]);
});

test('a recovery continues after its process was killed, and requeues nothing twice', async () => {
  await using cluster = await startCluster(1);
  await leaseElsewhere(cluster);
  const [first] = cluster.nodes;
  assert.ok(first);
  const account = await makeAccount(cluster.reach(first));
  const { sql: db } = cluster.database;
  const webhook = await insertWebhook(cluster.reach(first), account);
  const at = new Date(Date.now() - 60 * minuteMs);
  await insertDeliveries(db, webhook, 'held', { count: 10_000, at });
  await insertDeliveries(db, webhook, 'exhausted', { count: 10_000, at });
  const answer = await recover(webhook, { since: at.toISOString() }, cluster.reach(first), account.admin);
  const recovery = expectStatus(answer, 202).body;
  const now = async (): Promise<{ state: string; recovered: number }> => {
    const [row] = await db<{ state: string; recovered: number }[]>`
      SELECT state, recovered::integer AS recovered FROM webhook_recoveries WHERE id = ${recovery.id}`;
    assert.ok(row);
    return row;
  };
  let kills = 0;
  let node = first;
  for (let reached = 0; kills < 3; kills += 1) {
    const behind = reached;
    await until(async () => (await now()).recovered > behind, patienceMs);
    await node.stop('SIGKILL');
    const { state, recovered: count } = await now();
    reached = count;
    assert.equal(state, 'running');
    // The counter matches the requeued deliveries exactly.
    const put = (await waitingDeliveries(db, webhook)).filter((row) => row.state === 'pending');
    assert.equal(put.length, count);
    // End the lease now instead of waiting for its expiry.
    await db`UPDATE webhook_recoveries SET taken_until = '-infinity' WHERE id = ${recovery.id}`;
    node = await cluster.start();
  }
  const done = await untilEnded(recovery, cluster.reach(node), account.admin);
  assert.deepEqual([done.state, done.recovered], ['finished', 20_000]);
  const waiting = await waitingDeliveries(db, webhook);
  assert.equal(waiting.length, 20_000);
  assert.ok(waiting.every(({ state }) => state === 'pending'));
});
