import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTransaction } from '../../packages/server/src/platform/database/database.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { leaseElsewhere, makeWebhook, webhookFields } from '../support/receivers/webhooks.ts';
import {
  enqueue,
  eventsOf,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeOperator,
  makePolicy,
  makeQueue,
  makeSite,
  makeVisitor,
  queueFields,
  requestTicket,
  setPresence,
  type TestAccount,
} from '../support/world.ts';

/** Two servers on one database, as two processes. */
const server = await forThisFile(startTestServer());
const second = await forThisFile(startTestServer({}, server.database.address));
const { sql } = server.database;
const receiver = await forThisFile(startReceiver());
const events = ['queue.status', 'operator.presence'];

async function statusesOf(account: TestAccount): Promise<string[]> {
  const found = (await eventsOf(server, account)).filter(({ event_type }) => event_type === 'queue.status');
  return found.map(({ queue }) => describeQueue(queue));
}

function describeQueue(queue: Json): string {
  const { previous_status, previous_self_status, status, self_status, reason } = queue;
  const both = (shown: string, own: string): string => (shown === own ? shown : `${shown}(${own})`);
  return `${both(previous_status, previous_self_status)} → ${both(status, self_status)}: ${reason}`;
}

async function presencesOf(account: TestAccount): Promise<Json[]> {
  const found = (await eventsOf(server, account)).filter(({ event_type }) => event_type === 'operator.presence');
  return found.map(({ operator }) => operator);
}

/** Waits until a turn has noted how the queues and operators are now. */
async function untilNoted(account: TestAccount, count: number): Promise<void> {
  await until(async () => {
    const rows = await sql`
      SELECT 1 FROM reported_states
       WHERE account_id = (SELECT account_id FROM operators WHERE id = ${account.adminId})`;
    return rows.length === count;
  });
}

/** Business hours on one day of the week, so many days from now. */
function hoursIn(days: number): Json[] {
  const weekday = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][(new Date().getUTCDay() + days) % 7];
  return [{ opens_at: '00:00', closes_at: '24:00', days_of_week: [weekday] }];
}

async function put(account: TestAccount, path: string, body: Json): Promise<void> {
  expectStatus(await call(server, `PUT ${path}`, { token: account.admin, body }), 200);
}

test('each change of the status of a queue is an event, with the reason', async () => {
  const account = await makeAccount(server);
  const fields = { ...queueFields, capacity_policy: { type: 'fixed', capacity: 1 }, when_unstaffed: 'reject' };
  const queue = await makeQueue(server, account, fields);
  await makeWebhook(server, account, { url: receiver.url, events: ['queue.status'] });
  await untilNoted(account, 1);
  assert.deepEqual(await statusesOf(account), [], 'how the queue is at the start is no change');

  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await setPresence(second, operator, { media: ['text'] });
  const { id, visitor } = await enqueue(server, account, queue);
  const body = { action: 'cancel' };
  expectStatus(await call(second, `PATCH /queue_tickets/${id}`, { token: visitor.token, body }), 200);
  // Only video, which the operator does not take.
  await put(account, `/queues/${queue}`, { ...fields, routing_policy: { media: ['video'] } });
  await until(async () => (await statusesOf(account)).length === 4);
  const never = await makePolicy(server, account, { timezone: 'UTC', business_hours: hoursIn(3) });
  await put(account, `/queues/${queue}`, { ...fields, routing_policy: {}, scheduling_policy_id: never });
  await until(async () => (await statusesOf(account)).length === 5);
  await setPresence(server, operator, { available: false });
  await put(account, `/queues/${queue}`, { ...fields, scheduling_policy_id: null });
  await until(async () => (await statusesOf(account)).length === 6);
  assert.deepEqual(await statusesOf(account), [
    'unstaffed → opened: staff',
    'opened → full: capacity',
    'full → opened: capacity',
    'opened → unstaffed: staff',
    'unstaffed → closed: hours',
    'closed → unstaffed: hours',
  ]);
  await until(() => receiver.ofType('queue.status').length === 6);
  assert.deepEqual(
    receiver.ofType('queue.status').map(({ queue: each }) => describeQueue(each)),
    await statusesOf(account),
    'in order',
  );
  const { id: shown, site_id: site } = receiver.ofType('queue.status')[0].queue;
  assert.deepEqual([shown, site], [queue, account.siteId]);
});

test('a queue whose fallback opens or closes is reported, with its own status', async () => {
  const account = await makeAccount(server);
  const fallback = await makeQueue(server, account, { when_unstaffed: 'reject', routing_policy: { media: ['text'] } });
  await makeQueue(server, account, {
    when_unstaffed: 'reject',
    routing_policy: { media: ['video'] },
    fallback_queue_id: fallback,
  });
  await makeWebhook(server, account, { ...webhookFields, events: ['queue.status'] });
  await untilNoted(account, 2);
  const operator = await makeAvailableOperator(server, account, { media: ['text'] });
  await setPresence(second, operator, { available: false });
  assert.deepEqual((await statusesOf(account)).toSorted(), [
    'opened → unstaffed: staff',
    'opened(unstaffed) → unstaffed: fallback',
    'unstaffed → opened(unstaffed): fallback',
    'unstaffed → opened: staff',
  ]);
});

test('hours that begin while no process has the board are reported once, by one of the processes', async () => {
  const account = await makeAccount(server);
  const fields = { ...queueFields, when_unstaffed: 'accept' };
  const queue = await makeQueue(server, account, fields);
  await makeWebhook(server, account, { ...webhookFields, events: ['queue.status'] });
  await untilNoted(account, 1);
  const policy = await makePolicy(server, account, { timezone: 'UTC', business_hours: hoursIn(3) });
  await put(account, `/queues/${queue}`, { ...fields, scheduling_policy_id: policy });
  await until(async () => (await statusesOf(account)).length === 1);
  // As if days had passed while all processes were down: no trigger runs, and no process has the board.
  await inTransaction(sql, async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`;
    await transaction`
      UPDATE scheduling_policies
         SET business_hours = ${JSON.stringify([...hoursIn(0), ...hoursIn(1)])}::text::jsonb, version = version + 1
       WHERE id = ${policy}`;
    await transaction`
      UPDATE accounts SET board_version = board_version + 1000000, next_due_at = now()
       WHERE id = (SELECT account_id FROM operators WHERE id = ${account.adminId})`;
  });
  await until(async () => (await statusesOf(account)).length === 2);
  await Promise.all([server, second].map(async (each) => enqueue(each, account, queue)));
  assert.deepEqual(await statusesOf(account), ['opened → closed: hours', 'closed → opened: hours']);
});

test('an operator who becomes available, takes other media, is disabled or does not renew is reported once', async () => {
  const account = await makeAccount(server);
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await makeWebhook(server, account, { ...webhookFields, events: ['operator.presence'] });
  await untilNoted(account, 2);
  await setPresence(server, operator, { media: ['text'], reason: 'here' });
  await setPresence(second, operator, { media: ['text'], reason: 'still here' });
  await setPresence(second, operator, { media: ['text', 'video'] });
  await setPresence(server, operator, { available: false, reason: 'lunch' });
  await setPresence(server, operator, { available: false, reason: 'still lunch' });
  await setPresence(server, operator, { media: ['text'] });
  const enable = async (enabled: boolean) =>
    expectStatus(
      await call(server, `PATCH /operators/${operator.id}`, { token: account.admin, body: { enabled } }),
      200,
    );
  await enable(false);
  await until(async () => (await presencesOf(account)).length === 5);
  const shown = (await presencesOf(account)).map(({ id, ...rest }) => {
    assert.equal(id, operator.id);
    return rest;
  });
  assert.deepEqual(shown, [
    { available: true, media: ['text'], because: 'set', reason: 'here' },
    { available: true, media: ['text', 'video'], because: 'set', reason: null },
    { available: false, media: [], because: 'set', reason: 'lunch' },
    { available: true, media: ['text'], because: 'set', reason: null },
    { available: false, media: [], because: 'disabled', reason: null },
  ]);
});

test('a presence that is not renewed is reported, also if it ended while no process had the board', async () => {
  const account = await makeAccount(server);
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await makeWebhook(server, account, { ...webhookFields, events: ['operator.presence'] });
  await untilNoted(account, 2);
  await setPresence(server, operator, { media: ['text'], expires_in_sec: 1 });
  await until(async () => (await presencesOf(account)).length === 2);
  const [, lapsed] = await presencesOf(account);
  assert.deepEqual([lapsed.available, lapsed.because], [false, 'expired']);

  await setPresence(server, operator, { media: ['text'], expires_in_sec: 600 });
  await sql`UPDATE operators SET presence_expires_at = now() - interval '1 minute' WHERE id = ${operator.id}`;
  // Any turn of a process that loads the board finds the difference.
  await sql`SELECT raise_board(account_id, '{}') FROM operators WHERE id = ${operator.id}`;
  await sql`DELETE FROM board_moves WHERE account_id = (SELECT account_id FROM operators WHERE id = ${operator.id})`;
  await until(async () => (await presencesOf(account)).length === 4);
  assert.equal((await presencesOf(account))[3].because, 'expired');
});

test('a webhook is sent the presence of operators of the sites that it covers', async () => {
  const account = await makeAccount(server);
  const otherSite = await makeSite(server, account);
  const assigned = (site: string) => ({ site_id: site, role: 'operator' });
  const manager = await makeOperator(server, account, [{ site_id: otherSite, role: 'super_manager' }]);
  const here = await makeOperator(server, account, [assigned(account.siteId)]);
  const both = await makeOperator(server, account, [assigned(account.siteId), assigned(otherSite)]);
  await leaseElsewhere(server);
  const own = { ...account, admin: manager.token };
  const { id } = await makeWebhook(server, own, { url: 'http://127.0.0.3:9/hook', events });
  await untilNoted(account, 4);
  await setPresence(server, here);
  await setPresence(server, both);
  const rows = await sql<{ lane: string }[]>`SELECT engagement_id AS lane FROM deliveries WHERE webhook_id = ${id}`;
  assert.deepEqual(rows.map(({ lane }) => lane), [both.id]); // prettier-ignore
});

test('a subscription begins with how things are now, and not with what changed since an earlier one', async () => {
  const account = await makeAccount(server);
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const { id } = await makeWebhook(server, account, { ...webhookFields, events });
  await untilNoted(account, 2);
  await put(account, `/webhooks/${id}`, webhookFields);
  await setPresence(server, operator);
  assert.deepEqual(await presencesOf(account), []);
  await put(account, `/webhooks/${id}`, { ...webhookFields, events });
  await setPresence(server, operator, { available: false });
  assert.deepEqual((await presencesOf(account)).map(({ available }) => available), [false]); // prettier-ignore
  // A second subscriber changes nothing for the first.
  await makeWebhook(server, account, { ...webhookFields, events });
  await setPresence(server, operator);
  assert.equal((await presencesOf(account)).length, 2);
});

test('what was reported of a deleted queue is removed', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account);
  await makeWebhook(server, account, { ...webhookFields, events: ['queue.status'] });
  await untilNoted(account, 1);
  expectStatus(await call(server, `DELETE /queues/${queue}`, { token: account.admin }), 204);
  await untilNoted(account, 0);
  assert.deepEqual(await statusesOf(account), []);
});

test('with concurrent turns of two processes each change is reported once: the events form one chain', async () => {
  const account = await makeAccount(server);
  const fields = { capacity_policy: { type: 'fixed', capacity: 1 }, when_unstaffed: 'accept' };
  const queue = await makeQueue(server, account, fields);
  const operator = await makeAvailableOperator(server, account, { media: ['text'] });
  const types = [...events, 'ticket.created', 'ticket.ended'];
  await makeWebhook(server, account, { ...webhookFields, events: types });
  await untilNoted(account, 3);
  const visitors = await Promise.all(Array.from({ length: 24 }, async () => makeVisitor(server, account)));
  const tickets = await Promise.all(
    visitors.map(async (visitor, n) => {
      const node = n % 2 === 0 ? server : second;
      // Some orders change the presence of the operator meanwhile.
      if (n % 8 === 0) await setPresence(node, operator, { available: n % 16 === 8, media: ['text'] });
      const { status, body } = await requestTicket(node, account, { queue_ids: [queue] }, visitor);
      if (status !== 201) return null;
      await call(node, `PATCH /queue_tickets/${body.id}`, { token: visitor.token, body: { action: 'cancel' } });
      return body.id as string;
    }),
  );
  await setPresence(second, operator, { media: ['text'] });
  const all = await eventsOf(server, account);
  const statuses = all.filter(({ event_type }) => event_type === 'queue.status').map(({ queue: each }) => each);
  let status = 'opened';
  for (const { previous_self_status: previous, self_status: next } of statuses) {
    assert.equal(previous, status);
    assert.notEqual(next, status);
    status = next;
  }
  const { body: read } = await call(server, `GET /queues/${queue}`, { token: account.admin });
  assert.equal(status, read.self_status);
  const presences = (await presencesOf(account)).map(({ available }) => available);
  assert.ok(presences.every((available, n) => available !== (presences[n - 1] ?? true)));
  const made = tickets.filter((id) => id !== null).toSorted();
  for (const type of ['ticket.created', 'ticket.ended']) {
    const ids = all.filter(({ event_type }) => event_type === type).map(({ ticket }) => String(ticket.id));
    assert.deepEqual(ids.toSorted(), made, type);
  }
  assert.ok(made.length > 0 && statuses.length > 0);
});
