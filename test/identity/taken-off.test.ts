import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { end, engage, say, sendText, type Engaged } from '../support/people/chat.ts';
import { isMessage, openFeed } from '../support/people/feed.ts';
import { fileForm } from '../support/people/files.ts';
import { readConfig } from '../../packages/server/src/config.ts';
import { inTransaction, type Sql } from '../../packages/server/src/platform/database/database.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  acceptOffer,
  requestTicket,
  expectStatus,
  makeAvailableOperator,
  makeSite,
  makeTeam,
  offersOf,
} from '../support/world.ts';

/** Tests what operators can still do in their engagements after they have lost their role on the site. */

const { webhookAllowCidrs } = readConfig({ USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' });
const server = await forThisFile(startTestServer({ scanner: { kind: 'none' }, webhookAllowCidrs }));

async function assign({ own }: Engaged, { id }: { readonly id: string }, siteIds: readonly string[]): Promise<void> {
  const assignments = siteIds.map((site_id) => ({ site_id, role: 'operator' }));
  expectStatus(await call(server, `PATCH /operators/${id}`, { token: own.admin, body: { assignments } }), 200);
}

async function engagementOf({ own, id }: Engaged): Promise<Json> {
  return expectStatus(await call(server, `GET /engagements/${id}`, { token: own.admin }), 200).body;
}

/** All requests that a participant can send about an engagement, with valid bodies. */
function requestsUnder({ id }: Engaged, names: { message: string; file: string; upgrade: string }): [string, Json?][] {
  const base = `/engagements/${id}`;
  return [
    [`GET ${base}`],
    [`GET ${base}/chat_transcript`],
    [`PUT ${base}/chat_messages/${randomUUID()}`, { content: 'Still here' }],
    [`PATCH ${base}/chat_messages/${names.message}`, { status: 'delivered' }],
    [`GET ${base}/files`],
    [`GET ${base}/files/${names.file}`],
    [`POST ${base}/files`, fileForm('Hello')],
    [`DELETE ${base}/files/${names.file}`],
    [`GET ${base}/media_upgrade_requests`],
    [`GET ${base}/media_upgrade_requests/${names.upgrade}`],
    [`POST ${base}/media_upgrade_requests`, { audio: 'two_way', video: null }],
    [`PATCH ${base}/media_upgrade_requests/${names.upgrade}`, { action: 'accept' }],
    [`PATCH ${base}/media_upgrade_requests/${names.upgrade}`, { action: 'decline' }],
    [`PUT ${base}/typing_indicator`, { typing: true }],
    [`POST ${base}/signals`, { call_id: randomUUID(), kind: 'ready', data: null }],
    [`POST /transfer_requests`, { engagement_id: id, operator_id: randomUUID() }],
    [`PATCH ${base}`, { action: 'end' }],
  ];
}

/** A conversation with messages of both sides, a file and a media upgrade request. */
async function fullConversation(): Promise<Engaged & { names: { message: string; file: string; upgrade: string } }> {
  const chat = await engage(server);
  await sendText(chat, chat.operator, 'Hello');
  const message = await sendText(chat, chat.visitor, 'Hi');
  const upload = { token: chat.visitor.token, body: fileForm('Hello') };
  const { file_id: file } = expectStatus(await call(server, `POST /engagements/${chat.id}/files`, upload), 200).body;
  const upgradeRequest = { token: chat.visitor.token, body: { audio: 'two_way', video: null } };
  const path = `/engagements/${chat.id}/media_upgrade_requests`;
  const { id: upgrade } = expectStatus(await call(server, `POST ${path}`, upgradeRequest), 201).body;
  return { ...chat, names: { message, file, upgrade } };
}

async function statuses(chat: Engaged, requests: readonly [string, Json?][]): Promise<string[]> {
  const answers: string[] = [];
  for (const [request, body] of requests)
    answers.push(`${request} ${(await call(server, request, { token: chat.operator.token, body })).status}`);
  return answers;
}

for (const [how, whereTo] of [
  ['removed from the site', 'nowhere'],
  ['moved to another site', 'elsewhere'],
] as const)
  test(`an operator ${how} cannot reach their engagement there, active or ended`, async () => {
    for (const when of ['active', 'ended']) {
      const chat = await fullConversation();
      if (when === 'ended') await end(chat);
      const sites = whereTo === 'nowhere' ? [] : [await makeSite(server, chat.own)];
      await assign(chat, chat.operator, sites);
      const requests = requestsUnder(chat, chat.names);
      const found = await statuses(chat, requests);
      assert.deepEqual(
        found,
        requests.map(([request]) => `${request} 404`),
        when,
      );
      const list = await call(server, 'GET /engagement_requests', { token: chat.operator.token });
      assert.deepEqual(expectStatus(list, 200).body.engagement_requests, []);
      await assign(chat, chat.operator, [chat.own.siteId]);
      // After returning to the site, they may read the engagement again.
      expectStatus(
        await call(server, `GET /engagements/${chat.id}/chat_transcript`, { token: chat.operator.token }),
        200,
      );
    }
  });

test('D5.13 removing an operator from a site ends their engagements there at once, and no others', async () => {
  const chat = await engage(server);
  const other = await makeSite(server, chat.own);
  await assign(chat, chat.operator, [chat.own.siteId, other]);
  assert.equal((await engagementOf(chat)).state, 'active');
  await using feed = await openFeed(server, { token: chat.visitor.token });
  await assign(chat, chat.operator, [other]);
  const ended = await feed.untilType('engagement.end');
  assert.equal(ended.data.engagement.end_reason, 'operator_left');
  const { state, end_reason } = await engagementOf(chat);
  assert.deepEqual([state, end_reason], ['ended', 'operator_left']);
  // The visitor can enqueue again at once and is offered to another operator.
  const colleague = await makeAvailableOperator(server, chat.own);
  expectStatus(await requestTicket(server, chat.own, { queue_ids: [chat.queue] }, chat.visitor), 201);
  await until(async () => (await offersOf(server, colleague)).length === 1);
});

test('an engagement continues on a site where the operator keeps their role', async () => {
  const chat = await engage(server);
  const other = await makeSite(server, chat.own);
  await assign(chat, chat.operator, [chat.own.siteId, other]);
  await assign(chat, chat.operator, [chat.own.siteId]);
  await sendText(chat, chat.operator, 'Still here');
  assert.equal((await engagementOf(chat)).state, 'active');
});

test('a pending transfer ends when its operator is removed from the site', async () => {
  const chat = await engage(server);
  const colleague = await makeAvailableOperator(server, chat.own);
  const body = { engagement_id: chat.id, operator_id: colleague.id };
  const { id } = expectStatus(
    await call(server, 'POST /transfer_requests', { token: chat.operator.token, body }),
    201,
  ).body;
  await assign(chat, chat.operator, []);
  const accept = { token: colleague.token, body: { action: 'accept' } };
  await until(async () => (await engagementOf(chat)).state === 'ended');
  expectStatus(await call(server, `PATCH /transfer_requests/${id}`, accept), 409);
  for (const path of [`/transfer_requests/${id}`, `/transfer_requests?site_ids[]=${chat.own.siteId}`])
    expectStatus(await call(server, `GET ${path}`, { token: chat.operator.token }), 404);
});

test('the feed of a removed operator gets feed.reset and nothing more of the site', async () => {
  const chat = await engage(server);
  const other = await makeSite(server, chat.own);
  await assign(chat, chat.operator, [chat.own.siteId, other]);
  await using feed = await openFeed(server, { token: chat.operator.token });
  await using visitors = await openFeed(server, { token: chat.visitor.token });
  await sendText(chat, chat.visitor, 'before');
  await feed.until(isMessage('before'));
  await assign(chat, chat.operator, [other]);
  const before = feed.items.length;
  await visitors.untilType('engagement.end');
  const colleague = await makeAvailableOperator(server, chat.own);
  expectStatus(await requestTicket(server, chat.own, { queue_ids: [chat.queue] }, chat.visitor), 201);
  await until(async () => (await offersOf(server, colleague)).length === 1);
  const next = { ...chat, id: await acceptOffer(server, colleague) };
  await sendText(next, chat.visitor, 'after');
  await visitors.until(isMessage('after'));
  const reset = await feed.untilType('feed.reset');
  assert.equal(reset.data.reason, 'access_changed');
  const itemsOfSite = feed.items.slice(before).filter(({ data }) => JSON.stringify(data).includes(chat.own.siteId));
  assert.deepEqual(
    itemsOfSite.map(({ type }) => type),
    [],
  );
});

test('D5.13 a webhook attached by an operator gets no events while the operator is off the site or disabled', async () => {
  const chat = await engage(server);
  const colleague = await makeAvailableOperator(server, chat.own);
  const webhook = {
    url: 'http://127.0.0.1:9/hook',
    method: 'POST',
    events: ['engagement.chat.message'],
    messages: 'all',
  };
  const body = { engagement_id: chat.id, operator_id: colleague.id, webhooks: [webhook] };
  const requested = await call(server, 'POST /transfer_requests', { token: chat.operator.token, body });
  const accept = { token: colleague.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${expectStatus(requested, 201).body.id}`, accept), 200);
  /** Deliveries of the engagement to the attached webhook; nothing listens at its URL. */
  const countDeliveries = async (): Promise<number> => {
    const [row] = await server.database.sql<{ count: number }[]>`
      SELECT count(*)::integer AS count
        FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
       WHERE d.engagement_id = ${chat.id} AND w.side = 'operator'`;
    return row?.count ?? 0;
  };
  await sendText(chat, chat.visitor, 'before');
  assert.equal(await countDeliveries(), 1);
  await assign(chat, chat.operator, []);
  await sendText(chat, chat.visitor, 'after');
  await sendText(chat, colleague, 'after, too');
  assert.equal(await countDeliveries(), 1);
  await assign(chat, chat.operator, [chat.own.siteId]);
  await sendText(chat, chat.visitor, 'back');
  assert.equal(await countDeliveries(), 2);
  expectStatus(await call(server, `DELETE /operators/${chat.operator.id}`, { token: chat.own.admin }), 204);
  await sendText(chat, chat.visitor, 'disabled');
  assert.equal(await countDeliveries(), 2);
});

const removing = 'DELETE FROM operator_assignments';
const sending = 'FOR KEY SHARE OF a';

/** Whether a statement that contains `text` waits for a lock. */
async function isWaiting(text: string): Promise<boolean> {
  const [row] = await server.database.sql<{ found: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()
                      AND position(${text} IN query) > 0) AS found`;
  return row?.found ?? false;
}

async function countMessages({ id }: Engaged): Promise<number> {
  const [row] = await server.database.sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM chat_messages WHERE engagement_id = ${id}`;
  return row?.count ?? 0;
}

/** Calls `begin` while another transaction holds the locks that `lock` takes. */
async function whileLocked<T>(lock: (sql: Sql) => Promise<unknown>, begin: () => Promise<T>): Promise<T> {
  return inTransaction(server.database.sql, async (sql) => {
    await lock(sql);
    return begin();
  });
}

test('a message in progress while its author is removed is stored before the removal or not at all', async () => {
  const chat = await engage(server);
  const lock = async (sql: Sql) => sql`SELECT 1 FROM engagements WHERE id = ${chat.id} FOR NO KEY UPDATE`;
  const { message, removal } = await whileLocked(lock, async () => {
    const begun = say(chat, chat.operator, 'under way');
    await until(async () => isWaiting(sending));
    let isRemoved = false;
    const removed = assign(chat, chat.operator, []).then(async () => {
      const atRemoval = await countMessages(chat);
      isRemoved = true;
      return atRemoval;
    });
    await until(async () => isRemoved || (await isWaiting(removing)));
    return { message: begun, removal: removed };
  });
  const before = await removal;
  const { status } = await message;
  assert.equal(await countMessages(chat), before, 'no message was stored after the removal');
  assert.equal(before, status === 200 ? 1 : 0);
});

test('a message sent while its author is being removed waits for the removal and is refused', async () => {
  const chat = await engage(server);
  const team = await makeTeam(server, chat.own, chat.own.siteId);
  const assignments = [{ site_id: chat.own.siteId, role: 'operator', team_ids: [team] }];
  const path = `PATCH /operators/${chat.operator.id}`;
  expectStatus(await call(server, path, { token: chat.own.admin, body: { assignments } }), 200);
  const lock = async (sql: Sql) => sql`
    SELECT 1 FROM operator_teams WHERE operator_id = ${chat.operator.id} FOR UPDATE`;
  const { message, removal } = await whileLocked(lock, async () => {
    const removed = assign(chat, chat.operator, []);
    await until(async () => isWaiting(removing));
    const begun = say(chat, chat.operator, 'too late');
    await until(async () => (await isWaiting(sending)) || (await countMessages(chat)) > 0);
    return { message: begun, removal: removed };
  });
  await removal;
  const { status } = await message;
  assert.deepEqual([status, await countMessages(chat)], [404, 0]);
});

test('no message is stored after its author is removed, and every acknowledged message is stored', async () => {
  const rounds = process.env['PROVE'] === undefined ? 6 : 200;
  let sent = 0;
  for (let round = 0; round < rounds; round += 1) {
    const chat = await engage(server);
    const over = new AbortController();
    const writing = Array.from({ length: 4 }, async () => {
      const statuses: number[] = [];
      while (!over.signal.aborted) statuses.push((await say(chat, chat.operator, 'Hello')).status);
      return statuses;
    });
    await until(async () => (await countMessages(chat)) > round % 10);
    await assign(chat, chat.operator, []);
    const atRemoval = await countMessages(chat);
    over.abort();
    const statuses = (await Promise.all(writing)).flat();
    assert.ok(statuses.every((status) => status === 200 || status === 404));
    const answered = statuses.filter((status) => status === 200).length;
    assert.deepEqual([await countMessages(chat), answered], [atRemoval, atRemoval]);
    sent += answered;
  }
  if (process.env['PROVE'] !== undefined)
    console.log(`${rounds} operators removed, ${sent} messages, none after the removal`);
});
