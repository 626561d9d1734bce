import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fill, finish, makeWebhook, waitingOf, type TestWebhook } from '../support/deliveries.ts';
import { openWorld } from '../support/fixture.ts';
import { call, type Answer, type Json } from '../support/server.ts';
import { leaseElsewhere } from '../support/webhooks.ts';
import { expectStatus } from '../support/world.ts';

const { server, account: own } = await openWorld();
const { sql } = server.database;
// What waits stays as it was put.
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

test('a test, which has no event, is shown and replayed with what it sends', async () => {
  const webhook = await makeWebhook(server, own);
  const [id = ''] = await fill(sql, webhook, 'fresh', { count: 1 });
  await sql`DELETE FROM events WHERE id = (SELECT event_id FROM deliveries WHERE id = ${id})`;
  await sql`UPDATE deliveries SET body = '{"event_type": "engagement.start"}' WHERE id = ${id}`;
  await finish(sql, id);
  const { event } = expectStatus(await ask(`/deliveries/${id}`), 200).body;
  assert.deepEqual(event.payload, { event_type: 'engagement.start' });
  expectStatus(await replay(id), 202);
  const [row] = await sql`SELECT body FROM deliveries WHERE id = ${id}`;
  assert.deepEqual(row?.['body'], { event_type: 'engagement.start' });
});

test('a delivery that has finished or is held is sent again: at once, on its own, from the first attempt on', async () => {
  for (const standing of ['delivered', 'exhausted', 'discarded', 'held'] as const) {
    const webhook = await makeWebhook(server, own);
    const [id = ''] = await fill(sql, webhook, standing, { count: 1, engagementId: randomUUID() });
    const earlier = expectStatus(await ask(`/deliveries/${id}`), 200).body;
    // It may have another address by now.
    const { destinationId } = await makeWebhook(server, own);
    await sql`UPDATE webhooks SET destination_id = ${destinationId} WHERE id = ${webhook.id}`;
    const { body } = expectStatus(await replay(id), 202);
    assert.deepEqual([body.id, body.state, body.parked, body.finished_at], [id, 'pending', true, null]);
    const [row, ...more] = await waitingOf(sql, webhook);
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
    await finish(sql, id);
    const again = expectStatus(await ask(`/deliveries/${id}`), 200).body;
    assert.deepEqual([again.state, again.attempts.length], ['delivered', earlier.attempts.length + 1]);
    assert.deepEqual(await listed(webhook, 'state=delivered'), [id]);
  }
});

test('one that waits for its next attempt has it now, and keeps its place otherwise', async () => {
  const webhook = await makeWebhook(server, own);
  const [retrying = ''] = await fill(sql, webhook, 'retrying', { count: 1 });
  const [pending = ''] = await fill(sql, webhook, 'pending', { count: 1 });
  const [fresh = ''] = await fill(sql, webhook, 'fresh', { count: 1 });
  for (const id of [retrying, pending, fresh]) expectStatus(await replay(id), 202);
  const rows = await waitingOf(sql, webhook);
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

test('replayed many times at once, it is one delivery', async () => {
  const webhook = await makeWebhook(server, own);
  const [id = ''] = await fill(sql, webhook, 'exhausted', { count: 1 });
  const answers = await Promise.all(Array.from({ length: 12 }, async () => replay(id)));
  for (const answer of answers) assert.equal(expectStatus(answer, 202).body.state, 'pending');
  assert.equal((await waitingOf(sql, webhook)).length, 1);
  const [count] =
    await sql`SELECT count(*) FILTER (WHERE final)::integer AS final, count(*)::integer AS logged FROM delivery_log WHERE delivery_id = ${id}`;
  assert.deepEqual({ ...count }, { final: 0, logged: 1 });
  // With a key, the same answer again.
  const headers = { 'idempotency-key': randomUUID() };
  const [first, second] = [0, 1].map(async () =>
    call(server, `POST /deliveries/${id}/replay`, { token: own.admin, headers }),
  );
  assert.deepEqual(expectStatus(await (first as Promise<Answer>), 202).body, (await (second as Promise<Answer>)).body);
});

test('one that arrives at the moment it is replayed is sent again', async () => {
  const webhook = await makeWebhook(server, own);
  const [id = ''] = await fill(sql, webhook, 'retrying', { count: 1 });
  let answer: Promise<Answer> | undefined;
  await server.database.sql.begin(async (transaction) => {
    await finish(transaction, id);
    answer = replay(id);
    // It waits for the row.
    for (let waits = 0; waits === 0;) {
      const [row] = await sql<{ waits: number }[]>`
        SELECT count(*)::integer AS waits FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%deliveries%'`;
      waits = row?.waits ?? 0;
    }
  });
  assert.equal(expectStatus((await answer) as Answer, 202).body.state, 'pending');
  assert.deepEqual(await listed(webhook), [id]);
});

test('what cannot be sent again is refused, and stays as it was', async () => {
  const refused = async (id: string, code: string): Promise<void> => {
    const earlier = (await ask(`/deliveries/${id}`)).body;
    assert.equal(expectStatus(await replay(id), 409).body.error, code);
    assert.deepEqual((await ask(`/deliveries/${id}`)).body, earlier);
  };
  const webhook = await makeWebhook(server, own);
  const ids = [
    ...(await fill(sql, webhook, 'exhausted', { count: 1 })),
    ...(await fill(sql, webhook, 'held', { count: 1 })),
    ...(await fill(sql, webhook, 'retrying', { count: 1 })),
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

test('what is no id of a delivery is not found, whatever it looks like', async () => {
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
