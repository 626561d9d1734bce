import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { end, engage, type Engaged, type TokenHolder } from '../support/people/chat.ts';
import { assertDeclared } from '../support/api/declared-items.ts';
import { openFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Answer, type Json, type TestServer } from '../support/server.ts';
import { enqueue, eventsOf, expectStatus, makeOperator, makeAvailableOperator, makeVisitor } from '../support/world.ts';

const server = await forThisFile(startTestServer());
/** Another process of the same service, which reads the board from the database. */
const second = await forThisFile(startTestServer({}, server.database.address));

async function read({ id, visitor }: Engaged): Promise<Json> {
  return expectStatus(await call(server, `GET /engagements/${id}`, { token: visitor.token }), 200).body;
}

/** The visitor requests a call and the operator accepts. Returns the id of the call. */
async function becomeCall(chat: Engaged, video: 'two_way' | null = null): Promise<string> {
  await accept(chat, chat.operator, await ask(chat, chat.visitor, video));
  return (await read(chat)).calls.at(-1).id;
}

async function ask({ id }: Engaged, { token }: TokenHolder, video: 'two_way' | null): Promise<string> {
  const body = { audio: 'two_way', video };
  return expectStatus(await call(server, `POST /engagements/${id}/media_upgrade_requests`, { token, body }), 201).body
    .id;
}

async function accept(chat: Engaged, { token }: TokenHolder, upgrade: string): Promise<void> {
  const path = `/engagements/${chat.id}/media_upgrade_requests/${upgrade}`;
  expectStatus(await call(server, `PATCH ${path}`, { token, body: { action: 'accept' } }), 200);
}

async function hangUp({ id }: Engaged, { token }: TokenHolder, callId: string, at = server): Promise<Answer> {
  return call(at, `PATCH /engagements/${id}/calls/${callId}`, { token, body: { action: 'end' } });
}

test('D11.1 when either side hangs up, the engagement continues as text and the operator is offered the next visitor', async () => {
  const chat = await engage(server);
  const { own, operator, visitor, id, queue } = chat;
  const raise = { token: own.admin, body: { max_engagement_count: 2 } };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, raise), 200);
  await using feed = await openFeed(server, { token: visitor.token });
  const callId = await becomeCall(chat);
  const waiting = await enqueue(server, own, queue);
  const ticket = async (): Promise<string> =>
    (await call(server, `GET /queue_tickets/${waiting.id}`, { token: waiting.visitor.token })).body.state;
  assert.equal(await ticket(), 'waiting');
  const connect = { token: operator.token, body: { action: 'connect' } };
  const connected = expectStatus(await call(server, `PATCH /engagements/${id}/calls/${callId}`, connect), 200).body;
  assert.notEqual(connected.connected_at, null);
  expectStatus(
    await call(server, `PATCH /engagements/${id}/calls/${callId}`, { ...connect, token: visitor.token }),
    200,
  );
  const requested = await ask(chat, operator, 'two_way');
  const before = await eventsOf(server, own);

  // Both sides at the same time, through two processes.
  const [one, other] = await Promise.all([hangUp(chat, visitor, callId), hangUp(chat, operator, callId, second)]);
  const ended = expectStatus(one, 200).body;
  assert.deepEqual(expectStatus(other, 200).body, ended);
  assert.equal(ended.connected_at, connected.connected_at, 'the first connection counts');
  const now = await read(chat);
  assert.deepEqual([now.state, now.media, now.calls], ['active', 'text', [ended]]);
  assert.deepEqual([ended.sub_engagement_id, ended.ended_at >= ended.connected_at], [now.legs[0].id, true]);
  assert.ok(['visitor', 'operator'].includes(ended.ended_by));
  const item = await feed.until(
    ({ type, data }) => type === 'engagement.state' && data.media === 'text' && data.calls.length === 1,
  );
  assert.deepEqual(item.data.calls, [ended]);
  assert.equal(await ticket(), 'offered', 'the operator is no longer in a call');
  const upgrade = await call(server, `GET /engagements/${id}/media_upgrade_requests/${requested}`, {
    token: visitor.token,
  });
  assert.equal(upgrade.body.state, 'canceled', 'hanging up calls off what was pending');
  const without = ({ event_type }: Json): boolean => event_type !== 'engagement.request.failure';
  assert.deepEqual((await eventsOf(server, own)).filter(without), before, 'webhooks get no new event');
  assertDeclared(feed.items);
});

test('D11.1 a late hang-up, or one by somebody else, does not end the next call', async () => {
  const chat = await engage(server);
  const { own, operator, visitor, id } = chat;
  const first = await becomeCall(chat);
  expectStatus(await hangUp(chat, operator, first), 200);
  const next = await becomeCall(chat, 'two_way');
  expectStatus(await hangUp(chat, operator, first), 200);
  assert.equal((await read(chat)).media, 'video');
  expectStatus(await hangUp(chat, await makeVisitor(server, own), next), 404);
  const colleague = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  expectStatus(await hangUp(chat, colleague, next), 403);
  expectStatus(await hangUp(chat, operator, randomUUID()), 404);
  for (const action of ['hold', null]) {
    const body = { action };
    expectStatus(await call(server, `PATCH /engagements/${id}/calls/${next}`, { token: visitor.token, body }), 422);
  }
  await end(chat);
  const { calls } = await read(chat);
  assert.deepEqual(
    calls.map((each: Json) => [each.id, each.ended_by, each.connected_at, each.ended_at === null]),
    [
      [first, 'operator', null, false],
      [next, null, null, false],
    ],
  );
  assert.equal(expectStatus(await hangUp(chat, visitor, next), 200).body.ended_by, null);
});

test('D11.2 a transfer ends a call and starts another; an engagement that began as a call can become text too', async () => {
  const chat = await engage(server, {}, { media: 'audio' });
  const { own, operator } = chat;
  const colleague = await makeAvailableOperator(server, own);
  const transfer = { engagement_id: chat.id, operator_id: colleague.id, message: 'About the invoice.' };
  const requested = await call(server, 'POST /transfer_requests', { token: operator.token, body: transfer });
  const path = `/transfer_requests/${expectStatus(requested, 201).body.id}`;
  expectStatus(await call(second, `PATCH ${path}`, { token: colleague.token, body: { action: 'accept' } }), 200);
  const { media, calls, legs } = await read(chat);
  assert.equal(media, 'audio');
  assert.deepEqual(
    calls.map((each: Json) => [each.sub_engagement_id, each.ended_at === null, each.ended_by]),
    [
      [legs[0].id, false, null],
      [legs[1].id, true, null],
    ],
  );
  expectStatus(await hangUp(chat, operator, calls[1].id), 403);
  assert.equal(expectStatus(await hangUp(chat, operator, calls[0].id), 200).body.ended_by, null);
  assert.equal(expectStatus(await hangUp(chat, colleague, calls[1].id), 200).body.ended_by, 'operator');
  assert.equal((await read(chat)).media, 'text');
});

test('a call that is being transferred arrives as a chat if somebody hangs up before, whichever process is asked', async () => {
  const chat = await engage(server, {}, { media: 'audio' });
  const { own, operator, visitor } = chat;
  const colleague = await makeAvailableOperator(server, own);
  const body = { engagement_id: chat.id, operator_id: colleague.id };
  const asked = expectStatus(await call(server, 'POST /transfer_requests', { token: operator.token, body }), 201).body;
  const path = `/transfer_requests/${asked.id}`;
  const seen = async (at: TestServer): Promise<string> =>
    expectStatus(await call(at, `GET ${path}`, { token: colleague.token }), 200).body.media;
  assert.deepEqual([asked.media, await seen(second)], ['audio', 'audio']);
  await using feed = await openFeed(second, { token: colleague.token });
  expectStatus(await hangUp(chat, visitor, (await read(chat)).calls[0].id), 200);
  const { data } = await feed.untilType('transfer_request.state');
  assert.deepEqual([data.id, data.state, data.media], [asked.id, 'pending', 'text']);
  assert.deepEqual([await seen(server), await seen(second)], ['text', 'text']);
  expectStatus(await call(second, `PATCH ${path}`, { token: colleague.token, body: { action: 'accept' } }), 200);
  const { media, calls } = await read(chat);
  assert.deepEqual([media, calls.length], ['text', 1]);
});

test('whatever races with hanging up, the engagement has call media exactly while a call is active', async () => {
  const chat = await engage(server);
  const { operator, visitor, id } = chat;
  const patch = async (at: TestServer, path: string, { token }: TokenHolder, action: string): Promise<Answer> =>
    call(at, `PATCH /engagements/${id}${path}`, { token, body: { action } });
  for (let round = 0; round < 12; round += 1) {
    const isLast = round === 11;
    const callId = await becomeCall(chat);
    const video = await ask(chat, operator, 'two_way');
    const answers = await Promise.all([
      hangUp(chat, visitor, callId),
      hangUp(chat, operator, callId, second),
      patch(second, `/media_upgrade_requests/${video}`, visitor, 'accept'),
      patch(server, `/calls/${callId}`, operator, 'connect'),
      call(second, `POST /engagements/${id}/media_upgrade_requests`, {
        token: operator.token,
        body: { audio: 'two_way', video: null },
      }),
      ...(isLast ? [patch(server, '', visitor, 'end')] : []),
    ]);
    for (const { status, body } of answers) assert.ok([200, 201, 409].includes(status), JSON.stringify(body));
    const { media, calls, state } = await read(chat);
    const goingOn = calls.filter(({ ended_at }: Json) => ended_at === null);
    assert.equal(goingOn.length, media === 'text' || state === 'ended' ? 0 : 1);
    const ended = calls.find((each: Json) => each.id === callId);
    assert.ok(ended.ended_at >= (ended.connected_at ?? ended.started_at));
    // An upgrade that was accepted before the call ended was part of it. An earlier pending request starts no call.
    assert.equal(media, isLast ? media : 'text');
  }
});

test('migration 27: an engagement that was a call before the migration can go back to text', async () => {
  const { sql } = server.database;
  const [insert, ...more] =
    readFileSync('packages/server/migrations/0027_calls.sql', 'utf8').match(/^INSERT [^;]+;/gm) ?? [];
  assert.deepEqual(more, []);
  const chat = await engage(server, {}, { media: 'video' });
  const text = await engage(server);
  await sql`DELETE FROM calls WHERE ended_at IS NULL`;
  await sql.unsafe(insert ?? '');
  const { calls, legs } = await read(chat);
  assert.deepEqual([calls.length, calls[0].started_at, calls[0].connected_at], [1, legs[0].started_at, null]);
  assert.deepEqual((await read(text)).calls, []);
  // The other process has not loaded the engagement yet.
  assert.equal(expectStatus(await hangUp(chat, chat.visitor, calls[0].id, second), 200).body.ended_by, 'visitor');
  assert.equal((await read(chat)).media, 'text');
});

test('operators see the note of a transfer, visitors do not', async () => {
  const chat = await engage(server);
  const { own, operator, visitor, id } = chat;
  const transfers = async ({ token }: TokenHolder): Promise<Answer> =>
    call(server, `GET /engagements/${id}/transfers`, { token });
  assert.deepEqual(expectStatus(await transfers(operator), 200).body, { transfers: [] });
  const colleagues = [await makeAvailableOperator(server, own), await makeAvailableOperator(server, own)];
  let from = operator;
  for (const [index, to] of colleagues.entries()) {
    const body = { engagement_id: id, operator_id: to.id, message: index === 0 ? 'About the invoice.' : null };
    const requested = await call(server, 'POST /transfer_requests', { token: from.token, body });
    const path = `/transfer_requests/${expectStatus(requested, 201).body.id}`;
    expectStatus(await call(server, `PATCH ${path}`, { token: to.token, body: { action: 'accept' } }), 200);
    from = to;
  }
  const { sub_engagements: subs } = await read(chat);
  const expected = [
    [operator.id, colleagues[0]?.id, 'About the invoice.', subs[1].started_at],
    [colleagues[0]?.id, colleagues[1]?.id, null, subs[2].started_at],
  ];
  for (const who of [operator, ...colleagues, { token: own.admin }]) {
    const { body } = expectStatus(await transfers(who), 200);
    assert.equal(body.transfers[0].from_operator_name, 'Somebody');
    const seen = body.transfers.map((each: Json) => [
      each.from_operator_id,
      each.operator_id,
      each.message,
      each.transferred_at,
    ]);
    assert.deepEqual(seen, expected);
  }
  expectStatus(await transfers(visitor), 403);
  const stranger = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  expectStatus(await transfers(stranger), 403);
});
