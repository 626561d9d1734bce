import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  insertDeliveries,
  finishDelivery,
  insertWebhook,
  waitingDeliveries,
  type TestWebhook,
} from '../../support/receivers/deliveries.ts';
import { openWorld } from '../../support/fixture.ts';
import { call, type Answer, type Json } from '../../support/server.ts';
import { leaseElsewhere } from '../../support/receivers/webhooks.ts';
import { expectStatus } from '../../support/world.ts';

const { server, account: own } = await openWorld();
const { sql } = server.database;
// Deliveries stay as the tests insert them.
await leaseElsewhere(server);

async function ask(path: string): Promise<Answer> {
  return call(server, `GET ${path}`, { token: own.admin });
}

async function listed({ id }: TestWebhook, query = ''): Promise<string[]> {
  const { body } = expectStatus(await ask(`/webhooks/${id}/deliveries?${query}`), 200);
  return body.deliveries.map((each: Json) => each.id);
}

async function replay(id: string): Promise<Answer> {
  return call(server, `POST /deliveries/${id}/replay`, { token: own.admin });
}

test('a test delivery, which has no event, is shown and replayed with its own body', async () => {
  const webhook = await insertWebhook(server, own);
  const [id = ''] = await insertDeliveries(sql, webhook, 'fresh', { count: 1 });
  await sql`DELETE FROM events WHERE id = (SELECT event_id FROM deliveries WHERE id = ${id})`;
  await sql`UPDATE deliveries SET body = '{"event_type": "engagement.start"}' WHERE id = ${id}`;
  await finishDelivery(sql, id);
  const { event } = expectStatus(await ask(`/deliveries/${id}`), 200).body;
  assert.deepEqual(event.payload, { event_type: 'engagement.start' });
  expectStatus(await replay(id), 202);
  const [row] = await sql`SELECT body FROM deliveries WHERE id = ${id}`;
  assert.deepEqual(row?.['body'], { event_type: 'engagement.start' });
});

test('replaying a finished or held delivery makes it due at once, parked, with a new count of attempts', async () => {
  for (const seeded of ['delivered', 'exhausted', 'discarded', 'held'] as const) {
    const webhook = await insertWebhook(server, own);
    const [id = ''] = await insertDeliveries(sql, webhook, seeded, { count: 1, engagementId: randomUUID() });
    const earlier = expectStatus(await ask(`/deliveries/${id}`), 200).body;
    // The webhook may have moved to another destination.
    const { destinationId } = await insertWebhook(server, own);
    await sql`UPDATE webhooks SET destination_id = ${destinationId} WHERE id = ${webhook.id}`;
    const { body } = expectStatus(await replay(id), 202);
    assert.deepEqual([body.id, body.state, body.parked, body.finished_at], [id, 'pending', true, null]);
    const [row, ...more] = await waitingDeliveries(sql, webhook);
    assert.equal(more.length, 0);
    assert.deepEqual([row?.id, row?.state, row?.attempts, row?.parked], [id, 'pending', 0, true]);
    assert.equal(row?.destination_id, destinationId);
    assert.ok(Math.abs((row?.due_at?.getTime() ?? 0) - Date.now()) < 10_000);
    const now = expectStatus(await ask(`/deliveries/${id}`), 200).body;
    assert.deepEqual(
      [now.attempts, now.event, now.engagement_id],
      [earlier.attempts, earlier.event, earlier.engagement_id],
    );
    assert.deepEqual(await listed(webhook), [id]);
    await finishDelivery(sql, id);
    const again = expectStatus(await ask(`/deliveries/${id}`), 200).body;
    assert.deepEqual([again.state, again.attempts.length], ['delivered', earlier.attempts.length + 1]);
    assert.deepEqual(await listed(webhook, 'state=delivered'), [id]);
  }
});

test('replaying a waiting delivery makes it due now and changes nothing else', async () => {
  const webhook = await insertWebhook(server, own);
  const [retrying = ''] = await insertDeliveries(sql, webhook, 'retrying', { count: 1 });
  const [pending = ''] = await insertDeliveries(sql, webhook, 'pending', { count: 1 });
  const [fresh = ''] = await insertDeliveries(sql, webhook, 'fresh', { count: 1 });
  for (const id of [retrying, pending, fresh]) expectStatus(await replay(id), 202);
  const rows = await waitingDeliveries(sql, webhook);
  assert.deepEqual(
    rows.map(({ id, state, attempts, parked }) => [id, state, attempts, parked]),
    [
      [retrying, 'retrying', 2, false],
      [pending, 'pending', 0, false],
      [fresh, 'pending', 0, false],
    ],
  );
  assert.deepEqual(
    rows.map(({ due_at }) => due_at !== null && due_at.getTime() < Date.now() + 5_000),
    [true, true, false],
  );
  assert.equal(rows[2]?.due_at, null);
});

test('concurrent replays of a delivery requeue it once', async () => {
  const webhook = await insertWebhook(server, own);
  const [id = ''] = await insertDeliveries(sql, webhook, 'exhausted', { count: 1 });
  const answers = await Promise.all(Array.from({ length: 12 }, async () => replay(id)));
  for (const answer of answers) assert.equal(expectStatus(answer, 202).body.state, 'pending');
  assert.equal((await waitingDeliveries(sql, webhook)).length, 1);
  const [count] =
    await sql`SELECT count(*) FILTER (WHERE final)::integer AS final, count(*)::integer AS logged FROM delivery_log WHERE delivery_id = ${id}`;
  assert.deepEqual({ ...count }, { final: 0, logged: 1 });
  // With an idempotency key, the answers are the same.
  const headers = { 'idempotency-key': randomUUID() };
  const [first, second] = [0, 1].map(async () =>
    call(server, `POST /deliveries/${id}/replay`, { token: own.admin, headers }),
  );
  assert.deepEqual(expectStatus(await (first as Promise<Answer>), 202).body, (await (second as Promise<Answer>)).body);
});

test('a delivery that succeeds while it is replayed is sent again', async () => {
  const webhook = await insertWebhook(server, own);
  const [id = ''] = await insertDeliveries(sql, webhook, 'retrying', { count: 1 });
  let answer: Promise<Answer> | undefined;
  await server.database.sql.begin(async (transaction) => {
    await finishDelivery(transaction, id);
    answer = replay(id);
    // Wait until the replay waits for the lock of the row.
    for (let waits = 0; waits === 0;) {
      const [row] = await sql<{ waits: number }[]>`
        SELECT count(*)::integer AS waits FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%deliveries%'`;
      waits = row?.waits ?? 0;
    }
  });
  assert.equal(expectStatus((await answer) as Answer, 202).body.state, 'pending');
  assert.deepEqual(await listed(webhook), [id]);
});

test('a replay that is not possible is refused and changes nothing', async () => {
  const refused = async (id: string, code: string): Promise<void> => {
    const earlier = (await ask(`/deliveries/${id}`)).body;
    assert.equal(expectStatus(await replay(id), 409).body.error, code);
    assert.deepEqual((await ask(`/deliveries/${id}`)).body, earlier);
  };
  const webhook = await insertWebhook(server, own);
  const ids = [
    ...(await insertDeliveries(sql, webhook, 'exhausted', { count: 1 })),
    ...(await insertDeliveries(sql, webhook, 'held', { count: 1 })),
    ...(await insertDeliveries(sql, webhook, 'retrying', { count: 1 })),
  ];
  await sql`UPDATE webhooks SET enabled = false, disabled_because = 'gone' WHERE id = ${webhook.id}`;
  for (const id of ids) await refused(id, 'webhook_disabled');
  await sql`UPDATE webhooks SET deleted_at = now() WHERE id = ${webhook.id}`;
  for (const id of ids) await refused(id, 'webhook_deleted');
  await sql`UPDATE webhooks SET deleted_at = NULL, enabled = true, disabled_because = NULL WHERE id = ${webhook.id}`;
  await sql`DELETE FROM events WHERE account_id = ${webhook.accountId}`;
  for (const id of ids) await refused(id, 'event_expired');
  const answer = await call(server, `POST /deliveries/${ids[0]}/replay`, { token: own.admin, body: { now: true } });
  expectStatus(answer, 422);
});

test('an unknown or invalid delivery id is not found', async () => {
  const strange = [
    randomUUID(),
    'ffffffff-ffff-7fff-bfff-ffffffffffff',
    '00000000-0000-7000-8000-000000000000',
    '00000000-0000-0000-0000-000000000000',
  ];
  for (const id of strange) {
    expectStatus(await ask(`/deliveries/${id}`), 404);
    expectStatus(await replay(id), 404);
  }
  expectStatus(await ask('/deliveries/none'), 404);
});
