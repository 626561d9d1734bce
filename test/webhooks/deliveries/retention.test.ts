import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { destinationFor } from '../../../packages/server/src/events/subscriptions/destination.ts';
import { WebhookAttacher } from '../../../packages/server/src/events/subscriptions/attach-webhooks.ts';
import { UnresolvedNames } from '../../../packages/server/src/events/unresolved-names.ts';
import { deliveryLog, makeDays } from '../../../packages/server/src/platform/database/daily-logs.ts';
import { Sealer } from '../../../packages/server/src/identity/sealer.ts';
import { AddressGuard } from '../../../packages/server/src/platform/outbound/address-guard.ts';
import type { AccountId } from '../../../packages/server/src/platform/ids.ts';
import { NameResolver } from '../../../packages/server/src/platform/outbound/names/name-resolver.ts';
import { dropOldWebhooks } from '../../../packages/server/src/webhooks/retention.ts';
import { engage, end } from '../../support/people/chat.ts';
import {
  insertDeliveries,
  insertWebhook,
  waitingDeliveries,
  type TestWebhook,
} from '../../support/receivers/deliveries.ts';
import { openWorld } from '../../support/fixture.ts';
import { call, until } from '../../support/server.ts';
import { expectStatus, makeAccount, makeQueue, requestTicket, type TestAccount } from '../../support/world.ts';

const { server, account: own } = await openWorld();
const { sql } = server.database;

const retentionDays = 5;
const dayMs = 86_400_000;

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * dayMs);
}

async function sweep(): Promise<void> {
  await makeDays(sql, deliveryLog);
  await dropOldWebhooks(sql, { now: new Date(), days: retentionDays }, () => true);
}

async function isThere(table: 'webhooks' | 'destinations' | 'webhook_recoveries', id: string): Promise<boolean> {
  const rows = await sql`SELECT id FROM ${sql(table)} WHERE id = ${id}`;
  return rows.length > 0;
}

async function stateOf(id: string): Promise<string> {
  const answer = await call(server, `GET /deliveries/${id}`, { token: own.admin });
  return answer.status === 200 ? answer.body.state : String(answer.status);
}

test('the delivery log is dropped by the day, and has partitions for the next days', async () => {
  const webhook = await insertWebhook(server, own);
  for (const days of [retentionDays + 1, retentionDays])
    await sql`SELECT make_day('delivery_log', 'at', ${daysAgo(days)}::date)`;
  const [gone = ''] = await insertDeliveries(sql, webhook, 'delivered', { count: 1, at: daysAgo(retentionDays + 1) });
  const [kept = ''] = await insertDeliveries(sql, webhook, 'delivered', { count: 1, at: daysAgo(retentionDays) });
  assert.deepEqual([await stateOf(gone), await stateOf(kept)], ['delivered', 'delivered']);
  await sql`DROP TABLE ${sql(`delivery_log_${daysAgo(-3).toISOString().slice(0, 10).replaceAll('-', '')}`)}`;
  await sweep();
  assert.deepEqual([await stateOf(gone), await stateOf(kept)], ['404', 'delivered']);
  const [row] = await sql`
    WITH added AS (
      INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, event_id, event_seq, event_xid,
                                occurred_at, event_type, created_at, state, final)
      SELECT now() + interval '3 days', id, account_id, id, destination_id, id, 0, '3', now(), '', now(), 'delivered', false
        FROM webhooks WHERE id = ${webhook.id}
      RETURNING tableoid)
    SELECT tableoid::regclass::text AS partition FROM added`;
  assert.notEqual(row?.['partition'], 'delivery_log_default');
});

test('waiting deliveries of expired events are discarded, unless a process may be sending them', async () => {
  const webhook = await insertWebhook(server, own);
  const other = await insertWebhook(server, own);
  const at = daysAgo(retentionDays + 2);
  // Lease the destination first, or the dispatcher of this server would send the deliveries.
  await sql`UPDATE destinations SET leased_until = now() + interval '1 minute' WHERE id = ${webhook.destinationId}`;
  const held = await insertDeliveries(sql, webhook, 'held', { count: 1_500, at });
  const [retrying = ''] = await insertDeliveries(sql, webhook, 'retrying', { count: 1, at });
  const [due = ''] = await insertDeliveries(sql, webhook, 'retrying', { count: 1, at });
  const [fresh = ''] = await insertDeliveries(sql, webhook, 'fresh', { count: 1, at });
  const [young = ''] = await insertDeliveries(sql, webhook, 'held', { count: 1, at: daysAgo(retentionDays - 1) });
  const [elsewhere = ''] = await insertDeliveries(sql, other, 'fresh', { count: 1, at });
  await sql`UPDATE deliveries SET due_at = now() - interval '1 minute' WHERE id = ${due}`;
  await sweep();
  assert.deepEqual(
    (await waitingDeliveries(sql, webhook)).map(({ id }) => id),
    [due, fresh, young],
  );
  assert.equal((await waitingDeliveries(sql, other)).length, 0);
  for (const id of [held[0], held[1_499], retrying, elsewhere]) assert.equal(await stateOf(id ?? ''), 'discarded');
  const [logged] = await sql`
    SELECT count(*)::integer AS count FROM delivery_log WHERE webhook_id = ${webhook.id} AND final AND state = 'discarded'`;
  assert.equal(logged?.['count'], 1_501);
  await sql`DELETE FROM events WHERE occurred_at < ${daysAgo(retentionDays + 1)}`;
  const answer = await call(server, `POST /deliveries/${retrying}/replay`, { token: own.admin });
  assert.equal(expectStatus(answer, 409).body.error, 'event_expired');
  // Without a lease, the rest is discarded too.
  await sql`UPDATE destinations SET leased_until = '-infinity' WHERE id = ${webhook.destinationId}`;
  await sweep();
  assert.deepEqual(
    (await waitingDeliveries(sql, webhook)).map(({ id }) => id),
    [young],
  );
});

test('concurrent sweeps log each delivery once, also one that another transaction removes', async () => {
  const webhook = await insertWebhook(server, own);
  const at = daysAgo(retentionDays + 2);
  const ids = await insertDeliveries(sql, webhook, 'held', { count: 3_000, at });
  await server.database.sql.begin(async (transaction) => {
    // Sweeps skip a row that another transaction has locked.
    await transaction`DELETE FROM deliveries WHERE id = ${ids[7] ?? ''}`;
    await Promise.all([sweep(), sweep(), sweep()]);
  });
  const [logged] = await sql`
    SELECT count(*)::integer AS count, count(DISTINCT delivery_id)::integer AS ids FROM delivery_log WHERE webhook_id = ${webhook.id}`;
  assert.deepEqual({ ...logged }, { count: 2_999, ids: 2_999 });
});

test('recoveries that ended long ago are deleted, running ones are not', async () => {
  const webhook = await insertWebhook(server, own);
  const [old, running, recent] = [randomUUID(), randomUUID(), randomUUID()];
  await sql`
    INSERT INTO webhook_recoveries (id, account_id, webhook_id, state, since, created_at, finished_at, taken_until)
    VALUES (${old}, ${webhook.accountId}, ${webhook.id}, 'finished', now(), ${daysAgo(9)}, ${daysAgo(9)}, '-infinity'),
           (${running}, ${webhook.accountId}, ${webhook.id}, 'running', now(), ${daysAgo(9)}, NULL, 'infinity'),
           (${recent}, ${webhook.accountId}, ${webhook.id}, 'stopped', now(), ${daysAgo(9)}, ${daysAgo(1)}, '-infinity')`;
  await sweep();
  const there = await Promise.all([old, running, recent].map(async (id) => isThere('webhook_recoveries', id)));
  assert.deepEqual(there, [false, true, true]);
});

test('a deleted webhook is dropped after its log, and its destination when it is no longer in use', async () => {
  const deleted = async (days: number): Promise<TestWebhook> => {
    const webhook = await insertWebhook(server, own);
    await sql`UPDATE webhooks SET deleted_at = ${daysAgo(days)} WHERE id = ${webhook.id}`;
    await sql`UPDATE destinations SET wanted_at = ${daysAgo(3)} WHERE id = ${webhook.destinationId}`;
    return webhook;
  };
  const old = await deleted(retentionDays + 1);
  const recent = await deleted(retentionDays - 1);
  const logged = await deleted(retentionDays + 1);
  await insertDeliveries(sql, logged, 'exhausted', { count: 1 });
  const waiting = await deleted(retentionDays + 1);
  await insertDeliveries(sql, waiting, 'held', { count: 1 });
  const fresh = await deleted(retentionDays + 1);
  await insertDeliveries(sql, fresh, 'fresh', { count: 1 });
  const live = await insertWebhook(server, own);
  await sql`UPDATE destinations SET wanted_at = ${daysAgo(3)} WHERE id = ${live.destinationId}`;
  const all = [old, recent, logged, waiting, fresh, live];
  await sweep();
  assert.deepEqual(await Promise.all(all.map(async ({ id }) => isThere('webhooks', id))), [false, true, true, true, true, true]); // prettier-ignore
  assert.deepEqual(await Promise.all(all.map(async ({ destinationId }) => isThere('destinations', destinationId))), [
    false,
    true,
    true,
    true,
    true,
    true,
  ]);
});

test('a destination is kept while it has deliveries or a lease, or was used lately', async () => {
  const [{ accountId }] = [await insertWebhook(server, own)];
  const destination = async (origin: string): Promise<string> => {
    const id = await destinationFor(sql, accountId as AccountId, origin);
    await sql`UPDATE destinations SET wanted_at = ${daysAgo(3)} WHERE id = ${id}`;
    return id;
  };
  const idle = await destination('https://idle.example');
  const leased = await destination('https://leased.example');
  await sql`UPDATE destinations SET leased_until = now() + interval '15 s' WHERE id = ${leased}`;
  const [fresh, due] = [await destination('https://fresh.example'), await destination('https://due.example')];
  const gone = (destinationId: string): TestWebhook => ({ id: randomUUID(), accountId, destinationId });
  await insertDeliveries(sql, gone(fresh), 'fresh', { count: 1 });
  await insertDeliveries(sql, gone(due), 'retrying', { count: 1 });
  const inUse = await destination('https://in-use.example');
  assert.equal(await destinationFor(sql, accountId as AccountId, 'https://in-use.example/other'), inUse);
  await sweep();
  const there = await Promise.all([idle, leased, fresh, due, inUse].map(async (id) => isThere('destinations', id)));
  assert.deepEqual(there, [false, true, true, true, true]);
  assert.notEqual(await destinationFor(sql, accountId as AccountId, 'https://idle.example'), idle);
});

test('a destination that is requested while it is being dropped is created again', async () => {
  const { accountId } = await insertWebhook(server, own);
  const find = async (): Promise<string> => destinationFor(sql, accountId as AccountId, 'https://dropped.example');
  const old = await find();
  await sql`UPDATE destinations SET wanted_at = ${daysAgo(3)} WHERE id = ${old}`;
  let found: Promise<string> | undefined;
  await server.database.sql.begin(async (transaction) => {
    await transaction`DELETE FROM destinations WHERE id = ${old}`;
    found = find();
    await waitsForLock();
  });
  const id = await found;
  assert.notEqual(id, old);
  assert.ok(await isThere('destinations', id ?? ''));
});

async function waitsForLock(): Promise<void> {
  await until(async () => {
    const rows = await sql`
      SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    return rows.length > 0;
  });
}

/** Inserts a webhook that was last attached long ago. */
async function insertAttached(account: TestAccount = own): Promise<TestWebhook> {
  const webhook = await insertWebhook(server, account, { side: 'visitor' });
  await sql`UPDATE webhooks SET attached_at = ${daysAgo(retentionDays + 2)} WHERE id = ${webhook.id}`;
  return webhook;
}

test('an attached webhook is dropped when it was last attached long ago and nothing refers to it', async () => {
  const chat = await engage(server);
  const [idle, engaged, ticketed, requested, held, fresh, logged, recent] = await Promise.all(
    Array.from({ length: 8 }, async () => insertAttached(chat.own)),
  );
  assert.ok(idle && engaged && ticketed && requested && held && fresh && logged && recent);
  await sql`UPDATE engagements SET heard_by = ${[engaged.id]} WHERE id = ${chat.id}`;
  const queue = await makeQueue(server, chat.own, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
  const ticketAnswer = await requestTicket(server, chat.own, { queue_ids: [queue], media: 'video' });
  const { id: ticket } = expectStatus(ticketAnswer, 201).body;
  await sql`UPDATE queue_tickets SET notes = json_build_object('webhooks', ARRAY[${ticketed.id}::text]) WHERE id = ${ticket}`;
  await sql`
    INSERT INTO engagement_requests (id, account_id, site_id, kind, origin, visitor_id, operator_id, media, state,
                                     timeout_ms, notes, created_at, updated_at)
    SELECT gen_random_uuid(), account_id, site_id, 'direct', 'operator', visitor_id, operator_id, media, 'pending',
           2000000000, json_build_object('platform', 'sms', 'webhooks', ARRAY[${requested.id}::text]), ${daysAgo(9)}, ${daysAgo(9)}
      FROM engagements WHERE id = ${chat.id}`;
  await insertDeliveries(sql, held, 'held', { count: 1 });
  await insertDeliveries(sql, fresh, 'fresh', { count: 1 });
  await insertDeliveries(sql, logged, 'delivered', { count: 1 });
  await sql`UPDATE webhooks SET attached_at = ${daysAgo(retentionDays - 1)} WHERE id = ${recent.id}`;
  const registered = await insertWebhook(server, chat.own);
  const all = [idle, engaged, ticketed, requested, held, fresh, logged, recent, registered];
  await sweep();
  const there = await Promise.all(all.map(async ({ id }) => isThere('webhooks', id)));
  assert.deepEqual(there, [false, ...Array.from({ length: 8 }, () => true)]);

  await end(chat);
  await call(server, `PATCH /queue_tickets/${ticket}`, {
    token: ticketAnswer.visitor.token,
    body: { action: 'cancel' },
  });
  await sql`UPDATE engagement_requests SET state = 'accepted' WHERE notes ->> 'webhooks' LIKE ${`%${requested.id}%`}`;
  await sweep();
  const then = await Promise.all([engaged, ticketed, requested].map(async ({ id }) => isThere('webhooks', id)));
  assert.deepEqual(then, [false, false, false]);
});

test('webhooks that must be kept do not block the deletion of others', async () => {
  const account = await makeAccount(server);
  const first = await insertAttached(account);
  // More than one batch of webhooks with log entries.
  await sql`
    WITH made AS (
           INSERT INTO webhooks (id, account_id, destination_id, side, digest, attached_at, url, headers, events, hears)
           SELECT gen_random_uuid(), account_id, destination_id, side, n::text::bytea, ${daysAgo(30)}, url, headers, events, hears
             FROM webhooks, generate_series(1, 1100) AS n
            WHERE id = ${first.id}
           RETURNING id, account_id, destination_id)
    INSERT INTO delivery_log (at, delivery_id, account_id, webhook_id, destination_id, event_id, event_seq, event_xid,
                              occurred_at, event_type, created_at, state, final)
    SELECT now(), gen_random_uuid(), account_id, id, destination_id, id, 0, '3', now(), '', now(), 'delivered', true FROM made`;
  await sweep();
  assert.equal(await isThere('webhooks', first.id), false);
});

test('a webhook that is attached while it is being dropped is created again', async () => {
  const names = new NameResolver();
  const attacher = new WebhookAttacher({
    sql,
    guard: new AddressGuard(['127.0.0.0/8'], names),
    sealer: new Sealer(sql),
    unresolved: new UnresolvedNames(names),
    sites: { get: async () => null },
  });
  const { accountId } = await insertWebhook(server, own);
  const webhook = { url: 'http://127.0.0.1:9/hook', method: 'POST' as const, events: ['engagement.start' as const] };
  const attach = async () =>
    attacher.attach({ accountId: accountId as AccountId, siteId: own.siteId, side: 'visitor', webhooks: [webhook] });
  const [old = ''] = await attach();
  assert.deepEqual(await attach(), [old]);
  await sql`UPDATE webhooks SET attached_at = ${daysAgo(30)} WHERE id = ${old}`;
  let again: ReturnType<typeof attach> | undefined;
  await server.database.sql.begin(async (transaction) => {
    await transaction`DELETE FROM webhooks WHERE id = ${old}`;
    again = attach();
    await waitsForLock();
  });
  const [made = ''] = (await again) ?? [];
  assert.notEqual(made, old);
  assert.ok(await isThere('webhooks', made));
  // The other order: the webhook is attached first, and is kept.
  await sql`UPDATE webhooks SET attached_at = ${daysAgo(30)} WHERE id = ${made}`;
  let swept: Promise<void> | undefined;
  await server.database.sql.begin(async (transaction) => {
    await transaction`UPDATE webhooks SET attached_at = now() WHERE id = ${made}`;
    swept = sweep();
    await waitsForLock();
  });
  await swept;
  assert.ok(await isThere('webhooks', made));
});
