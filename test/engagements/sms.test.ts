import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngagementId } from '../../packages/server/src/platform/ids.ts';
import {
  sendOutboundSms,
  newNumber,
  newSid,
  post,
  publicUrl,
  signatureOf,
  startCarrier,
  type AcceptedSms,
} from '../support/services/carrier.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  eventsOf,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeVisitor,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

const carrier = await forThisFile(startCarrier());
const server = await forThisFile(startTestServer({ twilio: carrier.settings }));

interface Conversation {
  readonly own: TestAccount;
  readonly operator: TestOperator;
  readonly request: Json;
  readonly sms: AcceptedSms;
}

/** Requests an engagement by SMS and waits until the carrier has the SMS. */
async function begin(given: Json = {}): Promise<Conversation> {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own);
  const request = expectStatus(await sendOutboundSms(server, own, operator, given), 201).body;
  return { own, operator, request, sms: await carriedFor(request.id) };
}

async function carriedFor(id: string): Promise<AcceptedSms> {
  const find = () => carrier.acceptedSms.find(({ statusCallback }) => statusCallback.endsWith(id));
  await until(() => find() !== undefined);
  const found = find();
  assert.ok(found);
  await until(async () => (await stateOf(id)) !== 'sending');
  return found;
}

async function stateOf(id: string): Promise<string | undefined> {
  const [row] = await server.database.sql<{ state: string }[]>`SELECT state FROM sms_messages WHERE id = ${id}`;
  return row?.state;
}

async function requestNow({ request, operator }: Conversation): Promise<Json> {
  return expectStatus(await call(server, `GET /engagement_requests/${request.id}`, { token: operator.token }), 200)
    .body;
}

async function typesOf({ own }: Conversation): Promise<string[]> {
  return (await eventsOf(server, own)).map(({ event_type }) => event_type);
}

async function engaged(talk: Conversation): Promise<EngagementId> {
  await until(async () => (await requestNow(talk)).state === 'accepted');
  return (await requestNow(talk)).engagement_id;
}

async function transcript(engagement: string): Promise<Json[]> {
  return server.database.sql`
    SELECT id, sender_type, sender_id, content, status FROM chat_messages WHERE engagement_id = ${engagement} ORDER BY seq`;
}

/** Sends the operator's message twice, like a client that lost the answer. */
async function say({ operator: { token } }: Conversation, engagement: string, content: string): Promise<string> {
  const id = crypto.randomUUID();
  for (let time = 0; time < 2; time += 1)
    expectStatus(
      await call(server, `PUT /engagements/${engagement}/chat_messages/${id}`, { token, body: { content } }),
      200,
    );
  return id;
}

const inbound = `${publicUrl}/carriers/twilio/inbound`;

test('a conversation by SMS: the request is delivered, the reply accepts it, and messages go both ways', async () => {
  const [from_number, to_number] = [newNumber(), newNumber()];
  const talk = await begin({ from_number, to_number, message: 'Is Tuesday fine? ünïcödé & 100% +' });
  const { request, sms, operator, own } = talk;
  assert.deepEqual(
    [request.state, request.platform, request.origin, request.media, request.timeout, request.operator_id],
    ['pending', 'sms', 'operator', 'text', 259_200, operator.id],
  );
  assert.deepEqual([sms.from, sms.to, sms.body], [from_number, to_number, 'Is Tuesday fine? ünïcödé & 100% +']);
  const { body: visitor } = await call(server, `GET /sites/${own.siteId}/visitors/${request.visitor_id}`, {
    token: operator.token,
  });
  assert.equal(visitor.phone, to_number);
  assert.equal(await stateOf(request.id), 'sent');

  for (const status of ['sent', 'delivered']) assert.equal((await carrier.report(server, sms, status)).status, 204);
  const answered = await carrier.reply(server, sms, 'Yes 👍');
  assert.equal(answered.status, 200);
  assert.equal(answered.headers.get('content-type'), 'text/xml; charset=utf-8');
  assert.match(await answered.text(), /^<\?xml [^>]*><Response><\/Response>$/);
  const engagement = await engaged(talk);
  await until(async () => (await transcript(engagement)).length === 1);
  await carrier.reply(server, sms, 'What time?');
  await until(async () => (await transcript(engagement)).length === 2);
  assert.deepEqual(
    (await transcript(engagement)).map(({ sender_type, sender_id, content }) => [sender_type, sender_id, content]),
    [
      ['visitor', request.visitor_id, 'Yes 👍'],
      ['visitor', request.visitor_id, 'What time?'],
    ],
  );

  const said = await say(talk, engagement, 'At ten.');
  await until(() => carrier.acceptedSms.some(({ body }) => body === 'At ten.'));
  const outgoing = carrier.acceptedSms.find(({ body }) => body === 'At ten.');
  assert.ok(outgoing);
  assert.deepEqual([outgoing.from, outgoing.to], [from_number, to_number]);
  for (const status of ['sent', 'delivered', 'delivered']) await carrier.report(server, outgoing, status);
  assert.deepEqual(
    (await transcript(engagement)).map(({ id, status }) => [id === said, status]),
    [
      [false, 'sent'],
      [false, 'sent'],
      [true, 'delivered'],
    ],
  );
  const named = { id: request.id, site_id: own.siteId, visitor_id: request.visitor_id, operator_id: operator.id };
  const events = await eventsOf(server, own);
  assert.deepEqual(events[0], { event_type: 'engagement.request.deliver', engagement_request: named });
  assert.deepEqual(
    events.map(({ event_type }) => event_type),
    [
      'engagement.request.deliver',
      'engagement.start',
      'engagement.chat.message',
      'engagement.chat.message',
      'engagement.chat.message',
      'engagement.chat.message_status',
    ],
  );
  assert.equal(carrier.acceptedSms.filter(({ to }) => to === to_number).length, 2);
});

test('with repeated, concurrent and reordered receipts, one delivery event is sent and never revoked', async () => {
  const talk = await begin();
  const { request, sms } = talk;
  const statuses = ['delivered', 'queued', 'sent', 'delivered', 'read', 'undelivered', 'failed', 'delivered', 'odd'];
  const answers = await Promise.all(statuses.slice(0, 5).map(async (status) => carrier.report(server, sms, status)));
  for (const status of statuses) answers.push(await carrier.report(server, sms, status, { bySid: true }));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [204]);
  assert.equal(await stateOf(request.id), 'delivered');
  assert.deepEqual(await typesOf(talk), ['engagement.request.deliver']);
  assert.equal((await requestNow(talk)).state, 'pending');
});

test('a receipt of a failed delivery fails a pending request with the reason', async () => {
  const talk = await begin();
  await carrier.report(server, talk.sms, 'undelivered', { bySid: true, fields: { ErrorCode: '30003' } });
  await until(async () => (await requestNow(talk)).state === 'failed');
  const now = await requestNow(talk);
  assert.deepEqual([now.fail_reason, now.fail_message], ['error', 'The carrier reported: undelivered (30003)']);
  await until(async () => (await stateOf(talk.request.id)) === 'failed');
  await carrier.report(server, talk.sms, 'delivered');
  assert.deepEqual(await typesOf(talk), ['engagement.request.failure']);

  const other = await begin();
  await carrier.reply(server, other.sms, 'Here I am');
  await engaged(other);
  await carrier.report(server, other.sms, 'failed');
  await until(async () => (await stateOf(other.request.id)) === 'failed');
  assert.equal((await requestNow(other)).state, 'accepted');
});

test('a request without a valid signature of the carrier is refused before it is parsed', async () => {
  const talk = await begin();
  const { sms } = talk;
  const receipt = { MessageSid: sms.sid, MessageStatus: 'delivered' };
  const reply = { MessageSid: newSid(), From: sms.to, To: sms.from, Body: 'Forged' };
  const other = `${publicUrl}/carriers/twilio/status?id=${crypto.randomUUID()}`;
  const attempts = [
    post(server, sms.statusCallback, receipt, 'bm9ib2R5IHNpZ25lZCB0aGlzIQ=='),
    post(server, sms.statusCallback, receipt, ''),
    post(server, sms.statusCallback, receipt, signatureOf(sms.statusCallback, receipt, 'another token')),
    post(server, sms.statusCallback, receipt, signatureOf(other, receipt)),
    post(server, sms.statusCallback, { ...receipt, More: '' }, signatureOf(sms.statusCallback, receipt)),
    post(server, inbound, reply, signatureOf(inbound, { ...reply, Body: 'Other' })),
    post(server, inbound, reply, signatureOf(inbound.replace('https', 'http'), reply)),
    fetch(`${server.url}/carriers/twilio/inbound`, { method: 'POST', body: new URLSearchParams(reply) }),
  ];
  for (const answer of await Promise.all(attempts)) {
    assert.equal(answer.status, 403);
    assert.equal(answer.headers.get('content-type'), 'application/problem+json; charset=utf-8');
  }
  const json = await fetch(`${server.url}/carriers/twilio/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-twilio-signature': signatureOf(inbound, {}) },
    body: JSON.stringify(reply),
  });
  assert.equal(json.status, 415);
  const form = await call(server, 'POST /outbound_sms', {
    token: talk.operator.token,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'site_id=1',
  });
  assert.equal(form.status, 415);
  const large = { ...reply, Body: 'x'.repeat(70_000) };
  assert.equal((await post(server, inbound, large)).status, 413);
  assert.equal((await requestNow(talk)).state, 'pending');
  assert.deepEqual(await typesOf(talk), []);
});

test('a signed request that matches nothing gets the normal answer', async () => {
  const status = `${publicUrl}/carriers/twilio/status`;
  const odd: Record<string, string>[] = [
    {},
    { MessageSid: newSid(), MessageStatus: 'delivered' },
    { MessageSid: '\0', MessageStatus: 'delivered' },
    { MessageStatus: 'delivered' },
    { MessageSid: "'; DROP TABLE sites; --", MessageStatus: 'failed', ErrorCode: '\0' },
    { MessageSid: newSid(), From: '\0', To: '\0', Body: '\0', NumMedia: 'many' },
    { MessageSid: newSid(), From: newNumber(), To: newNumber(), Body: 'Who are you?' },
    { __proto__x: 'y', constructor: 'z' },
  ];
  for (const fields of odd) {
    for (const url of [status, `${status}?id=x`, `${status}?id=${crypto.randomUUID()}`, `${status}?id=1&id=2`])
      assert.equal((await post(server, url, fields)).status, 204, JSON.stringify(fields));
    assert.equal((await post(server, inbound, fields)).status, 200, JSON.stringify(fields));
  }
  const { body: metrics } = await call(server, 'GET /metrics');
  assert.match(metrics, /usher_sms_inbound_total\{outcome="unclaimed"\} [1-9]/);
  assert.match(metrics, /usher_sms_receipts_total\{outcome="forged"\} [1-9]/);
  assert.match(metrics, /usher_sms_sent_total\{outcome="sent"\} [1-9]/);
  assert.match(metrics, /usher_sms_queued_age_seconds \d/);
});

test('concurrent and repeated replies make one engagement with each message once', async () => {
  const talk = await begin();
  const replies = Array.from({ length: 6 }, (_, index) => ({ sid: newSid(), text: `reply ${index}` }));
  await Promise.all(
    [...replies, ...replies].map(async ({ sid, text }) => carrier.reply(server, talk.sms, text, { MessageSid: sid })),
  );
  const engagement = await engaged(talk);
  await until(async () => (await transcript(engagement)).length === 6);
  for (const { sid, text } of replies) await carrier.reply(server, talk.sms, text, { MessageSid: sid });
  const messages = await transcript(engagement);
  assert.equal(messages.length, 6);
  assert.deepEqual(new Set(messages.map(({ content }) => content)), new Set(replies.map(({ text }) => text)));
  const types = await typesOf(talk);
  assert.equal(types.filter((type) => type === 'engagement.start').length, 1);
  assert.equal(types.filter((type) => type === 'engagement.chat.message').length, 6);
});

test('a reply after the end of the request or the engagement is dropped', async () => {
  const talk = await begin();
  const cancel = { token: talk.operator.token, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /engagement_requests/${talk.request.id}`, cancel), 200);
  assert.equal((await carrier.reply(server, talk.sms, 'Too late')).status, 200);
  assert.equal((await requestNow(talk)).fail_reason, 'operator_cancel');

  const other = await begin();
  await carrier.reply(server, other.sms, 'In time');
  const engagement = await engaged(other);
  await until(async () => (await transcript(engagement)).length === 1);
  const end = { token: other.operator.token, body: { action: 'end' } };
  expectStatus(await call(server, `PATCH /engagements/${engagement}`, end), 200);
  assert.equal((await carrier.reply(server, other.sms, 'Too late')).status, 200);
  const stored = await server.database.sql`SELECT 1 FROM sms_messages WHERE body = 'Too late'`;
  assert.equal(stored.length, 0);
  assert.deepEqual(
    (await transcript(engagement)).map(({ content }) => content),
    ['In time'],
  );
});

test('D12.2, D12.3 STOP declines the request; a picture or an empty SMS accepts it', async () => {
  const stopped = await begin();
  await carrier.reply(server, stopped.sms, ' Stop ');
  await until(async () => (await requestNow(stopped)).state === 'failed');
  assert.equal((await requestNow(stopped)).fail_reason, 'rejected');
  for (const [text, media, content] of [
    ['', '2', '[media]'],
    [' \0', '0', '[empty]'],
    ['See\0 this', '1', 'See this'],
  ] as const) {
    const talk = await begin();
    await carrier.reply(server, talk.sms, text, { NumMedia: media });
    const engagement = await engaged(talk);
    await until(async () => (await transcript(engagement)).length === 1);
    assert.equal((await transcript(engagement))[0].content, content);
  }
});

test('D12.1 a reply engages an operator even if they are busy or away', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const from_number = newNumber();
  const talks: Conversation[] = [];
  for (let each = 0; each < 3; each += 1) {
    const request = expectStatus(await sendOutboundSms(server, own, operator, { from_number }), 201).body;
    talks.push({ own, operator, request, sms: await carriedFor(request.id) });
  }
  for (const talk of talks) await carrier.reply(server, talk.sms, 'Hi');
  for (const talk of talks) await engaged(talk);
  const visitor = await makeVisitor(server, own);
  const more = await call(server, 'POST /engagement_requests', {
    token: operator.token,
    body: { site_id: own.siteId, media: 'text', visitor_id: visitor.id },
  });
  assert.equal(more.body.error, 'operator_unavailable');
});

test('a long message is sent as several SMS in order, and is delivered when all are', async () => {
  const talk = await begin();
  await carrier.reply(server, talk.sms, 'Tell me everything');
  const engagement = await engaged(talk);
  const content = Array.from({ length: 4_000 }, (_, index) => String.fromCodePoint(0x61 + (index % 26))).join('');
  carrier.nextBehaviours.push({ status: 503 });
  const id = await say(talk, engagement, content);
  const after1 = await say(talk, engagement, 'The end.');
  const parts = () => carrier.acceptedSms.filter(({ to, sid }) => to === talk.sms.to && sid !== talk.sms.sid);
  await until(() => parts().length === 4);
  assert.deepEqual(
    parts().map(({ body }) => body),
    [content.slice(0, 1_600), content.slice(1_600, 3_200), content.slice(3_200), 'The end.'],
  );
  const statusOf = async (message: string) =>
    (await transcript(engagement)).find((each) => each.id === message)?.status;
  const [first, ...rest] = parts();
  assert.ok(first);
  await Promise.all(rest.map(async (sms) => carrier.report(server, sms, 'delivered')));
  assert.deepEqual([await statusOf(id), await statusOf(after1)], ['sent', 'delivered']);
  await carrier.report(server, first, 'delivered');
  assert.equal(await statusOf(id), 'delivered');
});
