import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { WebhookId } from '../../../packages/server/src/events/subscriptions/attach-webhooks.ts';
import { inTransaction } from '../../../packages/server/src/platform/database/database.ts';
import { readByIndex } from '../../../packages/server/src/platform/database/read-by-index.ts';
import { countAttempts } from '../../../packages/server/src/webhooks/stats/store.ts';
import {
  insertDeliveries,
  finishDelivery,
  insertWebhook,
  insertFailedAttempt,
} from '../../support/receivers/deliveries.ts';
import { openWorld } from '../../support/fixture.ts';
import { call, type Answer, type Json } from '../../support/server.ts';
import { leaseElsewhere } from '../../support/receivers/webhooks.ts';
import { expectStatus, makeAccount, makeOperator, makeSite } from '../../support/world.ts';

const { server, account: own } = await openWorld();
const { sql } = server.database;
await leaseElsewhere(server);

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

interface StatsQuery {
  readonly from: Date;
  readonly to: Date;
  readonly interval?: number;
}

async function ask(id: string, { from, to, interval = 3_600 }: StatsQuery, token = own.admin): Promise<Answer> {
  const query = `from=${from.toISOString()}&to=${to.toISOString()}&interval=${interval}`;
  return call(server, `GET /webhooks/${id}/stats?${query}`, { token });
}

async function statsOf(id: string, query: StatsQuery): Promise<Json> {
  return expectStatus(await ask(id, query), 200).body;
}

test('stats count attempts by step, with the waiting deliveries and the last attempt', async () => {
  const webhook = await insertWebhook(server, own);
  const other = await insertWebhook(server, own);
  const to = new Date();
  const from = new Date(to.getTime() - 3 * hourMs);
  const ago = (ms: number) => new Date(to.getTime() - ms);
  await insertDeliveries(sql, other, 'delivered', { count: 5, at: ago(hourMs / 2) });
  // The helper logs each attempt one second after its event.
  await insertDeliveries(sql, webhook, 'delivered', { count: 4, at: ago(2.5 * hourMs) });
  await insertDeliveries(sql, webhook, 'exhausted', { count: 2, at: ago(0.5 * hourMs) });
  await insertDeliveries(sql, webhook, 'delivered', { count: 7, at: ago(4 * hourMs) });
  const [retried = ''] = await insertDeliveries(sql, webhook, 'retrying', { count: 1, at: ago(hourMs / 4) });
  await insertFailedAttempt(sql, retried, { at: ago(10 * minuteMs), status: 503 });
  await insertFailedAttempt(sql, retried, { at: ago(5 * minuteMs), status: 502 });
  await insertDeliveries(sql, webhook, 'held', { count: 3 });
  await insertDeliveries(sql, webhook, 'fresh', { count: 2 });
  const stats = await statsOf(webhook.id, { from, to });
  assert.deepEqual(stats.steps, [
    { at: from.toISOString(), delivered: 4, failed: 0, given_up: 0, median_ms: 12, p95_ms: 12 },
    { at: ago(2 * hourMs).toISOString(), delivered: 0, failed: 0, given_up: 0, median_ms: null, p95_ms: null },
    { at: ago(hourMs).toISOString(), delivered: 0, failed: 2, given_up: 2, median_ms: 7, p95_ms: 12 },
  ]);
  assert.deepEqual(stats.waiting, { pending: 2, retrying: 1, held: 3 });
  assert.equal(stats.complete, true);
  assert.deepEqual(stats.last_attempt, {
    at: ago(5 * minuteMs).toISOString(),
    state: 'retrying',
    status: 502,
    error: 'Answered',
  });
});

test('each attempt of a delivery counts, also after a replay', async () => {
  const webhook = await insertWebhook(server, own);
  const [id = ''] = await insertDeliveries(sql, webhook, 'retrying', { count: 1, at: new Date(Date.now() - hourMs) });
  await insertFailedAttempt(sql, id, { at: new Date(Date.now() - minuteMs), status: 500 });
  await finishDelivery(sql, id);
  const span = () => ({
    from: new Date(Date.now() - 2 * hourMs),
    to: new Date(Date.now() + minuteMs),
    interval: 86_400,
  });
  const numbers = async () => {
    const [{ delivered, failed, given_up }] = (await statsOf(webhook.id, span())).steps;
    return { delivered, failed, given_up };
  };
  assert.deepEqual(await numbers(), { delivered: 1, failed: 1, given_up: 0 });
  expectStatus(await call(server, `POST /deliveries/${id}/replay`, { token: own.admin }), 202);
  assert.deepEqual(await numbers(), { delivered: 1, failed: 1, given_up: 0 });
  await finishDelivery(sql, id, 'exhausted');
  assert.deepEqual(await numbers(), { delivered: 1, failed: 1, given_up: 1 });
});

test('a delivery that was discarded without an attempt does not count', async () => {
  const webhook = await insertWebhook(server, own);
  const [id = ''] = await insertDeliveries(sql, webhook, 'discarded', { count: 1, at: new Date(Date.now() - hourMs) });
  await sql`UPDATE delivery_log SET duration_ms = NULL, status = NULL WHERE delivery_id = ${id}`;
  const stats = await statsOf(webhook.id, {
    from: new Date(Date.now() - 2 * hourMs),
    to: new Date(),
    interval: 86_400,
  });
  assert.deepEqual([stats.steps[0].given_up, stats.last_attempt], [0, null]);
});

test('an invalid, too long or too fine range is refused with a pointer', async () => {
  const { id } = await insertWebhook(server, own);
  const to = new Date();
  const before = (ms: number) => new Date(to.getTime() - ms);
  const fault = async (query: StatsQuery) => {
    const { status, body } = await ask(id, query);
    return [status, body.details?.[0]?.attribute];
  };
  assert.deepEqual(await fault({ from: to, to }), [422, '/to']);
  assert.deepEqual(await fault({ from: to, to: before(1) }), [422, '/to']);
  assert.deepEqual(await fault({ from: before(7 * 24 * hourMs + 1), to }), [422, '/to']);
  assert.deepEqual(await fault({ from: before(24 * hourMs), to, interval: 60 }), [422, '/interval']);
  assert.deepEqual(await fault({ from: before(hourMs), to, interval: 59 }), [422, '/interval']);
  assert.deepEqual((await statsOf(id, { from: before(7 * 24 * hourMs), to, interval: 86_400 })).steps.length, 7);
  assert.equal((await call(server, `GET /webhooks/${id}/stats`, { token: own.admin })).status, 422);
  const leap = `from=2026-12-31T23:59:60Z&to=2027-01-01T00:00:00Z`;
  assert.equal((await call(server, `GET /webhooks/${id}/stats?${leap}`, { token: own.admin })).status, 422);
});

test('stats are visible only to callers who may see the webhook', async () => {
  const elsewhere = await makeSite(server, own);
  const { id } = await insertWebhook(server, own);
  const span = { from: new Date(Date.now() - hourMs), to: new Date() };
  const stranger = await makeOperator(server, own, [{ site_id: elsewhere, role: 'super_manager' }]);
  const manager = await makeOperator(server, own, [{ site_id: own.siteId, role: 'manager' }]);
  const foreign = await makeAccount(server);
  assert.equal((await ask(id, span, stranger.token)).status, 404);
  assert.equal((await ask(id, span, manager.token)).status, 403);
  assert.equal((await ask(id, span, foreign.admin)).status, 404);
  assert.equal((await ask(randomUUID(), span)).status, 404);
});

test('a hundred thousand attempts are counted by index in under 2 s, and an incomplete count is marked', async () => {
  const webhook = await insertWebhook(server, own);
  const other = await insertWebhook(server, own);
  const to = new Date();
  const from = new Date(to.getTime() - 24 * hourMs);
  for (const at of [from, new Date(to.getTime() - 12 * hourMs), new Date(to.getTime() - 6 * hourMs)]) {
    await insertDeliveries(sql, webhook, 'delivered', { count: 33_000, at });
    await insertDeliveries(sql, other, 'delivered', { count: 33_000, at });
  }
  await insertDeliveries(sql, webhook, 'exhausted', { count: 1_000, at: new Date(to.getTime() - hourMs) });
  const startedAt = performance.now();
  const stats = await statsOf(webhook.id, { from, to, interval: 300 });
  const tookMs = performance.now() - startedAt;
  const sum = (name: string) => stats.steps.reduce((total: number, step: Json) => total + step[name], 0);
  assert.deepEqual([sum('delivered'), sum('given_up'), stats.complete], [99_000, 1_000, true]);
  assert.ok(tookMs < 2_000, `it took ${Math.round(tookMs)} ms`);

  const id = webhook.id as unknown as WebhookId;
  const span = { from, to, intervalMs: hourMs };
  const few = await inTransaction(sql, async (transaction) => {
    await readByIndex(transaction);
    const counted = await countAttempts(transaction, id, span, 2_000);
    const [read] = await transaction<{ rows: number }[]>`
      SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS rows
        FROM pg_stat_xact_user_tables WHERE relname LIKE 'delivery_log%'`;
    return { ...counted, read: read?.rows ?? Infinity };
  });
  // One more row of each partition, to choose the next.
  assert.ok(few.read <= 2_010, `${few.read} rows were read`);
  const found = few.steps.reduce((total, { delivered, given_up }) => total + delivered + given_up, 0);
  assert.deepEqual([few.complete, found], [false, 2_000]);
});
