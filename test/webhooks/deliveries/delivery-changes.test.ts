import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, test } from 'node:test';
import type { ServerResponse } from 'node:http';
import { engage, sendText, type Engaged } from '../../support/people/chat.ts';
import { forThisFile } from '../../support/fixture.ts';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../../support/server.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import { expectStatus } from '../../support/world.ts';

let receivers: Receiver[] = [];
const server = await forThisFile(startTestServer());
afterEach(async () => {
  for (const receiver of receivers) await receiver.close();
  receivers = [];
});

async function receive(): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
}

const webhookTo = ({ url }: Receiver): Json => ({ url, events: ['engagement.chat.message'] });

const contentsAt = ({ arrived }: Receiver, path = '/hook'): string[] =>
  arrived.filter((each) => each.path === path).map(({ event }) => String(event.message.content));

async function change({ own }: Engaged, { id, url, method, events }: Json, fields: Json): Promise<void> {
  const body = { url, method, events, ...fields };
  expectStatus(await call(server, `PUT /webhooks/${id}`, { token: own.admin, body }), 200);
}

/** The number of waiting deliveries of the webhook, and how many of them have failed. */
async function countWaiting({ id }: Json): Promise<{ all: number; failed: number }> {
  const [row] = await server.database.sql<{ all: number; failed: number }[]>`
    SELECT count(*)::integer AS all, count(*) FILTER (WHERE state = 'retrying')::integer AS failed
      FROM deliveries WHERE webhook_id = ${id}`;
  return row ?? { all: 0, failed: 0 };
}

async function makeDue({ id }: Json): Promise<void> {
  await server.database.sql`UPDATE deliveries SET due_at = now() WHERE webhook_id = ${id} AND due_at > now()`;
}

test('a webhook that moves to a destination in use keeps its order behind a failed delivery', async () => {
  const [away, there] = [await receive(), await receive()];
  const chat = await engage(server);
  const other = new URL('/other', there.url).href;
  await makeWebhook(server, chat.own, { ...webhookTo(there), url: other });
  const hook = await makeWebhook(server, chat.own, webhookTo(away));
  away.answer = () => 500;
  for (const content of ['1', '2', '3']) await sendText(chat, chat.visitor, content);
  await until(async () => (await countWaiting(hook)).failed === 1);
  await until(() => contentsAt(there, '/other').length === 3);
  await change(chat, hook, { url: there.url });
  await sendText(chat, chat.visitor, '4');
  await until(() => contentsAt(there, '/other').length === 4);
  await makeDue(hook);
  await until(() => contentsAt(there).length >= 4, 10_000);
  assert.deepEqual(contentsAt(there), ['1', '2', '3', '4']);
});

test('after a change of the webhook during a retry, the next deliveries follow at once', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const hook = await makeWebhook(server, chat.own, webhookTo(receiver));
  receiver.answer = () => 500;
  for (const content of ['1', '2', '3']) await sendText(chat, chat.visitor, content);
  await until(async () => (await countWaiting(hook)).failed === 1);
  const open: ServerResponse[] = [];
  receiver.answer = () => (_, response) => void open.push(response);
  await makeDue(hook);
  await until(() => open.length === 1);
  receiver.answer = () => 200;
  await change(chat, hook, { description: 'Another' });
  // When a later event has arrived, the dispatcher has seen the change.
  const another = await makeWebhook(server, chat.own, {
    ...webhookTo(receiver),
    url: new URL('/other', receiver.url).href,
  });
  await sendText(chat, chat.visitor, '4');
  await until(() => contentsAt(receiver, '/other').length === 1);
  open[0]?.end();
  await until(async () => (await countWaiting(hook)).all === 0, 10_000);
  assert.deepEqual(contentsAt(receiver), ['1', '1', '2', '3', '4']);
  assert.equal((await countWaiting(another)).all, 0);
});

test('recovered and later deliveries keep their order when the first of them fails', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const hook = await makeWebhook(server, chat.own, webhookTo(receiver));
  await change(chat, hook, { enabled: false });
  for (const content of ['1', '2', '3']) await sendText(chat, chat.visitor, content);
  receiver.answer = () => 500;
  await change(chat, hook, { enabled: true });
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const answer = await call(server, `POST /webhooks/${hook.id}/recover`, { token: chat.own.admin, body: { since } });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  await until(async () => (await countWaiting(hook)).failed === 1);
  await sendText(chat, chat.visitor, '4');
  await change(chat, hook, { description: 'Another' });
  const another = await makeWebhook(server, chat.own, {
    ...webhookTo(receiver),
    url: new URL('/other', receiver.url).href,
  });
  await sendText(chat, chat.visitor, '5');
  await until(async () => (await countWaiting(another)).failed === 1);
  receiver.answer = () => 200;
  await makeDue(hook);
  await until(async () => (await countWaiting(hook)).all === 0, 10_000);
  assert.deepEqual(contentsAt(receiver), ['1', '1', '2', '3', '4', '5']);
});

test('the lease of an idle destination is released', { timeout: 40_000 }, async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const { id } = await makeWebhook(server, chat.own, webhookTo(receiver));
  await sendText(chat, chat.visitor, '1');
  const owner = async (): Promise<string | null> => {
    const [row] = await server.database.sql<{ owner: string | null }[]>`
      SELECT owner FROM destinations WHERE id = (SELECT destination_id FROM webhooks WHERE id = ${id})`;
    return row?.owner ?? null;
  };
  await until(async () => (await owner()) !== null && contentsAt(receiver).length === 1);
  await until(async () => (await owner()) === null, 20_000);
});

/** Inserts deliveries as a recovery does: `count` for each engagement, numbered from 1. */
async function insertRecovered({ id }: Json, engagements: readonly string[], count: number): Promise<void> {
  for (const engagement of engagements)
    await server.database.sql`
      INSERT INTO deliveries (account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
                              occurred_at, event_type, state, due_at, body)
      SELECT w.account_id, w.id, w.destination_id, ${engagement}, gen_random_uuid(), nextval('events_seq_seq'),
             pg_current_xact_id(), now(), 'engagement.chat.message', 'pending', now(),
             json_build_object('message', json_build_object('content', n::text))
        FROM webhooks w, generate_series(1, ${count}::integer) AS n
       WHERE w.id = ${id}
       ORDER BY n`;
}

test('2,500 recovered deliveries wait for the first one, which failed, and do not block its retry', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const hook = await makeWebhook(server, chat.own, webhookTo(receiver));
  receiver.answer = () => 500;
  await insertRecovered(hook, [randomUUID()], 2_500);
  await until(async () => (await countWaiting(hook)).failed === 1);
  receiver.answer = () => 200;
  await makeDue(hook);
  await until(async () => (await countWaiting(hook)).all === 0, 20_000);
  const numbers = Array.from({ length: 2_500 }, (_, index) => String(index + 1));
  assert.deepEqual(contentsAt(receiver), ['1', ...numbers]);
});

test('a webhook whose secret cannot be decrypted does not block other webhooks of the same host', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const bad = await makeWebhook(server, chat.own, { ...webhookTo(receiver), url: new URL('/bad', receiver.url).href });
  await server.database.sql`UPDATE webhooks SET secret = '\\x00010203' WHERE id = ${bad.id}`;
  const engagements = Array.from({ length: 40 }, () => randomUUID());
  await insertRecovered(bad, engagements, 1);
  const good = await makeWebhook(server, chat.own, webhookTo(receiver));
  await sendText(chat, chat.visitor, 'good');
  await until(async () => (await countWaiting(good)).all === 0);
  await until(async () => (await countWaiting(bad)).failed > engagements.length);
  assert.deepEqual(contentsAt(receiver, '/bad'), []);
});
