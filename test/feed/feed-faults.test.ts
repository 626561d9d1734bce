import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomUUID } from 'node:crypto';
import { engage, sendText, type Engaged } from '../support/people/chat.ts';
import { contents, isMessage, openFeed } from '../support/people/feed.ts';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { expectStatus, makeAccount, makeOperator, setPresence } from '../support/world.ts';

const server = await forThisFile(startTestServer());

test('a reader who disconnects before they are authenticated holds no presence', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  // This process has not cached the operator, so it must read the row.
  await using second = await startTestServer({}, server.database.address);
  const controller = new AbortController();
  const { sql } = server.database;
  const connections = async (): Promise<number> =>
    new Promise((resolve) => {
      second.app.server.getConnections((_error, count) => resolve(count));
    });
  await sql.begin(async (slow) => {
    await slow`LOCK TABLE operators IN ACCESS EXCLUSIVE MODE`;
    const opening = fetch(`${second.url}/feed?hold_presence=true`, {
      signal: controller.signal,
      headers: { authorization: `Bearer ${operator.token}` },
    }).catch(() => undefined);
    await until(async () => (await connections()) === 1);
    await until(
      async () => (await sql`SELECT 1 FROM pg_locks WHERE relation = 'operators'::regclass AND NOT granted`).length > 0,
    );
    controller.abort();
    await opening;
    await until(async () => (await connections()) === 0);
  });
  await setPresence(server, operator, { expires_in_sec: 12 });
  const shown = async (): Promise<Json> =>
    (await call(server, `GET /operators/${operator.id}`, { token: own.admin })).body;
  const { presence_expires_at } = await shown();
  await until(async () => (await shown()).available === false, 14_000);
  assert.equal((await shown()).presence_expires_at, presence_expires_at);
});

test('typing that is stored for a webhook is on the feed at once, too', async () => {
  const type = 'engagement.chat.typing_indicator.visitor';
  const webhooks = [{ url: 'https://a.test/h', method: 'POST', events: [type] }];
  const chat = await engage(server, {}, { webhooks });
  await using feed = await openFeed(server, { token: chat.operator.token });
  const delaysMs: number[] = [];
  for (const typing of [true, false, true]) {
    const began = performance.now();
    const path = `PUT /engagements/${chat.id}/typing_indicator`;
    expectStatus(await call(server, path, { token: chat.visitor.token, body: { typing } }), 204);
    const count = delaysMs.length + 1;
    await feed.until(() => feed.items.filter((item) => item.type === type).length === count, 'typing');
    delaysMs.push(performance.now() - began);
  }
  // Without a hint the event is found by the poll, every 2 s: three in a row would take longer than this.
  assert.ok(Math.max(...delaysMs) < 1_000, `${delaysMs.join(', ')} ms`);
});

/** Writes the event of a message, in a transaction that the test commits. */
async function writeMessage(sql: Sql, { own, id, visitor, operator }: Engaged, content: string): Promise<void> {
  await sql`
    INSERT INTO events (account_id, id, type, site_id, engagement_id, visitor_id, operator_id, occurred_at, payload)
    SELECT account_id, ${randomUUID()}, 'engagement.chat.message', ${own.siteId}, ${id}, ${visitor.id}, ${operator.id}, now(),
           ${JSON.stringify({ message: { content } })}::text::json
      FROM engagements WHERE id = ${id}`;
}

test('a reader who is disconnected twice in the middle is sent nothing twice, also after a late commit', async () => {
  const chat = await engage(server);
  const { token } = chat.operator;
  const mark = await openFeed(server, { token });
  await mark.close();
  const { sql } = server.database;
  let middle = '';
  await sql.begin(async (slow) => {
    await writeMessage(slow, chat, 'slow');
    for (const content of ['one', 'two', 'three', 'four']) await sendText(chat, chat.visitor, content);
    await using first = await openFeed(server, { token, lastId: mark.lastId() });
    middle = (await first.until(isMessage('two'))).id;
    assert.deepEqual(contents(first), ['one', 'two', 'three', 'four']);
  });
  await using back = await openFeed(server, { token, lastId: middle });
  assert.deepEqual(contents(back).toSorted(), ['four', 'slow', 'three']);
  const messages = back.items.filter(({ type }) => type === 'engagement.chat.message');
  for (const [index, { id }] of messages.entries()) {
    await using again = await openFeed(server, { token, lastId: id });
    assert.deepEqual(contents(again), contents(back).slice(index + 1));
  }
});

test('feed.reset for unknown moves is sent before the events of the same batch', async () => {
  const chat = await engage(server);
  await using feed = await openFeed(server, { token: chat.operator.token });
  const { sql } = server.database;
  await sql.begin(async (lost) => {
    await lost`
      UPDATE accounts SET board_version = board_version + 1
       WHERE id = (SELECT account_id FROM engagements WHERE id = ${chat.id})`;
    await writeMessage(lost, chat, 'with it');
  });
  await feed.until(isMessage('with it'));
  const types = feed.items.map(({ type }) => type);
  assert.ok(types.includes('feed.reset') && types.indexOf('feed.reset') < types.indexOf('engagement.chat.message'));
  // A reader who was disconnected after the reset, but before the message, is reset again.
  const reset = feed.items.find(({ type }) => type === 'feed.reset');
  await using cutOff = await openFeed(server, { token: chat.operator.token, lastId: reset?.id ?? '' });
  await cutOff.untilType('feed.reset');
});

test('the state of a media upgrade request is sent when it is answered', async () => {
  const chat = await engage(server);
  await using feed = await openFeed(server, { token: chat.operator.token });
  const base = `/engagements/${chat.id}/media_upgrade_requests`;
  const ask = { token: chat.operator.token, body: { audio: 'two_way', video: null } };
  for (const action of ['decline', 'accept']) {
    const { id } = expectStatus(await call(server, `POST ${base}`, ask), 201).body;
    const answer = { token: chat.visitor.token, body: { action } };
    const { body } = expectStatus(await call(server, `PATCH ${base}/${id}`, answer), 200);
    const shown = await feed.until(({ type, data }) => type === 'media_upgrade_request.state' && data.id === id);
    assert.deepEqual(shown.data, body);
  }
});

test('the limit of 100 feeds per operator is exact, also if all of them are opened at once', async () => {
  const own = await makeAccount(server);
  const controllers = Array.from({ length: 130 }, () => new AbortController());
  const ask = async ({ signal }: AbortController): Promise<Response> =>
    fetch(`${server.url}/feed`, { signal, headers: { authorization: `Bearer ${own.admin}` } });
  // The responses are kept to the end, because a response that is garbage-collected is closed.
  const responses = await Promise.all(controllers.map(ask));
  const count = (expected: number): number => responses.filter(({ status }) => status === expected).length;
  assert.deepEqual([count(200), count(429)], [100, 30]);
  for (const controller of controllers) controller.abort();
  const next = new AbortController();
  await until(async () => (await ask(next)).status === 200);
  next.abort();
});
