import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { acknowledge, engage, sendText } from '../support/people/chat.ts';
import { assertDeclared } from '../support/api/declared-items.ts';
import { contents, isMessage, openFeed, type FeedItem, type OpenFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  makeVisitor,
  setPresence,
  signIn,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());
const second = await forThisFile(startTestServer({}, server.database.address));

test('both sides see messages, acknowledgements and typing, in whichever process they are', async () => {
  const chat = await engage(server);
  const { visitor, operator, id } = chat;
  await using ofOperator = await openFeed(server, { token: operator.token });
  await using ofVisitor = await openFeed(second, { token: visitor.token });
  const messageId = await sendText(chat, visitor, 'Hello');
  for (const feed of [ofOperator, ofVisitor]) {
    const { data } = await feed.until(isMessage('Hello'));
    assert.deepEqual(Object.keys(data), ['event_type', 'event_id', 'dispatched_at', 'message', 'undelivered_messages']);
  }
  expectStatus(await acknowledge({ ...chat, server: second }, operator, messageId), 200);
  for (const feed of [ofOperator, ofVisitor]) {
    const { data } = await feed.untilType('engagement.chat.message_status');
    assert.equal(data.message.id, messageId);
  }
  for (const at of [server, second])
    expectStatus(
      await call(at, `PUT /engagements/${id}/typing_indicator`, { token: visitor.token, body: { typing: true } }),
      204,
    );
  for (const feed of [ofOperator, ofVisitor]) {
    const type = 'engagement.chat.typing_indicator.visitor';
    await feed.until(() => feed.items.filter((item) => item.type === type).length === 2, 'typing, twice');
    const clocks = feed.items.filter((item) => item.type === type).map(({ data }) => data.typing_indicator.clock);
    assert.equal(new Set(clocks).size, 2);
  }
  for (const { id: itemId } of [...ofOperator.items, ...ofVisitor.items]) assert.notEqual(itemId, '');
  assertDeclared([...ofOperator.items, ...ofVisitor.items]);
});

test('a visitor sees their ticket, their position, the offer and the engagement', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const first = await enqueue(server, own, queue);
  const visitor = await makeVisitor(server, own);
  await using feed = await openFeed(second, { token: visitor.token });
  const ticket = await enqueue(server, own, queue, visitor);
  const at = (state: string, position: number | null) => (item: FeedItem) =>
    item.type === 'queue_ticket.state' && item.data.state === state && item.data.position === position;
  const { data } = await feed.until(at('waiting', 2), 'waiting in the second place');
  const { body: got } = await call(server, `GET /queue_tickets/${ticket.id}`, { token: visitor.token });
  assert.deepEqual(data, got);
  expectStatus(
    await call(server, `PATCH /queue_tickets/${first.id}`, { token: first.visitor.token, body: { action: 'cancel' } }),
    200,
  );
  await feed.until(at('waiting', 1), 'having come forward');
  const operator = await makeAvailableOperator(server, own);
  await feed.until(at('offered', null), 'offered');
  const offer = await feed.until((item) => item.type === 'engagement_request.state' && item.data.state === 'pending');
  assert.deepEqual([offer.data.operator_id, offer.data.visitor_id], [operator.id, visitor.id]);
  const engagement = await acceptOffer(server, operator);
  const started = await feed.untilType('engagement.start');
  assert.equal(started.data.engagement.id, engagement);
  await feed.until(at('engaged', null), 'engaged');
  const state = await feed.untilType('engagement.state');
  const { body: shown } = await call(server, `GET /engagements/${engagement}`, { token: visitor.token });
  assert.deepEqual(state.data, shown);
  expectStatus(
    await call(server, `PATCH /engagements/${engagement}`, { token: visitor.token, body: { action: 'end' } }),
    200,
  );
  assert.equal((await feed.untilType('engagement.end')).data.engagement.end_reason, 'visitor_hung_up');
  assert.deepEqual([...new Set(feed.items.map(({ type }) => type))].toSorted(), [
    'engagement.end',
    'engagement.start',
    'engagement.state',
    'engagement_request.state',
    'feed.open',
    'queue_ticket.state',
  ]);
  assertDeclared(feed.items);
});

test('each kind of caller sees what they may see, and nothing else', async () => {
  const chat = await engage(server);
  const { own, visitor, operator, id, queue } = chat;
  const site = await makeSite(server, own);
  const foreign = await makeAccount(server);
  const colleague = await makeAvailableOperator(server, own, { media: ['text'] });
  const manager = await makeOperator(server, own, [{ site_id: own.siteId, role: 'manager' }]);
  const elsewhere = await makeOperator(server, own, [{ site_id: site, role: 'super_manager' }]);
  const stranger = await makeVisitor(server, own);
  const limited = expectStatus(
    await call(server, 'POST /operator_authentication/tokens', {
      body: { api_key_id: own.key.id, api_key_secret: own.key.secret, site_ids: [site] },
    }),
    200,
  ).body.token;
  const open = async (token: string): Promise<OpenFeed> => openFeed(server, { token });
  const feeds = {
    visitor: await open(visitor.token),
    operator: await open(operator.token),
    colleague: await open(colleague.token),
    manager: await open(manager.token),
    admin: await open(own.admin),
    elsewhere: await open(elsewhere.token),
    limited: await open(limited),
    stranger: await open(stranger.token),
    foreign: await open(foreign.admin),
  };
  await sendText(chat, visitor, 'To the operator');
  expectStatus(
    await call(server, `POST /engagements/${id}/system_messages`, { token: own.admin, body: { content: 'Psst' } }),
    201,
  );
  expectStatus(
    await call(server, `POST /engagements/${id}/events`, { token: visitor.token, body: { message: 'clicked' } }),
    200,
  );
  expectStatus(
    await call(server, `POST /engagements/${id}/media_upgrade_requests`, {
      token: visitor.token,
      body: { audio: 'two_way', video: null },
    }),
    201,
  );
  const transfer = expectStatus(
    await call(server, 'POST /transfer_requests', {
      token: operator.token,
      body: { engagement_id: id, operator_id: colleague.id },
    }),
    201,
  ).body.id;
  expectStatus(
    await call(server, `PATCH /transfer_requests/${transfer}`, { token: colleague.token, body: { action: 'accept' } }),
    200,
  );
  await sendText(chat, colleague, 'To the visitor');
  expectStatus(
    await call(server, `PUT /queues/${queue}`, {
      token: own.admin,
      body: { name: 'Renamed', capacity_policy: { type: 'fixed', capacity: 0 }, routing_policy: {} },
    }),
    200,
  );
  await makeQueue(server, { ...own, siteId: site });
  await makeQueue(server, foreign);
  await feeds.foreign.untilType('queue.state');
  await feeds.elsewhere.untilType('queue.state');
  await feeds.manager.untilType('queue.state');
  await feeds.stranger.untilType('queue.state');
  await feeds.visitor.until(isMessage('To the visitor'));
  await feeds.colleague.until(isMessage('To the visitor'));
  await feeds.manager.until(isMessage('To the visitor'));
  await feeds.operator.untilType('engagement.transfer');
  await feeds.operator.until((item) => item.type === 'transfer_request.state' && item.data.state === 'accepted');
  const seen = (feed: OpenFeed): string[] =>
    [...new Set(feed.items.map(({ type }) => type))].filter((type) => type !== 'feed.open').toSorted();
  const inside = [
    'engagement.chat.message',
    'engagement.event',
    'engagement.media_upgrade_request',
    'engagement.state',
  ];
  assert.deepEqual(seen(feeds.visitor), [...inside, 'engagement.transfer', 'queue.state'].toSorted());
  const staff = [
    ...inside,
    'engagement.chat.system_message',
    'engagement.transfer',
    'queue.state',
    'transfer_request.state',
  ];
  assert.deepEqual(seen(feeds.manager), staff.toSorted());
  assert.deepEqual(seen(feeds.admin), staff.toSorted());
  // The operator who transferred the engagement sees the transfer, and nothing after it.
  assert.deepEqual(seen(feeds.operator), staff.filter((type) => type !== 'engagement.state').toSorted());
  assert.deepEqual(contents(feeds.operator), ['To the operator']);
  const taken = [
    'engagement.chat.message',
    'engagement.state',
    'engagement.transfer',
    'queue.state',
    'transfer_request.state',
  ];
  assert.deepEqual(seen(feeds.colleague), taken.toSorted());
  assert.deepEqual(contents(feeds.colleague), ['To the visitor']);
  for (const feed of [feeds.stranger, feeds.elsewhere, feeds.limited, feeds.foreign])
    assert.deepEqual(seen(feed), ['queue.state']);
  const sites = (feed: OpenFeed): string[] => [
    ...new Set<string>(feed.items.flatMap(({ data }) => data.site_id ?? [])),
  ];
  assert.deepEqual(sites(feeds.elsewhere), [site]);
  assert.deepEqual(sites(feeds.limited), [site]);
  assert.deepEqual(sites(feeds.stranger), [own.siteId]);
  const ofQueue = (feed: OpenFeed): Json => feed.items.findLast(({ type }) => type === 'queue.state')?.data;
  assert.deepEqual(Object.keys(ofQueue(feeds.stranger)), [
    'id',
    'site_id',
    'status',
    'self_status',
    'available_properties',
  ]);
  assert.equal(ofQueue(feeds.stranger).status, 'full');
  assert.equal(ofQueue(feeds.manager).capacity, 0);
  await Promise.all(Object.values(feeds).map(async (feed) => feed.close()));
  assertDeclared(Object.values(feeds).flatMap(({ items }) => items));
});

test('an operator sees offers at once, a manager sees presence', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const operator = await makeAvailableOperator(server, own);
  await using feed = await openFeed(second, { token: operator.token });
  await using managing = await openFeed(second, { token: own.admin });
  await enqueue(server, own, queue);
  const offer = await feed.until((item) => item.type === 'engagement_request.state' && item.data.state === 'pending');
  const { body: got } = await call(server, `GET /engagement_requests/${offer.data.id}`, { token: operator.token });
  assert.deepEqual(offer.data, got);
  await setPresence(server, operator, { available: false });
  const gone = await managing.until(
    (item) => item.type === 'operator.state' && item.data.id === operator.id && !item.data.available,
  );
  assert.equal(gone.data.id, operator.id);
  const failed = await feed.until((item) => item.type === 'engagement_request.state' && item.data.state === 'failed');
  assert.equal(failed.data.fail_reason, 'operator_left');
  assertDeclared([...feed.items, ...managing.items]);
});

test('a feed needs a valid token and query, and takes the last id as a query parameter too', async () => {
  const own = await makeAccount(server);
  for (const token of [undefined, 'garbage']) assert.equal((await call(server, 'GET /feed', { token })).status, 401);
  const answer = await call(server, 'GET /feed?hold_presence=perhaps', { token: own.admin });
  assert.equal(answer.status, 422);
  assert.equal((await call(server, 'POST /feed', { token: own.admin, body: {} })).status, 405);
  await using feed = await openFeed(server, { token: own.admin, query: '?last_event_id=nonsense' });
  await feed.untilType('feed.reset');
  assert.equal(feed.headers.get('cache-control'), 'no-store');
  assert.equal(feed.headers.get('x-content-type-options'), 'nosniff');
});

test('a page of another origin may read the feed if the site allows the origin', async () => {
  const own = await makeAccount(server);
  const origin = 'https://shop.test';
  expectStatus(
    await call(server, `PATCH /sites/${own.siteId}`, { token: own.admin, body: { allowed_origins: [origin] } }),
    200,
  );
  await using feed = await openFeed(server, { token: own.admin, headers: { origin } });
  assert.equal(feed.headers.get('access-control-allow-origin'), origin);
  await using foreign = await openFeed(server, { token: own.admin, headers: { origin: 'https://other.test' } });
  assert.equal(foreign.headers.get('access-control-allow-origin'), null);
});

test('a lost role takes effect on an open feed; the feed ends when its operator or token is deleted', async () => {
  const own = await makeAccount(server);
  const site = await makeSite(server, own);
  const operator = await makeOperator(server, own, [
    { site_id: own.siteId, role: 'manager' },
    { site_id: site, role: 'operator' },
  ]);
  await using feed = await openFeed(second, { token: operator.token });
  const assignments = { token: own.admin, body: { assignments: [{ site_id: site, role: 'operator' }] } };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, assignments), 200);
  await pause(100);
  await makeQueue(server, own);
  const there = await makeQueue(server, { ...own, siteId: site });
  await feed.until((item) => item.type === 'queue.state' && item.data.id === there);
  assert.deepEqual([...new Set(feed.items.flatMap(({ data }) => data.site_id ?? []))], [site]);
  expectStatus(await call(server, `DELETE /operators/${operator.id}`, { token: own.admin }), 204);
  await feed.ended;

  const token = await signIn(server, own.key);
  await using ofAdmin = await openFeed(second, { token });
  expectStatus(await call(server, 'DELETE /operator_authentication/sessions/current', { token }), 204);
  await ofAdmin.ended;
});

test('a visitor who moves to another site sees the queues of that site', async () => {
  const own = await makeAccount(server);
  const site = await makeSite(server, own);
  const visitor = await makeVisitor(server, own);
  await using feed = await openFeed(second, { token: visitor.token });
  expectStatus(
    await call(server, `PATCH /visitors/${visitor.id}`, { token: visitor.token, body: { site_id: site } }),
    200,
  );
  await pause(300);
  const queue = await makeQueue(server, { ...own, siteId: site });
  await feed.until((item) => item.type === 'queue.state' && item.data.id === queue);
});

test('D5.5 hold_presence renews the lease while connected, and lets it expire afterwards', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const shown = async (): Promise<Json> =>
    (await call(server, `GET /operators/${operator.id}`, { token: own.admin })).body;
  await using idle = await openFeed(server, { token: operator.token, query: '?hold_presence=true' });
  assert.equal((await shown()).available, false, 'a connection alone does not make an operator available');
  await idle.close();

  await setPresence(server, operator, { expires_in_sec: 5 });
  const soon = new Date((await shown()).presence_expires_at).getTime();
  const feed = await openFeed(second, { token: operator.token, query: '?hold_presence=true' });
  const extended = new Date((await shown()).presence_expires_at).getTime();
  assert.ok(extended - soon > 20_000, 'the feed extends the lease');
  await feed.close();
  const after = new Date((await shown()).presence_expires_at).getTime();
  assert.equal(after, extended);

  await setPresence(server, operator);
  await using unlimited = await openFeed(server, { token: operator.token, query: '?hold_presence=true' });
  assert.equal((await shown()).presence_expires_at, null, 'a lease without an end stays without an end');
  await unlimited.close();

  const queue = await makeQueue(server, own, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
  const visitor = await makeVisitor(server, own);
  const answer = await call(server, 'POST /queue_tickets', {
    token: visitor.token,
    body: { site_id: own.siteId, media: 'video', queue_id: queue },
  });
  const { id } = expectStatus(answer, 201).body;
  const lease = { token: visitor.token, body: { expires_in_sec: 2 } };
  expectStatus(await call(server, `PUT /visitors/${visitor.id}/presence`, lease), 200);
  await using waiting = await openFeed(server, { token: visitor.token, query: '?hold_presence=true' });
  await pause(2_500);
  const state = async (): Promise<string> =>
    (await call(server, `GET /queue_tickets/${id}`, { token: visitor.token })).body.state;
  assert.ok(['waiting', 'offered'].includes(await state()));
  await waiting.close();
});

test('D5.5: a feed gives a waiting visitor without a lease one of 30 s', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const { visitor } = await enqueue(server, own, queue);
  const lease = async (): Promise<number | null> => {
    const [row] = await server.database.sql<{ left: number | null }[]>`
      SELECT extract(epoch FROM presence_expires_at - now())::float8 AS left FROM visitors WHERE id = ${visitor.id}`;
    return row?.left ?? null;
  };
  assert.equal(await lease(), null);
  await using feed = await openFeed(server, { token: visitor.token, query: '?hold_presence=true' });
  await feed.untilType('feed.open');
  const left = await lease();
  assert.ok(left !== null && left > 20 && left <= 30, `${left} s`);
});
