import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { inTransaction } from '../../packages/server/src/platform/database/database.ts';
import { engage, sendText, type Engaged } from '../support/people/chat.ts';
import { fileForm } from '../support/people/files.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { leaseElsewhere, makeWebhook } from '../support/receivers/webhooks.ts';
import { expectStatus } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const { sql } = server.database;
await leaseElsewhere(server);

/** What a request writes to an engagement: its path, the type of its event, and what it sends. */
interface Write {
  readonly request: string;
  readonly event: string;
  readonly by?: 'visitor' | 'operator' | 'admin';
  readonly body: Json;
  readonly key?: string;
  readonly status?: number;
}

const putMessage = (): string => `PUT chat_messages/${randomUUID()}`;
const message = 'engagement.chat.message';
const systemMessage = {
  request: 'POST system_messages',
  event: 'engagement.chat.system_message',
  by: 'admin',
  body: { content: 'A hint' },
  status: 201,
} as const;
const visitorEvent = { request: 'POST events', event: 'engagement.event', body: { message: 'cart_opened' } } as const;

/** Every kind of write, in the chat in which it is written. */
const kinds: Readonly<Record<string, (chat: Engaged) => Promise<Write>>> = {
  'a message of a visitor': async () => ({ request: putMessage(), event: message, body: { content: 'Hi' } }),
  'a message of an operator': async () => ({
    request: putMessage(),
    event: message,
    by: 'operator',
    body: { content: 'Hi' },
  }),
  'a response to a choice': async (chat) => {
    const attachment = { type: 'single_choice', options: [{ text: 'One', value: 'one' }] };
    const choice = { token: chat.operator.token, body: { content: 'Which?', attachment } };
    expectStatus(await call(server, `PUT /engagements/${chat.id}/chat_messages/${randomUUID()}`, choice), 200);
    const body = { content: 'One', attachment: { type: 'single_choice_response', selected_option: 'one' } };
    return { request: putMessage(), event: message, body };
  },
  'a message with a file': async (chat) => {
    const form = { token: chat.visitor.token, body: fileForm('text') };
    const uploaded = expectStatus(await call(server, `POST /engagements/${chat.id}/files`, form), 200);
    const attachment = { type: 'files', files: [{ id: uploaded.body.file_id }] };
    return { request: putMessage(), event: message, body: { content: '', attachment } };
  },
  'a system message': async () => systemMessage,
  'a system message with an Idempotency-Key': async () => ({ ...systemMessage, key: randomUUID() }),
  'an acknowledgement': async (chat) => ({
    request: `PATCH chat_messages/${await sendText(chat, chat.visitor, 'unread')}`,
    event: 'engagement.chat.message_status',
    by: 'operator',
    body: { status: 'delivered' },
  }),
  'a typing indicator': async () => ({
    request: 'PUT typing_indicator',
    event: 'engagement.chat.typing_indicator.visitor',
    body: { typing: true },
    status: 204,
  }),
  'a visitor event': async () => visitorEvent,
  'a visitor event with an Idempotency-Key': async () => ({ ...visitorEvent, key: randomUUID() }),
};

/** Sends the write with a trace of its own. Returns the stored trace of its event after the expected one. */
async function trace(chat: Engaged, { request, event, by = 'visitor', body, key, status = 200 }: Write) {
  const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
  const tracestate = `vendor=${randomUUID()}`;
  const [method, path] = request.split(' ');
  const { token } = { visitor: chat.visitor, operator: chat.operator, admin: { token: chat.own.admin } }[by];
  const headers = { traceparent, tracestate, ...(key === undefined ? {} : { 'idempotency-key': key }) };
  const answer = await call(server, `${method} /engagements/${chat.id}/${path}`, { token, body, headers });
  expectStatus(answer, status);
  const stored = await sql<{ traceparent: string | null; tracestate: string | null }[]>`
    SELECT traceparent, tracestate FROM events
     WHERE engagement_id = ${chat.id} AND type = ${event} ORDER BY seq DESC LIMIT 1`;
  return { stored: { ...stored[0] }, expected: { traceparent, tracestate } };
}

async function areWaiting(count: number): Promise<boolean> {
  const rows = await sql`
    SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ 'engagements'`;
  return rows.length === count;
}

const chats = [await engage(server), await engage(server)];
for (const { own } of chats)
  await makeWebhook(server, own, { events: ['engagement.chat.typing_indicator.visitor', message] });
const ids = chats.map(({ id }) => id);

for (const [kind, prepare] of Object.entries(kinds)) {
  test(`the event of ${kind} has the trace of its request, also if it waits for its engagement`, async () => {
    const sendAll = async (writes: readonly Write[]) =>
      Promise.all(chats.flatMap((chat, n) => writes.slice(n, n + 1).map(async (write) => trace(chat, write))));
    const free = await sendAll(await Promise.all(chats.map(prepare)));
    const writes = await Promise.all(chats.map(prepare));
    const { sending } = await inTransaction(sql, async (holder) => {
      await holder`SELECT 1 FROM engagements WHERE id = ANY(${ids}) ORDER BY id FOR NO KEY UPDATE`;
      const begun = sendAll(writes);
      await until(async () => areWaiting(chats.length));
      return { sending: begun };
    });
    for (const { stored, expected } of [...free, ...(await sending)]) assert.deepEqual(stored, expected);
  });
}
