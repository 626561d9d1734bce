import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { eventTypes } from '../../packages/server/src/events/catalogue.ts';
import { end, engage, sendText, type Engaged, type TokenHolder } from '../support/people/chat.ts';
import { startCluster } from '../support/processes/cluster.ts';
import { assertDeclared } from '../support/api/declared-items.ts';
import { isMessage, openFeed, type OpenFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, until, type Answer, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import {
  eventsOf,
  expectStatus,
  makeOperator,
  makeAvailableOperator,
  makeVisitor,
  type ServerHandle,
} from '../support/world.ts';

const cluster = await forThisFile(startCluster(2, { USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.1' }));
const [one, two] = cluster.nodes;
assert.ok(one !== undefined && two !== undefined);
const first = cluster.reach(one);
const second = cluster.reach(two);

const callId = randomUUID();

async function signal(at: ServerHandle, { id }: { id: string }, who: TokenHolder, fields: Json = {}): Promise<Answer> {
  const body = { call_id: callId, kind: 'ready', data: null, ...fields };
  return call(at, `POST /engagements/${id}/signals`, { token: who.token, body });
}

function signals({ items }: OpenFeed): Json[] {
  return items.filter(({ type }) => type === 'engagement.signal').map(({ data }) => data);
}

async function untilSignals(feed: OpenFeed, count: number): Promise<Json[]> {
  await until(() => signals(feed).length >= count, 10_000);
  return signals(feed);
}

/** Sends a message and waits for its arrival. Signals sent before it would have arrived too. */
async function sendMarkerMessage(chat: Engaged, feeds: readonly OpenFeed[]): Promise<void> {
  const content = randomUUID();
  await sendText(chat, chat.visitor, content);
  for (const feed of feeds) await feed.until(isMessage(content));
}

/** A text of the given length with characters of several bytes. */
const longText = (length: number): string => 'a=candidate:1 ůß漢𝄞 '.repeat(Math.ceil(length / 26)).slice(0, length);

test('the other side receives signals complete and in order, in whichever process it is connected', async () => {
  const chat = await engage(first);
  const { visitor, operator, id } = chat;
  await using ofOperator = await openFeed(first, { token: operator.token });
  await using ofVisitor = await openFeed(second, { token: visitor.token });
  const sent = Array.from({ length: 30 }, (_, index) => ({
    kind: index % 3 === 0 ? 'description' : 'candidate',
    data: { index, nested: { list: [1, null, 'x'] }, sdp: index % 3 === 0 ? longText(5_000 + index * 500) : 'short' },
  }));
  // Each signal is sent after the previous answer, to the two processes in turn.
  for (const [index, fields] of sent.entries()) {
    expectStatus(await signal(index % 2 === 0 ? first : second, chat, visitor, fields), 204);
    expectStatus(await signal(index % 2 === 0 ? second : first, chat, operator, fields), 204);
  }
  for (const [feed, sender] of [
    [ofOperator, 'visitor'],
    [ofVisitor, 'operator'],
  ] as const) {
    const received = await untilSignals(feed, sent.length);
    assert.deepEqual(
      received.map(({ kind, data }) => ({ kind, data })),
      sent,
    );
    for (const { sent_at, ...rest } of received) {
      assert.deepEqual(Object.keys(rest), ['engagement_id', 'sender', 'call_id', 'kind', 'data']);
      assert.deepEqual([rest.engagement_id, rest.sender, rest.call_id], [id, { type: sender }, callId]);
      assert.ok(Math.abs(Date.parse(sent_at) - Date.now()) < 60_000);
    }
  }
  assertDeclared([...ofOperator.items, ...ofVisitor.items]);
});

test('nobody else receives a signal: no manager, no webhook, not the log, not the sender', async () => {
  await using stack = new AsyncDisposableStack();
  const receiver = await startReceiver();
  stack.defer(async () => receiver.close());
  const chat = await engage(first);
  await makeWebhook(first, chat.own, { url: `${receiver.url}/hook`, events: eventTypes });
  const manager = await makeOperator(first, chat.own, [{ site_id: chat.own.siteId, role: 'super_manager' }]);
  const bystander = await makeVisitor(first, chat.own);
  const stranger = await engage(first);
  const others = [chat.own.admin, manager.token, bystander.token, stranger.operator.token, chat.visitor.token];
  const feeds = await Promise.all(
    others.map(async (token, index) => stack.use(await openFeed(index % 2 === 0 ? first : second, { token }))),
  );
  const ofOperator = stack.use(await openFeed(second, { token: chat.operator.token }));
  const before = await eventsOf(first, chat.own);
  for (const data of [null, { sdp: longText(30_000) }])
    expectStatus(await signal(first, chat, chat.visitor, { data }), 204);
  assert.equal((await untilSignals(ofOperator, 2)).length, 2);
  assert.deepEqual(await eventsOf(first, chat.own), before);
  const content = randomUUID();
  await sendText(chat, chat.visitor, content);
  // A feed that shows the message would have shown the signals before it.
  for (const [index, feed] of feeds.entries()) if (![2, 3].includes(index)) await feed.until(isMessage(content));
  await until(() => receiver.ofType('engagement.chat.message').length === 1);
  assert.ok(receiver.arrived.every(({ body }) => !body.includes('signal')));
  for (const feed of feeds) assert.deepEqual(signals(feed), []);
  const log = expectStatus(await call(first, 'GET /events', { token: chat.own.admin }), 200);
  assert.ok(!JSON.stringify(log.body).includes('signal'));
});

test('signals are not stored in the database', async () => {
  const chat = await engage(first);
  await using ofOperator = await openFeed(second, { token: chat.operator.token });
  const mark = randomUUID();
  expectStatus(await signal(first, chat, chat.visitor, { data: { mark } }), 204);
  await untilSignals(ofOperator, 1);
  const { sql } = cluster.database;
  const tables = await sql<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public'`;
  assert.ok(tables.length > 20);
  for (const { name } of tables) {
    const rows = await sql.unsafe(`SELECT 1 FROM ${name} t WHERE t::text LIKE '%${mark}%'`);
    assert.equal(rows.length, 0, name);
  }
});

test('only current participants can send signals', async () => {
  const chat = await engage(first);
  await using ofVisitor = await openFeed(second, { token: chat.visitor.token });
  await using ofFormer = await openFeed(first, { token: chat.operator.token });
  const manager = await makeOperator(first, chat.own, [{ site_id: chat.own.siteId, role: 'manager' }]);
  const stranger = await engage(first);
  assert.equal((await signal(first, chat, manager)).body.error, 'forbidden');
  for (const outsider of [stranger.operator, stranger.visitor, await makeVisitor(first, chat.own)])
    assert.equal((await signal(first, chat, outsider)).status, 404);

  const next = await makeAvailableOperator(first, chat.own);
  await using ofNext = await openFeed(second, { token: next.token });
  const transfer = await call(first, 'POST /transfer_requests', {
    token: chat.operator.token,
    body: { engagement_id: chat.id, operator_id: next.id },
  });
  const accept = { token: next.token, body: { action: 'accept' } };
  expectStatus(await call(first, `PATCH /transfer_requests/${expectStatus(transfer, 201).body.id}`, accept), 200);

  const former = await signal(first, chat, chat.operator);
  assert.deepEqual([former.status, former.body.error], [403, 'forbidden']);
  expectStatus(await signal(first, chat, chat.visitor, { data: { after: 'transfer' } }), 204);
  expectStatus(await signal(second, chat, next, { data: { by: 'next' } }), 204);
  assert.deepEqual(
    (await untilSignals(ofNext, 1)).map(({ data }) => data),
    [{ after: 'transfer' }],
  );
  assert.deepEqual(
    (await untilSignals(ofVisitor, 1)).map(({ data }) => data),
    [{ by: 'next' }],
  );
  await sendMarkerMessage(chat, [ofNext]);
  assert.deepEqual(signals(ofFormer), []);

  await end({ ...chat, operator: next });
  for (const who of [chat.visitor, next]) {
    const ended = await signal(first, chat, who);
    assert.deepEqual([ended.status, ended.body.error], [422, 'invalid_request']);
    assert.match(ended.body.details[0].detail, /has ended/);
  }
});

test('an invalid signal is refused, a valid one is passed on unchanged', async () => {
  const chat = await engage(first);
  await using ofOperator = await openFeed(second, { token: chat.operator.token });
  const wrong: [Json, string][] = [
    [{ call_id: 'mine' }, '/call_id'],
    [{ call_id: undefined }, '/call_id'],
    [{ kind: 'shout' }, '/kind'],
    [{ kind: null }, '/kind'],
    [{ data: 'text' }, '/data'],
    [{ data: [] }, '/data'],
    [{ data: undefined }, '/data'],
    [{ to: 'somebody' }, '/to'],
  ];
  for (const [fields, attribute] of wrong) {
    const { status, body } = await signal(first, chat, chat.visitor, fields);
    assert.deepEqual([status, body.details?.[0]?.attribute], [422, attribute], JSON.stringify(fields));
  }
  assert.equal((await signal(first, { id: 'no-id' }, chat.visitor)).status, 404);
  assert.equal((await signal(first, { id: randomUUID() }, chat.visitor)).status, 404);

  const frame = JSON.stringify({ call_id: callId, kind: 'ready', data: { text: '' } }).length;
  const largest = 'x'.repeat(64 * 1024 - frame);
  const tooLarge = await signal(first, chat, chat.visitor, { data: { text: `${largest}x` } });
  assert.deepEqual([tooLarge.status, tooLarge.body.error], [413, 'body_too_large']);
  const odd = { text: '}\n\n: data:\u2028\r\n', 'key with space': 'signal:0 0 1', empty: {}, deep: [[[{}]]] };
  for (const data of [{ text: largest }, odd, {}]) expectStatus(await signal(first, chat, chat.visitor, { data }), 204);
  assert.deepEqual(
    (await untilSignals(ofOperator, 3)).map(({ data }) => data),
    [{ text: largest }, odd, {}],
  );
});

test('the rate limit of one side does not affect the other side or other engagements', async () => {
  const chat = await engage(first);
  const other = await engage(first);
  const data = { text: 'x'.repeat(60_000) };
  let answer = await signal(first, chat, chat.visitor, { data });
  let passed = 0;
  for (; answer.status === 204 && passed < 600; passed += 1) answer = await signal(first, chat, chat.visitor, { data });
  assert.deepEqual([answer.status, answer.body.error], [429, 'rate_limited']);
  assert.ok(Number(answer.headers.get('retry-after')) >= 1);
  // A long signal counts as its nine notifications.
  assert.equal(passed, Math.floor(600 / 9));
  expectStatus(await signal(first, chat, chat.operator), 204);
  expectStatus(await signal(first, other, other.visitor), 204);
});

test('with many concurrent calls, each side receives its own signals completely', async () => {
  const chats = await Promise.all(Array.from({ length: 8 }, async () => engage(first)));
  await using stack = new AsyncDisposableStack();
  const feeds = await Promise.all(
    chats.map(async ({ operator }) => stack.use(await openFeed(second, { token: operator.token }))),
  );
  const text = longText(20_000);
  await Promise.all(
    chats.map(async (chat) => {
      for (let index = 0; index < 20; index += 1)
        expectStatus(
          await signal(index % 2 === 0 ? first : second, chat, chat.visitor, { data: { index, text } }),
          204,
        );
    }),
  );
  for (const [at, feed] of feeds.entries()) {
    const received = await untilSignals(feed, 20);
    assert.deepEqual(
      received.map(({ data }) => data.index),
      Array.from({ length: 20 }, (_, index) => index),
    );
    assert.ok(received.every(({ data, engagement_id }) => data.text === text && engagement_id === chats[at]?.id));
  }
});
