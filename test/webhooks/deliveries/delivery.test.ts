import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { eventTypes } from '../../../packages/server/src/events/catalogue.ts';
import { acknowledge, end, engage, sendText, type Engaged, type TokenHolder } from '../../support/people/chat.ts';
import { forThisFile } from '../../support/fixture.ts';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../../support/server.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import {
  acceptOffer,
  requestTicket,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  makeSite,
} from '../../support/world.ts';

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

function typesAt({ arrived }: Receiver): string[] {
  return arrived.map(({ event }) => String(event.event_type));
}

/** Waits for the end of the engagement. Events of an engagement arrive in order, so all earlier ones have arrived by then. */
async function untilEnd(receiver: Receiver): Promise<void> {
  await until(() => typesAt(receiver).includes('engagement.end'));
}

const attached = (url: string, more: Json = {}) => ({ url, method: 'POST', events: [...eventTypes], ...more });

async function patch(path: string, { token }: TokenHolder, body: Json): Promise<Json> {
  return expectStatus(await call(server, `PATCH ${path}`, { token, body }), 200).body;
}

test('an event is sent as stored, with the method and headers of the webhook and a valid signature #oldest', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const { secret } = await makeWebhook(server, chat.own, {
    url: `${receiver.url}?a=1&b=%20`,
    method: 'PATCH',
    headers: { Authorization: 'Bearer of mine', 'X-Latin': 'für' },
    events: ['engagement.chat.message'],
  });
  await sendText(chat, chat.visitor, 'Good day, “friend” 🙂');
  await until(() => receiver.arrived.length > 0);
  const [{ method, path, headers, body, event } = assert.fail('nothing arrived')] = receiver.arrived;
  assert.deepEqual([method, path], ['PATCH', '/hook?a=1&b=%20']);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['authorization'], 'Bearer of mine');
  assert.equal(headers['x-latin'], 'für');
  assert.equal(headers['webhook-id'], event.event_id);
  const [{ payload } = assert.fail('there is no event')] = await server.database.sql<{ payload: string }[]>`
    SELECT payload::text FROM events WHERE id = ${event.event_id}`;
  assert.equal(body, payload);
  assert.deepEqual(new Webhook(secret).verify(body, headers as Record<string, string>), event);
  assert.throws(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>));
});

test('during a rotation both secrets sign, afterwards only the new one', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const hook = await makeWebhook(server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
  const rotated = await call(server, `POST /webhooks/${hook.id}/rotate_secret`, { token: chat.own.admin, body: {} });
  const { secret } = expectStatus(rotated, 200).body;
  await sendText(chat, chat.visitor, 'one');
  await until(() => receiver.arrived.length === 1);
  const sql = server.database.sql;
  await sql`UPDATE webhooks SET old_secret_until = now() WHERE id = ${hook.id}`;
  await sendText(chat, chat.visitor, 'two');
  await until(() => receiver.arrived.length === 2);
  const [first, second] = receiver.arrived;
  const isSignedWith = (key: string, one = first): boolean => {
    try {
      new Webhook(key).verify(one?.body ?? '', one?.headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };
  assert.deepEqual([isSignedWith(hook.secret), isSignedWith(secret)], [true, true]);
  assert.deepEqual([isSignedWith(hook.secret, second), isSignedWith(secret, second)], [false, true]);
});

test('a registration receives the subscribed events of both sides once, in order, and nothing else', async () => {
  const [all, some, other] = [await receive(), await receive(), await receive()];
  const own = await makeAccount(server);
  const elsewhere = await makeSite(server, own);
  await makeWebhook(server, own, { url: all.url, events: [...eventTypes] });
  await makeWebhook(server, own, {
    url: some.url,
    events: ['engagement.start', 'engagement.end'],
    site_ids: [own.siteId],
  });
  await makeWebhook(server, own, { url: other.url, events: [...eventTypes], site_ids: [elsewhere] });
  const stranger = await makeAccount(server);
  const strange = await receive();
  await makeWebhook(server, stranger, { url: strange.url, events: [...eventTypes] });

  const queue = await makeQueue(server, own, { welcome_message: 'Welcome' });
  const operator = await makeAvailableOperator(server, own);
  const { visitor } = await requestTicket(server, own, { queue_ids: [queue] });
  const chat: Engaged = { server, own, operator, visitor, queue, id: await acceptOffer(server, operator) };
  const message = await sendText(chat, visitor, 'Hello');
  await acknowledge(chat, operator, message);
  await sendText(chat, operator, 'Hello too');
  await end(chat);
  await untilEnd(all);
  await untilEnd(some);
  const ofTicket = () => typesAt(all).filter((type) => type.startsWith('ticket.'));
  await until(() => ofTicket().length === 3);
  // The order between a ticket and its engagement is not guaranteed.
  assert.deepEqual(ofTicket(), ['ticket.created', 'ticket.offered', 'ticket.ended']);
  assert.deepEqual(typesAt(all).filter((type) => type.startsWith('engagement.')), [
    'engagement.start',
    'engagement.chat.message',
    'engagement.chat.message',
    'engagement.chat.message_status',
    'engagement.chat.message',
    'engagement.end',
  ]); // prettier-ignore
  assert.deepEqual(typesAt(some), ['engagement.start', 'engagement.end']);
  assert.deepEqual([other.arrived.length, strange.arrived.length], [0, 0]);
});

test('D8.3: a webhook receives the spelling of the event type it subscribed to, and one request if it subscribed to both', async () => {
  const [listed, defined, both] = [await receive(), await receive(), await receive()];
  const chat = await engage(server);
  const spellings = ['engagement.chat.message.status', 'engagement.chat.message_status'] as const;
  await makeWebhook(server, chat.own, { url: listed.url, events: [spellings[0], 'engagement.end'] });
  await makeWebhook(server, chat.own, { url: defined.url, events: [spellings[1], 'engagement.end'] });
  await makeWebhook(server, chat.own, { url: both.url, events: [...spellings, 'engagement.end'] });
  await acknowledge(chat, chat.operator, await sendText(chat, chat.visitor, 'Hello'));
  await end(chat);
  for (const receiver of [listed, defined, both]) await untilEnd(receiver);
  assert.deepEqual(typesAt(listed), [spellings[0], 'engagement.end']);
  assert.deepEqual(typesAt(defined), [spellings[1], 'engagement.end']);
  assert.deepEqual(typesAt(both), [spellings[1], 'engagement.end']);
  const [one, two] = [listed.arrived[0]?.event, defined.arrived[0]?.event];
  assert.deepEqual({ ...one, event_type: null }, { ...two, event_type: null });
  assert.deepEqual(Object.keys(one), Object.keys(two));
});

test('D8.1, D8.2: a webhook attached to a ticket receives the events of its engagement, and the messages of its own side', async () => {
  const [own, all, later] = [await receive(), await receive(), await receive()];
  const chat = await engage(server, {}, { webhooks: [attached(own.url), attached(all.url, { messages: 'all' })] });
  // Another engagement of the account, whose events the first webhooks must not receive.
  const another = await requestTicket(server, chat.own, { queue_ids: [chat.queue], webhooks: [attached(later.url)] });
  const message = await sendText(chat, chat.visitor, 'Mine');
  await acknowledge(chat, chat.operator, message);
  const answer = await sendText(chat, chat.operator, 'Theirs');
  await acknowledge(chat, chat.visitor, answer);
  const path = `/engagements/${chat.id}/system_messages`;
  expectStatus(
    await call(server, `POST ${path}`, { token: chat.own.admin, body: { content: 'For the operator' } }),
    201,
  );
  await end(chat);
  await untilEnd(own);
  await untilEnd(all);
  const contents = ({ arrived }: Receiver): unknown[] =>
    arrived.map(({ event }) => [event.event_type.replace('engagement.', ''), event.message?.content ?? null]);
  assert.deepEqual(contents(own), [
    ['start', null],
    ['chat.message', 'Mine'],
    ['chat.message_status', 'Mine'],
    ['end', null],
  ]);
  assert.deepEqual(contents(all), [
    ['start', null],
    ['chat.message', 'Mine'],
    ['chat.message_status', 'Mine'],
    ['chat.message', 'Theirs'],
    ['chat.message_status', 'Theirs'],
    ['end', null],
  ]);
  const engagementId = await acceptOffer(server, chat.operator);
  await end({ ...chat, visitor: another.visitor, id: engagementId });
  await untilEnd(later);
  assert.deepEqual(typesAt(later), ['engagement.start', 'engagement.end']);
  assert.equal(typesAt(own).length, 4);
});

test('a webhook attached to a ticket receives each failed request of the ticket', async () => {
  const receiver = await receive();
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const operator = await makeAvailableOperator(server, own);
  const ticket = await requestTicket(server, own, { queue_ids: [queue], webhooks: [attached(receiver.url)] });
  const { body } = await call(server, 'GET /engagement_requests?state=pending', { token: operator.token });
  await patch(`/engagement_requests/${body.engagement_requests[0].id}`, operator, { action: 'decline' });
  await until(() => receiver.arrived.length === 1);
  const [{ event } = assert.fail()] = receiver.arrived;
  assert.deepEqual(
    [event.event_type, event.engagement_request.fail_reason],
    ['engagement.request.failure', 'rejected'],
  );
  assert.equal(event.engagement_request.visitor_id, ticket.visitor.id);
});

test('a webhook attached to a direct request or a transfer belongs to the operator and receives events from then on', async () => {
  const [asking, transferring] = [await receive(), await receive()];
  const own = await makeAccount(server);
  const [first, second] = [await makeAvailableOperator(server, own), await makeAvailableOperator(server, own)];
  const { visitor } = await requestTicket(server, own);
  const request = await call(server, 'POST /engagement_requests', {
    token: first.token,
    body: { site_id: own.siteId, media: 'text', visitor_id: visitor.id, webhooks: [attached(asking.url)] },
  });
  const { engagement_id: id } = await patch(`/engagement_requests/${expectStatus(request, 201).body.id}`, visitor, {
    action: 'accept',
  });
  const chat: Engaged = { server, own, operator: first, visitor, id, queue: '' };
  await sendText(chat, visitor, 'From the visitor');
  await sendText(chat, first, 'From the first');
  const transfer = await call(server, 'POST /transfer_requests', {
    token: first.token,
    body: { engagement_id: id, operator_id: second.id, webhooks: [attached(transferring.url)] },
  });
  await patch(`/transfer_requests/${expectStatus(transfer, 201).body.id}`, second, { action: 'accept' });
  await sendText(chat, second, 'From the second');
  await end({ ...chat, operator: second });
  await untilEnd(asking);
  await untilEnd(transferring);
  const contents = ({ arrived }: Receiver): unknown[] =>
    arrived.map(({ event }) => event.message?.content ?? event.event_type);
  assert.deepEqual(contents(asking), [
    'engagement.start',
    'From the first',
    'engagement.transfer',
    'From the second',
    'engagement.end',
  ]);
  assert.deepEqual(contents(transferring), ['engagement.transfer', 'From the second', 'engagement.end']);
});

test('an attached webhook is signed with its own secret, or not at all without one', async () => {
  const receiver = await receive();
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const start = { events: ['engagement.start'] };
  const webhooks = [attached(`${receiver.url}?1`, { ...start, secret }), attached(`${receiver.url}?2`, start)];
  await engage(server, {}, { webhooks });
  await until(() => receiver.arrived.length === 2);
  const [signed, plain] = receiver.arrived.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  new Webhook(secret).verify(signed?.body ?? '', signed?.headers as Record<string, string>);
  assert.equal(plain?.headers['webhook-signature'], undefined);
  assert.equal(plain?.headers['webhook-id'], plain?.event.event_id);
});

test('typing events are sent to webhooks that subscribe to them, with increasing clocks', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const events = ['engagement.chat.typing_indicator.visitor', 'engagement.end'];
  await makeWebhook(server, chat.own, { url: receiver.url, events });
  const typing = async (who: TokenHolder, is: boolean) =>
    call(server, `PUT /engagements/${chat.id}/typing_indicator`, { token: who.token, body: { typing: is } });
  for (const is of [true, false, true]) assert.equal((await typing(chat.visitor, is)).status, 204);
  assert.equal((await typing(chat.operator, true)).status, 204);
  await end(chat);
  await untilEnd(receiver);
  const typed = receiver.ofType('engagement.chat.typing_indicator.visitor').map(({ typing_indicator: each }) => each);
  assert.deepEqual(
    typed.map(({ typing: is }) => is),
    [true, false, true],
  );
  const clocks = typed.map(({ clock }) => clock);
  assert.deepEqual(
    clocks,
    [...new Set(clocks)].toSorted((a, b) => a - b),
  );
  assert.equal(receiver.arrived.length, 4);
});

test('while a webhook is disabled its events are held, and nothing is sent', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  const hook = await makeWebhook(server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
  const put = async (enabled: boolean) => {
    const body = { url: receiver.url, method: 'POST', events: ['engagement.chat.message'], enabled };
    expectStatus(await call(server, `PUT /webhooks/${hook.id}`, { token: chat.own.admin, body }), 200);
  };
  await put(false);
  await sendText(chat, chat.visitor, 'while disabled');
  await put(true);
  await sendText(chat, chat.visitor, 'while enabled');
  await until(() => receiver.arrived.length > 0);
  assert.deepEqual(
    receiver.arrived.map(({ event }) => event.message.content),
    ['while enabled'],
  );
  const sql = server.database.sql;
  await until(async () => {
    const rows = await sql<{ state: string }[]>`SELECT state FROM deliveries WHERE webhook_id = ${hook.id}`;
    return rows.length === 1 && rows[0]?.state === 'held';
  });
});

test('waiting deliveries go to the new URL of a changed webhook', async () => {
  const [from, to] = [await receive(), await receive()];
  from.answer = () => 500;
  const chat = await engage(server);
  const fields = { url: from.url, method: 'POST', events: ['engagement.chat.message'] };
  const hook = await makeWebhook(server, chat.own, fields);
  for (const content of ['one', 'two', 'three']) await sendText(chat, chat.visitor, content);
  await until(() => from.arrived.length === 1);
  const body = { ...fields, url: to.url };
  expectStatus(await call(server, `PUT /webhooks/${hook.id}`, { token: chat.own.admin, body }), 200);
  const sql = server.database.sql;
  await until(async () => {
    await sql`UPDATE deliveries SET due_at = now() WHERE webhook_id = ${hook.id} AND due_at > now()`;
    return to.arrived.length === 3;
  });
  assert.deepEqual(
    to.arrived.map(({ event }) => event.message.content),
    ['one', 'two', 'three'],
  );
  assert.equal(from.arrived.length, 1);
});

test('the largest possible event is under 256 KiB, and is delivered', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  await makeWebhook(server, chat.own, { url: receiver.url, events: ['engagement.chat.system_message'] });
  // The longest fields that the API accepts: six bytes per character in JSON, or three in UTF-8.
  const option = { text: '語'.repeat(1_000), value: '語'.repeat(1_000) };
  const options = [...Array.from({ length: 15 }, () => option), { text: '語'.repeat(1_000), value: '語'.repeat(900) }];
  const body = {
    content: '\u0001'.repeat(10_000),
    attachment: { type: 'single_choice', options },
    metadata: { type: 'prompt', more: '語'.repeat(16_350) },
  };
  const path = `POST /engagements/${chat.id}/system_messages`;
  const longer = { ...body, attachment: { type: 'single_choice', options: [...options, option] } };
  expectStatus(await call(server, path, { token: chat.own.admin, body: longer }), 422);
  expectStatus(await call(server, path, { token: chat.own.admin, body }), 201);
  await until(() => receiver.arrived.length === 1);
  const size = Buffer.byteLength(receiver.arrived[0]?.body ?? '');
  assert.ok(size > 190_000 && size < 256 * 1_024, `${size} bytes`);
});

test('metrics show the outcomes of deliveries, the batch sizes and the age of the oldest due delivery', async () => {
  const receiver = await receive();
  const chat = await engage(server);
  await makeWebhook(server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
  const read = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
  const count = (text: string, name: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')[1] ?? 0,
    );
  const delivered = 'usher_deliveries_total{outcome="delivered"}';
  const before = count(await read(), delivered);
  await sendText(chat, chat.visitor, 'Hello');
  await until(async () => count(await read(), delivered) === before + 1);
  const text = await read();
  assert.ok(count(text, 'usher_delivery_attempt_duration_seconds_count{delivered="true"}') > 0);
  assert.ok(count(text, 'usher_delivery_batch_size_count{kind="written"}') > 0);
  assert.ok(count(text, 'usher_delivery_batch_size_count{kind="read"}') > 0);
  assert.ok(count(text, 'usher_delivery_destinations{state="closed"}') > 0);
  for (const name of ['usher_deliveries_oldest_due_seconds', 'usher_deliveries_sending'])
    assert.match(text, new RegExp(`^${name} [0-9.]+$`, 'm'));
});

test('a flood of deliveries in one account does not delay those of another', async () => {
  const [flooded, quiet] = [await receive(), await receive()];
  flooded.answer = () => (_, response) => void setTimeout(() => response.end(), 50);
  const [busy, calm] = [await engage(server), await engage(server)];
  await makeWebhook(server, busy.own, { url: flooded.url, events: ['engagement.chat.message'], ordering: 'none' });
  await makeWebhook(server, calm.own, { url: quiet.url, events: ['engagement.chat.message'] });
  const sql = server.database.sql;
  await sendText(busy, busy.visitor, 'The first of very many');
  const logged = async () =>
    sql`SELECT 1 FROM delivery_log WHERE event_id = ${flooded.arrived[0]?.event.event_id ?? null}`;
  await until(async () => flooded.arrived.length === 1 && (await logged()).length === 1);
  await sql`
    INSERT INTO deliveries (account_id, webhook_id, destination_id, event_id, event_seq, event_xid, occurred_at,
                            event_type, state)
    SELECT account_id, webhook_id, destination_id, event_id, event_seq, event_xid, occurred_at, event_type, 'pending'
      FROM delivery_log, generate_series(1, 5000)
     WHERE event_id = ${flooded.arrived[0]?.event.event_id}`;
  await sendText(busy, busy.visitor, 'The last');
  await until(() => flooded.arrived.length > 50);
  const delays: number[] = [];
  for (let index = 0; index < 10; index += 1) {
    await sendText(calm, calm.visitor, String(index));
    await until(() => quiet.arrived.length === index + 1);
    const [{ at, event } = assert.fail()] = quiet.arrived.slice(-1);
    delays.push(at - Date.parse(event.dispatched_at));
  }
  assert.ok(flooded.arrived.length < 5_000, 'the flood ended before the measurement');
  assert.ok((delays.toSorted((a, b) => a - b)[5] ?? Number.NaN) < 250, `${delays.join(', ')} ms`);
});
