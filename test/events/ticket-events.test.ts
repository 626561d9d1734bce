import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { leaseElsewhere, makeWebhook } from '../support/receivers/webhooks.ts';
import {
  acceptOffer,
  enqueue,
  eventsOf,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeOperator,
  makeQueue,
  makeSite,
  offersOf,
  requestTicket,
  setPresence,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());
const receiver = await forThisFile(startReceiver());
const events = ['ticket.created', 'ticket.offered', 'ticket.ended'];

async function ticketEventsOf(account: TestAccount): Promise<Json[]> {
  return (await eventsOf(server, account)).filter(({ event_type }) => event_type.startsWith('ticket.'));
}

async function decline(token: string): Promise<void> {
  const [offer] = await offersOf(server, { token });
  const body = { action: 'decline' };
  expectStatus(await call(server, `PATCH /engagement_requests/${offer.id}`, { token, body }), 200);
}

test('a subscriber is sent how each ticket is created, offered and ended, in order', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  await makeWebhook(server, account, { url: receiver.url, events });
  await using feed = await openFeed(server, { token: account.admin });
  const { id, visitor } = await enqueue(server, account, queue);
  const first = await makeAvailableOperator(server, account);
  const second = await makeAvailableOperator(server, account);
  await decline(first.token);
  const engagement = await acceptOffer(server, second);

  await until(() => receiver.arrived.length === 4);
  const tickets = receiver.arrived.map(({ event }) => event);
  assert.deepEqual(
    tickets.map(({ event_type }) => event_type),
    ['ticket.created', 'ticket.offered', 'ticket.offered', 'ticket.ended'],
  );
  const [created, offered, again, ended] = tickets.map(({ ticket }) => ticket);
  const { enqueued_at: enqueuedAt, ...rest } = created;
  assert.ok(Math.abs(Date.parse(enqueuedAt) - Date.now()) < 60_000);
  assert.deepEqual(rest, {
    id,
    kind: 'visitor',
    site_id: account.siteId,
    visitor_id: visitor.id,
    media: 'text',
    queue_ids: [queue],
    engagement_id: null,
  });
  assert.deepEqual([offered.operator_id, again.operator_id], [first.id, second.id]);
  assert.deepEqual([offered.queue_id, offered.enqueued_at], [queue, enqueuedAt]);
  assert.notEqual(offered.engagement_request_id, again.engagement_request_id);
  assert.deepEqual([ended.state, ended.engagement_id, ended.queue_id], ['engaged', engagement, queue]);

  // The live feed has the states of tickets, and not these events.
  await feed.untilType('engagement.start');
  assert.deepEqual(feed.items.filter(({ type }) => type.startsWith('ticket.')), []); // prettier-ignore
  const log = await call(server, 'GET /events?event_type[]=ticket.ended', { token: account.admin });
  assert.deepEqual(log.body.events[0].event.ticket, ended);
  const listed = await call(server, 'GET /event_types', { token: account.admin });
  const types = new Set(listed.body.event_types.map(({ event_type }: Json) => event_type));
  assert.ok(events.every((type) => types.has(type)));
});

test('the end of a canceled ticket names the state, and neither an engagement nor a queue', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  await makeWebhook(server, account, { url: `${receiver.url}/canceled`, events: ['ticket.ended'] });
  const { id, visitor } = await enqueue(server, account, queue);
  const body = { action: 'cancel' };
  expectStatus(await call(server, `PATCH /queue_tickets/${id}`, { token: visitor.token, body }), 200);
  const [ended] = await ticketEventsOf(account);
  const { state, engagement_id, queue_id } = ended.ticket;
  assert.deepEqual([state, engagement_id, queue_id], ['canceled', null, null]);
});

test('a transfer to a queue is a ticket of the kind transfer, with its engagement', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const operator = await makeAvailableOperator(server, account);
  await enqueue(server, account, queue);
  const engagement = await acceptOffer(server, operator);
  await makeWebhook(server, account, { url: `${receiver.url}/transfer`, events: ['ticket.created'] });
  const body = { engagement_id: engagement, queue_id: queue, media: 'text' };
  expectStatus(await call(server, 'POST /transfer_tickets', { token: operator.token, body }), 201);
  const [created] = await ticketEventsOf(account);
  assert.deepEqual([created.ticket.kind, created.ticket.engagement_id], ['transfer', engagement]);
});

test('without a subscriber there are no events of tickets, also after the last one is deleted', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  await enqueue(server, account, queue);
  assert.deepEqual(await ticketEventsOf(account), []);
  const { id } = await makeWebhook(server, account, { url: `${receiver.url}/deleted`, events });
  await makeWebhook(server, account, { url: `${receiver.url}/others`, events: ['engagement.start'] });
  await enqueue(server, account, queue);
  assert.equal((await ticketEventsOf(account)).length, 1);
  expectStatus(await call(server, `DELETE /webhooks/${id}`, { token: account.admin }), 204);
  await enqueue(server, account, queue);
  assert.equal((await ticketEventsOf(account)).length, 1);
  const others = receiver.arrived.filter(({ path }) => path.endsWith('/others'));
  assert.deepEqual(others, []);
});

test('a webhook is sent the tickets of the sites that it covers', async () => {
  const account = await makeAccount(server);
  const otherSite = await makeSite(server, account);
  const manager = await makeOperator(server, account, [{ site_id: otherSite, role: 'super_manager' }]);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const own = { ...account, admin: manager.token };
  await makeWebhook(server, own, { url: `${receiver.url}/elsewhere`, events });
  await makeWebhook(server, account, { url: `${receiver.url}/here`, events });
  const { id } = await enqueue(server, account, queue);
  const reached = (path: string) => receiver.arrived.filter((each) => each.path.endsWith(path));
  await until(() => reached('/here').length === 1);
  assert.equal(reached('/here')[0]?.event.ticket.id, id);
  assert.deepEqual(reached('/elsewhere'), []);
});

test('a webhook that is attached to a ticket is not sent events of tickets', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  await makeWebhook(server, account, { url: `${receiver.url}/registered`, events });
  const webhooks = [{ url: `${receiver.url}/attached`, method: 'POST', events: [...events, 'engagement.start'] }];
  expectStatus(await requestTicket(server, account, { queue_ids: [queue], webhooks }), 201);
  await acceptOffer(server, await makeAvailableOperator(server, account));
  const typesAt = (path: string) =>
    receiver.arrived.filter((each) => each.path.endsWith(path)).map(({ event }) => event.event_type);
  await until(() => typesAt('/registered').length === 3 && typesAt('/attached').length > 0);
  assert.deepEqual(typesAt('/attached'), ['engagement.start']);
});

test('deliveries of a ticket are ordered among themselves, and belong to no engagement', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  await leaseElsewhere(server);
  const { id: webhook } = await makeWebhook(server, account, { url: 'http://127.0.0.2:9/hook', events });
  const { id } = await enqueue(server, account, queue);
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await setPresence(server, operator);
  const rows = await server.database.sql`
    SELECT engagement_id AS lane, event_type FROM deliveries WHERE webhook_id = ${webhook} ORDER BY event_seq`;
  assert.deepEqual([...rows], [
    { lane: id, event_type: 'ticket.created' },
    { lane: id, event_type: 'ticket.offered' },
  ]); // prettier-ignore
  const { body } = await call(server, `GET /webhooks/${webhook}/deliveries`, { token: account.admin });
  assert.deepEqual(body.deliveries.map(({ engagement_id }: Json) => engagement_id), [null, null]); // prettier-ignore
});
