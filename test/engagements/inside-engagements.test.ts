import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { end, engage, ofType, type TokenHolder } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Answer, type Json, type TestServer } from '../support/server.ts';
import { acceptOffer, enqueue, eventsOf, expectStatus, makeAvailableOperator, makeVisitor } from '../support/world.ts';

const server = await forThisFile(startTestServer());

test('D8.11 the typing clock grows across both sides, and an indicator is stored only if a webhook subscribes', async () => {
  const chat = await engage(server);
  const { visitor, operator, own, id } = chat;
  const second = await startTestServer({}, server.database.address);
  const type = async (at: TestServer, who: TokenHolder, typing: Json): Promise<Answer> =>
    call(at, `PUT /engagements/${id}/typing_indicator`, { token: who.token, body: { typing } });
  const before = await eventsOf(server, own);
  for (const at of [server, second])
    for (const who of [visitor, operator]) expectStatus(await type(at, who, true), 204);
  assert.deepEqual(await eventsOf(server, own), before);
  for (const wrong of [undefined, 'yes', null]) expectStatus(await type(server, visitor, wrong), 422);
  assert.equal((await type(server, await makeVisitor(server, own), true)).status, 404);
  await end(chat);
  assert.equal((await type(server, visitor, false)).status, 422);

  const subscribed = await engage(
    server,
    {},
    {
      webhooks: [{ url: 'https://a.test/h', method: 'POST', events: ['engagement.chat.typing_indicator.visitor'] }],
    },
  );
  const again = { ...subscribed, token: subscribed.visitor.token };
  for (const at of [server, second, server]) {
    const answer = await call(at, `PUT /engagements/${again.id}/typing_indicator`, {
      token: again.token,
      body: { typing: true },
    });
    expectStatus(answer, 204);
  }
  expectStatus(
    await call(server, `PUT /engagements/${again.id}/typing_indicator`, {
      token: subscribed.operator.token,
      body: { typing: true },
    }),
    204,
  );
  const indications = ofType(await eventsOf(server, subscribed.own), 'engagement.chat.typing_indicator.visitor');
  const clocks = indications.map(({ typing_indicator: { clock } }) => clock);
  assert.equal(clocks.length, 3);
  assert.deepEqual(
    clocks,
    [...new Set<number>(clocks)].toSorted((a, b) => a - b),
  );
  assert.deepEqual(indications[0].typing_indicator.sender, { id: subscribed.visitor.id });
  await second[Symbol.asyncDispose]();
});

test('a visitor event is recorded and sent as an event', async () => {
  const chat = await engage(server);
  const { own, visitor, operator, id } = chat;
  const post = async (who: TokenHolder, body: Json): Promise<Answer> =>
    call(server, `POST /engagements/${id}/events`, { token: who.token, body });
  const answer = expectStatus(await post(visitor, { message: 'cart_opened' }), 200).body;
  for (const body of [{}, { message: '' }, { message: 1 }]) expectStatus(await post(visitor, body), 422);
  assert.equal((await post(operator, { message: 'x' })).status, 403);
  assert.equal((await post(await makeVisitor(server, own), { message: 'x' })).status, 404);
  const [event, ...more] = ofType(await eventsOf(server, own), 'engagement.event');
  assert.equal(more.length, 0);
  assert.deepEqual(event.message, {
    timestamp: answer.created_at,
    id: answer.id,
    engagement_id: id,
    sub_engagement: { id: event.message.sub_engagement.id, operator_id: operator.id, site_id: own.siteId },
    sender: { type: 'visitor', id: visitor.id },
    content: 'cart_opened',
  });
  await end(chat);
  assert.equal((await post(visitor, { message: 'x' })).status, 409);
});

test('D4.4 a media upgrade is requested, replaced and accepted, and then occupies the operator', async () => {
  const chat = await engage(server);
  const { own, visitor, operator, id, queue } = chat;
  const base = `/engagements/${id}/media_upgrade_requests`;
  const ask = async (who: TokenHolder, body: Json): Promise<Answer> =>
    call(server, `POST ${base}`, { token: who.token, body });
  const answer = async (who: TokenHolder, upgrade: string, action: string): Promise<Answer> =>
    call(server, `PATCH ${base}/${upgrade}`, { token: who.token, body: { action } });
  for (const body of [
    {},
    { audio: null, video: null },
    { audio: 'one_way', video: null },
    { audio: 'two_way' },
    { audio: null, video: 'three_way' },
  ])
    expectStatus(await ask(visitor, body), 422);
  const first = expectStatus(await ask(operator, { audio: 'two_way', video: 'one_way' }), 201).body;
  assert.deepEqual([first.target, first.state], ['visitor', 'pending']);
  const second = expectStatus(await ask(visitor, { audio: 'two_way', video: null }), 201).body;
  const { body: list } = await call(server, `GET ${base}`, { token: visitor.token });
  assert.deepEqual(
    list.media_upgrade_requests.map((each: Json) => [each.id, each.state]),
    [
      [second.id, 'pending'],
      [first.id, 'canceled'],
    ],
  );
  assert.equal(expectStatus(await answer(visitor, first.id, 'accept'), 409).body.error, 'request_ended');
  assert.equal((await answer(visitor, second.id, 'accept')).status, 403);
  assert.equal((await answer(visitor, second.id, 'decline')).status, 403);
  assert.equal((await answer(operator, second.id, 'cancel')).status, 403);
  assert.equal((await answer(operator, randomUUID(), 'accept')).status, 404);

  // The operator could take a second text engagement; the upgrade prevents it. The site has no calls beside chats.
  const strict = { token: own.admin, body: { calls_beside_chats: false } };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, strict), 200);
  const raise = { token: own.admin, body: { max_engagement_count: 2 } };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, raise), 200);
  const other = await enqueue(server, own, queue);
  const otherId = await acceptOffer(server, operator);
  assert.equal(expectStatus(await answer(operator, second.id, 'accept'), 409).body.error, 'operator_unavailable');
  for (const who of [visitor, operator])
    assert.equal(
      expectStatus(await ask(who, { audio: 'two_way', video: null }), 409).body.error,
      'operator_unavailable',
    );
  expectStatus(
    await call(server, `PATCH /engagements/${otherId}`, { token: other.visitor.token, body: { action: 'end' } }),
    200,
  );
  const accepted = await Promise.all([1, 2, 3].map(async () => answer(operator, second.id, 'accept')));
  for (const each of accepted) assert.equal(expectStatus(each, 200).body.state, 'accepted');
  assert.equal((await call(server, `GET /engagements/${id}`, { token: visitor.token })).body.media, 'audio');
  const waiting = await enqueue(server, own, queue);
  const ticket = async (): Promise<string> =>
    (await call(server, `GET /queue_tickets/${waiting.id}`, { token: waiting.visitor.token })).body.state;
  assert.equal(await ticket(), 'waiting');
  const third = expectStatus(await ask(operator, { audio: null, video: 'two_way' }), 201).body;
  expectStatus(await answer(visitor, third.id, 'decline'), 200);
  assert.equal(expectStatus(await answer(visitor, third.id, 'accept'), 409).body.error, 'request_ended');
  const fourth = expectStatus(await ask(operator, { audio: null, video: 'two_way' }), 201).body;
  expectStatus(await answer(operator, fourth.id, 'cancel'), 200);
  await end(chat);
  assert.equal(await ticket(), 'offered');
  assert.equal((await ask(visitor, { audio: 'two_way', video: null })).status, 409);

  const events = await eventsOf(server, own);
  const [requestEvent] = ofType(events, 'engagement.media_upgrade_request');
  const named = { engagement_id: id, sub_engagement_id: first.sub_engagement_id };
  const { media_upgrade_request: upgrade } = requestEvent;
  assert.deepEqual(upgrade, { id: first.id, audio: 'two_way', video: 'one_way', target: 'visitor', ...named });
  const news = ofType(events, 'engagement.chat.system_message').map(({ message }) => message.content);
  assert.deepEqual(news, [
    'The operator requested audio and one-way video.',
    'The visitor requested audio.',
    'The operator accepted audio.',
    'The operator requested two-way video.',
    'The visitor declined two-way video.',
    'The operator requested two-way video.',
    'The operator canceled two-way video.',
  ]);
  // They are not acknowledged, but system messages do not count as undelivered.
  const flags = ofType(events, 'engagement.chat.system_message').map((event) => event.undelivered_messages);
  assert.deepEqual(new Set(flags), new Set([false]));
});

test('D10.9 a pending media upgrade is canceled when its engagement ends or is transferred', async () => {
  const chat = await engage(server);
  const { own, visitor, operator, id } = chat;
  const base = `/engagements/${id}/media_upgrade_requests`;
  const body = { audio: 'two_way', video: null };
  const requested = expectStatus(await call(server, `POST ${base}`, { token: visitor.token, body }), 201).body;
  const colleague = await makeAvailableOperator(server, own);
  const { id: transfer } = expectStatus(
    await call(server, 'POST /transfer_requests', {
      token: operator.token,
      body: { engagement_id: id, operator_id: colleague.id },
    }),
    201,
  ).body;
  expectStatus(
    await call(server, `PATCH /transfer_requests/${transfer}`, { token: colleague.token, body: { action: 'accept' } }),
    200,
  );
  const late = await call(server, `PATCH ${base}/${requested.id}`, {
    token: colleague.token,
    body: { action: 'accept' },
  });
  assert.equal(expectStatus(late, 409).body.error, 'request_ended');
  assert.equal((await call(server, `GET /engagements/${id}`, { token: visitor.token })).body.media, 'text');
});

test('of two concurrent media upgrades, one is pending', async () => {
  const chat = await engage(server);
  const base = `/engagements/${chat.id}/media_upgrade_requests`;
  const body = { audio: 'two_way', video: null };
  const requested = await Promise.all(
    [chat.visitor, chat.operator, chat.visitor, chat.operator].map(async ({ token }) =>
      call(server, `POST ${base}`, { token, body }),
    ),
  );
  for (const each of requested) expectStatus(each, 201);
  const { body: list } = await call(server, `GET ${base}`, { token: chat.visitor.token });
  const states = list.media_upgrade_requests.map(({ state }: Json) => state);
  assert.equal(states.filter((state: string) => state === 'pending').length, 1);
  assert.equal(states.length, 4);
});
