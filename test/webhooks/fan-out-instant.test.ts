import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { inTransaction } from '../../packages/server/src/platform/database/database.ts';
import { acknowledge, engage, say, sendText, type Engaged } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Answer } from '../support/server.ts';
import { leaseElsewhere, makeWebhook, webhookFields } from '../support/receivers/webhooks.ts';
import { expectStatus } from '../support/world.ts';

/** D8.12: which events a webhook is sent that is registered or enabled while they are written. */

const server = await forThisFile(startTestServer());
const { sql } = server.database;
await leaseElsewhere(server);

/** A message that says 'pause' stops its statement, after its snapshot was taken, until the test lets go of this lock. */
const pauseLock = 20_077;
await sql.unsafe(`
  CREATE FUNCTION pause_message() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.content = 'pause' THEN PERFORM pg_advisory_xact_lock(${pauseLock}); END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER pause_message BEFORE INSERT ON chat_messages FOR EACH ROW EXECUTE FUNCTION pause_message();`);

const events = ['engagement.chat.message', 'engagement.chat.message_status'];

async function deliveriesTo(webhook: string): Promise<string[]> {
  const rows = await sql<{ type: string; state: string }[]>`
    SELECT event_type AS type, state FROM deliveries WHERE webhook_id = ${webhook} ORDER BY event_seq`;
  return rows.map(({ type, state }) => `${type} ${state}`);
}

async function enable({ own }: Engaged, id: string): Promise<Answer> {
  const body = { ...webhookFields, events, enabled: true };
  return call(server, `PUT /webhooks/${id}`, { token: own.admin, body });
}

async function areWaiting(count: number): Promise<boolean> {
  const rows = await sql`
    SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ 'engagements'`;
  return rows.length === count;
}

test('an event that waits for the lock of its engagement is sent to webhooks that were registered or enabled meanwhile', async () => {
  const chat = await engage(server);
  const { id: earlier } = await makeWebhook(server, chat.own, { events, enabled: false });
  const unread = await sendText(chat, chat.visitor, 'unread');
  const choice = {
    content: 'Which?',
    attachment: { type: 'single_choice', options: [{ text: 'One', value: 'one' }] },
  };
  expectStatus(await say(chat, chat.operator, choice), 200);
  const { writing, registered } = await inTransaction(sql, async (holder) => {
    await holder`SELECT 1 FROM engagements WHERE id = ${chat.id} FOR NO KEY UPDATE`;
    const response = { content: 'One', attachment: { type: 'single_choice_response', selected_option: 'one' } };
    const requests = [
      say(chat, chat.visitor, 'batched'),
      say(chat, chat.visitor, response),
      acknowledge(chat, chat.operator, unread),
    ];
    await until(async () => areWaiting(requests.length));
    const { id } = await makeWebhook(server, chat.own, { events });
    expectStatus(await enable(chat, earlier), 200);
    return { writing: Promise.all(requests), registered: id };
  });
  for (const answer of await writing) expectStatus(answer, 200);
  const expected = [
    'engagement.chat.message pending',
    'engagement.chat.message pending',
    'engagement.chat.message_status pending',
  ];
  assert.deepEqual((await deliveriesTo(registered)).toSorted(), expected);
  // The first two events happened while the webhook was disabled.
  assert.deepEqual((await deliveriesTo(earlier)).slice(0, 2), Array(2).fill('engagement.chat.message held'));
  assert.deepEqual((await deliveriesTo(earlier)).slice(2).toSorted(), expected);
});

test('a registration is answered after the events that are being written, so that every later event is sent', async () => {
  const chat = await engage(server);
  const { id: disabled } = await makeWebhook(server, chat.own, { events, enabled: false });
  const messageId = randomUUID();
  const isCommitted = async (): Promise<boolean> =>
    (await sql`SELECT FROM chat_messages WHERE id = ${messageId}`).length === 1;
  const seen: boolean[] = [];
  const note = async (answer: Answer): Promise<Answer> => {
    seen.push(await isCommitted());
    return answer;
  };
  const { requests } = await inTransaction(sql, async (holder) => {
    await holder`SELECT pg_advisory_xact_lock(${pauseLock})`;
    const message = say(chat, chat.visitor, 'pause', messageId);
    await until(async () => {
      const rows = await sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${pauseLock} AND NOT granted`;
      return rows.length === 1;
    });
    const body = { ...webhookFields, events };
    const changes = [
      call(server, 'POST /webhooks', { token: chat.own.admin, body }).then(note),
      enable(chat, disabled).then(note),
    ];
    const account = await accountOf(chat);
    await until(async () => (await sql`SELECT FROM webhooks WHERE enabled AND account_id = ${account}`).length === 2);
    // Both are committed, and the message is not. Other requests are answered meanwhile.
    for (let n = 0; n < 10; n += 1) expectStatus(await call(server, 'GET /webhooks', { token: chat.own.admin }), 200);
    assert.deepEqual(seen, []);
    return { requests: Promise.all([message, ...changes]) };
  });
  const [message, registered, enabled] = await requests;
  assert.ok(message && registered && enabled);
  assert.deepEqual([message.status, registered.status, enabled.status], [200, 201, 200]);
  assert.deepEqual(seen, [true, true]);
  await sendText(chat, chat.visitor, 'later');
  assert.deepEqual(await deliveriesTo(registered.body.id), ['engagement.chat.message pending']);
  assert.deepEqual(await deliveriesTo(disabled), ['engagement.chat.message held', 'engagement.chat.message pending']);
});

test('a statement takes its snapshot after it has locked the log, which registrations rely on', async () => {
  const chat = await engage(server);
  // Once for a statement that the connection must prepare, and once for one that it has prepared.
  for (const content of ['first', 'second']) {
    const { message, registered } = await inTransaction(sql, async (holder) => {
      await holder`LOCK TABLE events IN SHARE MODE`;
      const sending = say(chat, chat.visitor, content);
      await until(async () => {
        const rows = await sql`SELECT FROM pg_locks WHERE relation = 'events'::regclass AND NOT granted`;
        return rows.length === 1;
      });
      const { id } = await makeWebhook(server, chat.own, { events });
      return { message: { sending }, registered: id };
    });
    expectStatus(await message.sending, 200);
    assert.deepEqual(await deliveriesTo(registered), ['engagement.chat.message pending']);
  }
});

async function accountOf({ own }: Engaged): Promise<string> {
  const [row] = await sql<{ id: string }[]>`SELECT account_id AS id FROM operators WHERE id = ${own.adminId}`;
  return row?.id ?? '';
}
