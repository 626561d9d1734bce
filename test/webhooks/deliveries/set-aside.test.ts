import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { WebhookId } from '../../../packages/server/src/events/subscriptions/attach-webhooks.ts';
import { disableWebhook } from '../../../packages/server/src/webhooks/set-aside.ts';
import { openWorld } from '../../support/fixture.ts';
import { call, type Answer, type Json } from '../../support/server.ts';
import {
  leaseElsewhere,
  insertWaiting,
  makeWebhook,
  originOf,
  webhookRow,
  waitingRows,
  webhookFields,
} from '../../support/receivers/webhooks.ts';
import { expectStatus, makeAccount } from '../../support/world.ts';

const { server, account: own } = await openWorld();
await leaseElsewhere(server);

async function ask(request: string, body?: unknown, who: { admin: string } = own): Promise<Answer> {
  return call(server, request, { token: who.admin, body });
}

async function read(id: string, who: { admin: string } = own): Promise<Json> {
  return expectStatus(await ask(`GET /webhooks/${id}`, undefined, who), 200).body;
}

const soon = (): Date => new Date(Date.now() + 3_600_000);

test('D8.15 disabling a webhook holds its waiting deliveries and touches no others', async () => {
  const account = await makeAccount(server);
  const [{ id }, other] = [await makeWebhook(server, account), await makeWebhook(server, account)];
  const kinds = [
    {},
    { state: 'retrying', dueAt: soon(), attempts: 3 },
    { state: 'pending', dueAt: soon(), parked: true },
    { state: 'held' },
    { state: 'retrying', dueAt: soon(), parked: true, attempts: 4 },
  ] as const;
  const ids = await insertWaiting(server, id, kinds);
  await insertWaiting(server, other.id, kinds);
  const others = await waitingRows(server, other.id);
  await server.database.sql`UPDATE webhooks SET failing_since = now() WHERE id = ${id}`;

  const off = expectStatus(await ask(`PUT /webhooks/${id}`, { ...webhookFields, enabled: false }, account), 200).body;
  assert.deepEqual([off.enabled, off.disabled_because], [false, 'asked']);
  assert.ok(Math.abs(Date.parse(off.disabled_at) - Date.now()) < 60_000);
  assert.notEqual(off.failing_since, null);
  const { destination_id } = await webhookRow(server, id);
  const held = { destination_id, state: 'held', parked: false, due_at: null };
  assert.deepEqual(
    await waitingRows(server, id),
    ids.map((each, index) => ({ id: each, ...held, attempts: [0, 3, 0, 0, 4][index] })),
  );
  assert.deepEqual(await waitingRows(server, other.id), others);

  // Disabling it again keeps the time.
  const again = expectStatus(await ask(`PUT /webhooks/${id}`, { ...webhookFields, enabled: false }, account), 200).body;
  assert.equal(again.disabled_at, off.disabled_at);
  const on = expectStatus(await ask(`PUT /webhooks/${id}`, { ...webhookFields, enabled: true }, account), 200).body;
  assert.deepEqual([on.enabled, on.disabled_because, on.disabled_at, on.failing_since], [true, null, null, null]);
  assert.deepEqual(new Set((await waitingRows(server, id)).map(({ state }) => state)), new Set(['held']));
});

test('concurrent dispatchers disable a webhook once, and the reason is shown until it is enabled', async () => {
  for (const because of ['gone', 'failing', 'token_ended'] as const) {
    const made = await makeWebhook(server, own);
    const { id } = made;
    await insertWaiting(server, id, [{}, { state: 'retrying', dueAt: soon() }]);
    const disable = async (asOf = made.updated_at): Promise<boolean> =>
      disableWebhook(server.database.sql, { webhookId: id, because, asOf: new Date(asOf) });
    assert.deepEqual((await Promise.all([disable(), disable(), disable()])).toSorted(), [false, false, true]);
    const { enabled, disabled_because, disabled_at } = await read(id);
    assert.deepEqual([enabled, disabled_because], [false, because]);
    assert.ok(Math.abs(Date.parse(disabled_at) - Date.now()) < 60_000);
    assert.deepEqual(
      (await waitingRows(server, id)).map(({ state, due_at }) => [state, due_at]),
      [
        ['held', null],
        ['held', null],
      ],
    );
    // A PUT with an older version cannot enable the webhook.
    const stale = { token: own.admin, body: { ...webhookFields, enabled: true }, headers: { 'if-match': '"1"' } };
    expectStatus(await call(server, `PUT /webhooks/${id}`, stale), 412);
    const unchanged = expectStatus(await ask(`PUT /webhooks/${id}`, { ...webhookFields, enabled: false }), 200).body;
    assert.deepEqual([unchanged.disabled_because, unchanged.disabled_at], [because, disabled_at]);
    const on = expectStatus(await ask(`PUT /webhooks/${id}`, { ...webhookFields, enabled: true }), 200).body;
    assert.deepEqual([on.disabled_because, on.disabled_at], [null, null]);
    // A failure from before the webhook was enabled does not disable it again.
    assert.equal(await disable(), false);
    assert.equal(await disable(on.updated_at), true);
    expectStatus(await ask(`DELETE /webhooks/${id}`), 204);
    assert.equal(await disable(), false);
  }
  assert.equal(
    await disableWebhook(server.database.sql, {
      webhookId: randomUUID() as WebhookId,
      because: 'gone',
      asOf: new Date(),
    }),
    false,
  );
});

test('a new origin moves the webhook and its waiting deliveries to another destination', async () => {
  const account = await makeAccount(server);
  const [{ id }, other] = [await makeWebhook(server, account), await makeWebhook(server, account)];
  const kinds = [{}, { state: 'retrying', dueAt: soon(), attempts: 2 }, { state: 'held' }] as const;
  await insertWaiting(server, id, kinds);
  await insertWaiting(server, other.id, kinds);
  const [before, others] = [await waitingRows(server, id), await waitingRows(server, other.id)];
  await server.database.sql`UPDATE webhooks SET failing_since = now() WHERE id = ${id}`;

  const put = async (fields: Json): Promise<Json> =>
    expectStatus(await ask(`PUT /webhooks/${id}`, { ...webhookFields, ...fields }, account), 200).body;
  assert.notEqual((await put({})).failing_since, null);
  assert.deepEqual(await waitingRows(server, id), before);
  const { destination_id: from } = await webhookRow(server, id);
  assert.equal((await put({ url: 'http://127.0.0.1:9/elsewhere' })).failing_since, null);
  assert.equal((await webhookRow(server, id)).destination_id, from);

  await put({ url: 'http://127.0.0.1:10/hook' });
  const { destination_id: to } = await webhookRow(server, id);
  assert.notEqual(to, from);
  assert.equal(await originOf(server, to), 'http://127.0.0.1:10');
  assert.deepEqual(
    await waitingRows(server, id),
    before.map((row) => ({ ...row, destination_id: to })),
  );
  assert.deepEqual(await waitingRows(server, other.id), others);

  // Moved and disabled by one request: both apply to every row.
  await put({ url: 'http://127.0.0.1:11/hook', enabled: false });
  const { destination_id: last } = await webhookRow(server, id);
  assert.deepEqual(
    (await waitingRows(server, id)).map(({ destination_id, state }) => [destination_id, state]),
    kinds.map(() => [last, 'held']),
  );
  // Webhooks of an account with the same origin share a destination.
  await put({});
  assert.equal((await webhookRow(server, id)).destination_id, (await webhookRow(server, other.id)).destination_id);
});

test('the waiting deliveries of a deleted webhook are discarded and logged', async () => {
  const account = await makeAccount(server);
  const { id } = await makeWebhook(server, account, { headers: { authorization: 'Bearer hush' } });
  const other = await makeWebhook(server, account);
  const kinds = [{}, { state: 'retrying', dueAt: soon(), attempts: 2 }, { state: 'held' }] as const;
  const ids = await insertWaiting(server, id, kinds);
  await insertWaiting(server, other.id, kinds);
  const sent = expectStatus(
    await ask(`POST /webhooks/${id}/test`, { event_type: 'engagement.end' }, account),
    202,
  ).body;
  const rows = await server.database.sql`SELECT * FROM deliveries WHERE webhook_id = ${id} ORDER BY event_seq`;
  expectStatus(await ask(`DELETE /webhooks/${id}`, undefined, account), 204);
  assert.equal((await waitingRows(server, id)).length, 0);
  assert.equal((await waitingRows(server, other.id)).length, 3);
  const log = await server.database.sql`SELECT * FROM delivery_log WHERE webhook_id = ${id} ORDER BY event_seq`;
  assert.deepEqual(
    log.map(({ delivery_id }) => delivery_id),
    [...ids, sent.delivery_id],
  );
  for (const [index, { at, delivery_id, state, final, duration_ms, status, answer, error, ...same }] of log.entries()) {
    assert.deepEqual([state, final, duration_ms, status, answer, error], ['discarded', true, null, null, null, null]);
    assert.ok(Math.abs(at - Date.now()) < 60_000);
    const waited: Json = rows[index];
    for (const [field, value] of Object.entries(same))
      assert.deepEqual(value, waited[field], `${delivery_id} ${field}`);
    assert.equal(delivery_id, waited.id);
  }
  assert.deepEqual((await webhookRow(server, id)).headers, {});
});
