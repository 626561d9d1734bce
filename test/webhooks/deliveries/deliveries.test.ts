import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { listDeliveries } from '../../../packages/server/src/webhooks/deliveries/store.ts';
import type { WebhookId } from '../../../packages/server/src/events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../../../packages/server/src/events/subscriptions/destination.ts';
import {
  insertDeliveries,
  finishDelivery,
  insertWebhook,
  insertFailedAttempt,
  waitingDeliveries,
  type TestWebhook,
} from '../../support/receivers/deliveries.ts';
import { openWorld } from '../../support/fixture.ts';
import { countRowsRead } from '../../support/database/rows-read.ts';
import { call, type Answer, type Json } from '../../support/server.ts';
import { leaseElsewhere } from '../../support/receivers/webhooks.ts';
import { expectStatus, makeAccount, makeOperator, makeSite } from '../../support/world.ts';

const { server, account: own } = await openWorld();
const { sql } = server.database;
// Deliveries stay as the tests insert them.
await leaseElsewhere(server);

const hourMs = 3_600_000;

async function ask(path: string, token = own.admin): Promise<Answer> {
  return call(server, `GET ${path}`, { token });
}

async function page(address: string): Promise<Json> {
  const path = address.startsWith('http') ? address.slice(address.indexOf('/', 8)) : address;
  return expectStatus(await ask(path), 200).body;
}

/** Reads all pages. */
async function listed(webhook: TestWebhook, query: string): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let pages = 0;
  for (let next: string | null = `/webhooks/${webhook.id}/deliveries?${query}`; next !== null; pages += 1) {
    const { deliveries, next_page } = await page(next);
    ids.push(...deliveries.map(({ id }: Json) => id));
    next = next_page;
  }
  return { ids, pages };
}

async function replay(id: string, token = own.admin): Promise<Answer> {
  return call(server, `POST /deliveries/${id}/replay`, { token });
}

test('deliveries are listed with the newest event first, waiting and finished ones together', async () => {
  const webhook = await insertWebhook(server, own);
  const other = await insertWebhook(server, own);
  await insertDeliveries(sql, other, 'delivered', { count: 3 });
  const engagementId = randomUUID();
  const at = new Date(Date.now() - hourMs);
  const [delivered = ''] = await insertDeliveries(sql, webhook, 'delivered', { count: 1, at, engagementId });
  const rest: string[] = [];
  for (const seeded of ['fresh', 'retrying', 'exhausted', 'held', 'discarded', 'pending'] as const)
    rest.push(...(await insertDeliveries(sql, webhook, seeded, { count: 2, type: 'engagement.end', at })));
  const all = [delivered, ...rest].toReversed();
  const { deliveries, next_page } = await page(`/webhooks/${webhook.id}/deliveries`);
  assert.deepEqual(
    deliveries.map(({ id }: Json) => id),
    all,
  );
  assert.equal(next_page, null);
  const { event_id, ...shown } = deliveries.at(-1);
  assert.match(event_id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(shown, {
    id: delivered,
    webhook_id: webhook.id,
    engagement_id: engagementId,
    event_type: 'engagement.start',
    state: 'delivered',
    parked: false,
    next_attempt_at: null,
    occurred_at: at.toISOString(),
    created_at: at.toISOString(),
    finished_at: new Date(at.getTime() + 1_000).toISOString(),
    last_status: 200,
    last_error: null,
  });
  assert.deepEqual(
    deliveries.map(({ state, next_attempt_at, finished_at }: Json) => [
      state,
      next_attempt_at !== null,
      finished_at !== null,
    ]),
    [
      ...['pending', 'discarded', 'held', 'exhausted', 'retrying', 'pending'].flatMap((state, index) =>
        [0, 1].map(() => [state, index === 0 || index === 4, ['exhausted', 'discarded'].includes(state)]),
      ),
      ['delivered', false, true],
    ],
  );

  // A delivery that waits for its retry shows the result of its last attempt, as a finished one does.
  const [, retrying = ''] = rest.slice(2);
  for (const [index, status] of [503, 429].entries())
    await insertFailedAttempt(sql, retrying, { at: new Date(at.getTime() + (index + 1) * 1_000), status });
  const again = (await page(`/webhooks/${webhook.id}/deliveries?state=retrying`)).deliveries;
  assert.deepEqual(
    again.map(({ id, last_status, last_error }: Json) => [id === retrying, last_status, last_error]),
    [
      [true, 429, 'Answered'],
      [false, null, null],
    ],
  );
});

test('deliveries are filtered by state, event type and time of the event', async () => {
  const webhook = await insertWebhook(server, own);
  const start = Date.now() - 3 * hourMs;
  const byState: Record<string, string[]> = {};
  const states = ['fresh', 'pending', 'retrying', 'held', 'delivered', 'exhausted', 'discarded'] as const;
  for (const [index, seeded] of states.entries()) {
    const state = seeded === 'fresh' ? 'pending' : seeded;
    const type = index % 2 === 0 ? 'engagement.start' : 'engagement.end';
    const ids = await insertDeliveries(sql, webhook, seeded, { count: 3, at: new Date(start + index * 60_000), type });
    byState[state] = [...ids.toReversed(), ...(byState[state] ?? [])];
  }
  for (const [state, ids] of Object.entries(byState))
    assert.deepEqual(await listed(webhook, `state=${state}&per_page=2`), { ids, pages: Math.ceil(ids.length / 2) });
  const ends = await listed(webhook, 'event_type=engagement.end&per_page=4');
  assert.equal(ends.ids.length, 9);
  const instant = (minutes: number): string => new Date(start + minutes * 60_000).toISOString();
  // The range is half-open: it does not include the fifth minute.
  for (const span of [`from=${instant(3)}&to=${instant(5)}`, `since=${instant(3)}&until=${instant(5)}`])
    assert.deepEqual((await listed(webhook, span)).ids, [...(byState['delivered'] ?? []), ...(byState['held'] ?? [])]);
  assert.deepEqual((await listed(webhook, `from=${instant(60)}`)).ids, []);
  const unknown = await insertWebhook(server, own);
  assert.deepEqual(await listed(unknown, 'per_page=1'), { ids: [], pages: 1 });
});

test('an invalid query is refused', async () => {
  const { id } = await insertWebhook(server, own);
  const wrong = {
    state: 'unknown',
    event_type: 'unknown',
    since: 'yesterday',
    until: '2026-06-30T23:59:60Z',
    cursor: 'x',
    per_page: '1001',
  };
  for (const [name, value] of Object.entries(wrong)) {
    const answer = expectStatus(await ask(`/webhooks/${id}/deliveries?${name}=${value}`), 422);
    assert.equal(answer.body.details[0].attribute, `/${name}`);
  }
  const forged = [`${'9'.repeat(16)} ${id}`, `-1 ${id}`, '1 none', `1e5 ${id}`, ''];
  for (const text of forged) {
    const cursor = Buffer.from(text).toString('base64url');
    expectStatus(await ask(`/webhooks/${id}/deliveries?cursor=${cursor}`), 422);
  }
  expectStatus(await ask(`/webhooks/${id}/deliveries?since=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z`), 200);
  expectStatus(await ask('/webhooks/none/deliveries'), 404);
  expectStatus(await ask(`/webhooks/${randomUUID()}/deliveries`), 404);
});

test('paging shows each delivery once while deliveries finish and are replayed', async () => {
  const webhook = await insertWebhook(server, own);
  const all: string[] = [];
  for (const seeded of ['fresh', 'delivered', 'retrying', 'exhausted', 'held', 'fresh', 'delivered'] as const)
    all.push(...(await insertDeliveries(sql, webhook, seeded, { count: 11 })));
  const seen: string[] = [];
  let turn = 0;
  for (let next: string | null = `/webhooks/${webhook.id}/deliveries?per_page=6`; next !== null; turn += 1) {
    const { deliveries, next_page } = await page(next);
    seen.push(...deliveries.map(({ id }: Json) => id));
    next = next_page;
    // Deliveries that were listed, and some that were not, move to the log and back, and new ones are added.
    const waiting = await waitingDeliveries(sql, webhook);
    for (const index of [0, 3, waiting.length - 2]) await finishDelivery(sql, waiting[index]?.id ?? '');
    for (const id of [all[12 + turn], all[70 - turn], all[40]]) expectStatus(await replay(id ?? ''), 202);
    await insertDeliveries(sql, webhook, 'fresh', { count: 1 });
  }
  assert.ok(turn > 10);
  assert.deepEqual(seen, all.toReversed());
});

test('deliveries are found by their own id, the id of their event or of their engagement', async () => {
  const webhook = await insertWebhook(server, own);
  const engagementId = randomUUID();
  await insertDeliveries(sql, webhook, 'delivered', { count: 3 });
  const [finished = ''] = await insertDeliveries(sql, webhook, 'exhausted', { count: 1, engagementId });
  const [waiting = ''] = await insertDeliveries(sql, webhook, 'held', { count: 1, engagementId });
  const { event_id: eventId } = await page(`/deliveries/${finished}`);
  const matching = async (id: string) => (await listed(webhook, `matching_id=${id}`)).ids;
  assert.deepEqual(await matching(engagementId.toUpperCase()), [waiting, finished]);
  assert.deepEqual(await matching(eventId), [finished]);
  assert.deepEqual(await matching(waiting), [waiting]);
  assert.deepEqual(await matching(randomUUID()), []);
  const other = await insertWebhook(server, own);
  assert.deepEqual((await listed(other, `matching_id=${engagementId}`)).ids, []);
  assert.equal((await ask(`/webhooks/${webhook.id}/deliveries?matching_id=none`)).status, 422);
});

test('a page reads as many rows as it shows, and with filters a limited number, however many there are', async () => {
  const origin = 'https://busy.example';
  const webhook = await insertWebhook(server, own, { origin });
  const neighbour = { ...(await insertWebhook(server, own)), destinationId: webhook.destinationId };
  const dayMs = 24 * hourMs;
  let rare: string[] = [];
  for (let days = 9; days >= 0; days -= 1) {
    const at = new Date(Date.now() - days * dayMs - hourMs);
    await sql`SELECT make_day('events', 'occurred_at', ${at}::date), make_day('delivery_log', 'at', ${at}::date)`;
    if (days === 5)
      rare = await insertDeliveries(sql, webhook, 'delivered', { count: 1, type: 'sip_domain.delete', at });
    await insertDeliveries(sql, webhook, days % 5 === 4 ? 'exhausted' : 'delivered', { count: 12_000, at });
    await insertDeliveries(sql, webhook, days % 2 === 0 ? 'retrying' : 'held', { count: 2_000, at });
    await insertDeliveries(sql, webhook, 'fresh', { count: 1_500, at });
    await insertDeliveries(sql, neighbour, 'fresh', { count: 1_500, at });
  }
  await insertDeliveries(sql, webhook, 'delivered', { count: 12_000 });
  await sql`ANALYZE deliveries`;
  await sql`ANALYZE delivery_log`;

  const all = {
    webhook: { id: webhook.id as WebhookId, destination_id: webhook.destinationId as DestinationId },
    state: null,
    eventType: null,
    matching: null,
    since: null,
    until: null,
    siteIds: null,
    after: null,
    limit: 31,
  };
  const readOf = async (list: Parameters<typeof listDeliveries>[1]): Promise<number> =>
    countRowsRead(sql, 'deliver%', async (transaction) => listDeliveries(transaction, list));
  // Each of three sources reads a page at most, and one row of each partition to choose the next.
  const maxRead = 3 * 31 + 30;
  const first = await listDeliveries(sql, all);
  const middle = { seq: Math.floor((first.rows[0]?.event_seq ?? 0) / 2), id: randomUUID() };
  for (const state of [null, 'delivered', 'exhausted', 'discarded', 'retrying', 'held', 'pending'] as const) {
    // Rows in between are skipped: those of another webhook with the same destination, and those that the filter excludes.
    const skipped = { null: 1_500, exhausted: 0, pending: 21_500 }[String(state)] ?? 20_000;
    for (const after of [null, middle]) {
      const read = await readOf({ ...all, state, after });
      assert.ok(read <= maxRead + skipped, `${state}: ${read}`);
    }
  }
  const read = await readOf({ ...all, eventType: 'sip_domain.delete' });
  assert.ok(read <= 2 * 3 * 10_000 + maxRead, String(read));
  const recent = { ...all, eventType: 'sip_domain.delete', since: new Date(Date.now() + 2 * dayMs) };
  const pruned = await readOf({ ...recent, state: 'delivered' });
  assert.equal(pruned, 0);
  // A page may be empty while later pages are not.
  const found = await listed(webhook, 'event_type=sip_domain.delete&state=delivered');
  assert.deepEqual(found.ids, rare);
  assert.ok(found.pages > 1 && found.pages < 20, String(found.pages));
});

test('D8.8 a delivery is shown with its event and every attempt, without secrets', async () => {
  const webhook = await insertWebhook(server, own);
  const payload = { event_type: 'visitor.authentication.success', token: '' };
  const at = new Date(Date.now() - hourMs);
  const [id = ''] = await insertDeliveries(sql, webhook, 'retrying', {
    count: 1,
    type: payload.event_type,
    payload,
    at,
  });
  await sql`
    INSERT INTO event_secrets (event_id, account_id, sealed, expires_at)
    SELECT event_id, account_id, 'sealed', now() + interval '1 day' FROM deliveries WHERE id = ${id}`;
  const times = [1, 2, 3].map((minutes) => new Date(at.getTime() + minutes * 60_000));
  for (const [index, time] of times.entries()) await insertFailedAttempt(sql, id, { at: time, status: 500 + index });
  const [row] = await waitingDeliveries(sql, webhook);
  const { event_id, event, attempts, ...shown } = expectStatus(await ask(`/deliveries/${id}`), 200).body;
  assert.deepEqual(shown, {
    id,
    webhook_id: webhook.id,
    engagement_id: null,
    event_type: payload.event_type,
    state: 'retrying',
    parked: false,
    next_attempt_at: row?.due_at?.toISOString(),
    occurred_at: at.toISOString(),
    created_at: at.toISOString(),
    finished_at: null,
  });
  assert.deepEqual(event, { id: event_id, type: payload.event_type, payload });
  assert.deepEqual(
    attempts,
    times.map((time, index) => ({
      at: time.toISOString(),
      state: 'retrying',
      status: 500 + index,
      duration_ms: 7,
      answer: 'no',
      error: 'Answered',
    })),
  );

  await finishDelivery(sql, id, 'exhausted');
  const finished = expectStatus(await ask(`/deliveries/${id}`), 200).body;
  assert.deepEqual([finished.state, finished.next_attempt_at, finished.attempts.length], ['exhausted', null, 4]);
  assert.equal(finished.attempts.at(-1).state, 'exhausted');
  await sql`DELETE FROM events WHERE id = ${event_id}`;
  assert.equal((await ask(`/deliveries/${id}`)).body.event.payload, null);
});

test('only a super_manager of every site that the webhook covers may read and replay its deliveries', async () => {
  const account = await makeAccount(server);
  const site = await makeSite(server, account);
  const both = await makeOperator(server, account, [
    { site_id: account.siteId, role: 'super_manager' },
    { site_id: site, role: 'super_manager' },
  ]);
  const one = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  const lower = await makeOperator(server, account, [
    { site_id: account.siteId, role: 'super_manager' },
    { site_id: site, role: 'manager' },
  ]);
  const webhookFor = async (siteIds: string[] | null, side?: 'visitor'): Promise<TestWebhook> =>
    insertWebhook(server, account, side === undefined ? { siteIds } : { side });
  const expectStatuses = async (webhook: TestWebhook, statuses: [string, number][]): Promise<void> => {
    const [id = ''] = await insertDeliveries(sql, webhook, 'exhausted', { count: 1 });
    for (const [token, status] of statuses) {
      for (const path of [
        `/webhooks/${webhook.id}/deliveries`,
        `/webhooks/${webhook.id}/recoveries`,
        `/deliveries/${id}`,
      ])
        expectStatus(await ask(path, token), status);
      expectStatus(await replay(id, token), status === 200 ? 202 : status);
    }
  };
  await expectStatuses(await webhookFor([account.siteId]), [[both.token, 200], [one.token, 200], [lower.token, 200], [own.admin, 404]]); // prettier-ignore
  await expectStatuses(await webhookFor([account.siteId, site]), [[both.token, 200], [one.token, 404], [lower.token, 403]]); // prettier-ignore
  await expectStatuses(await webhookFor(null), [[both.token, 200], [one.token, 404], [lower.token, 403], [own.admin, 404]]); // prettier-ignore
  // An attached webhook.
  await expectStatuses(await webhookFor(null, 'visitor'), [[both.token, 200], [one.token, 404], [lower.token, 403]]); // prettier-ignore
  const body = { api_key_id: account.key.id, api_key_secret: account.key.secret, site_ids: [account.siteId] };
  const limited = await call(server, 'POST /operator_authentication/tokens', { body });
  await expectStatuses(await webhookFor(null), [[account.admin, 200], [expectStatus(limited, 200).body.token, 404]]); // prettier-ignore

  const deleted = await webhookFor([account.siteId]);
  await sql`UPDATE webhooks SET deleted_at = now() WHERE id = ${deleted.id}`;
  expectStatus(await ask(`/webhooks/${deleted.id}/deliveries`, both.token), 200);
});
