import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  acknowledge,
  end,
  engage,
  ofType,
  say,
  transcript,
  type Engaged,
  type TokenHolder,
} from '../support/people/chat.ts';
import { fileForm } from '../support/people/files.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Answer, type Json } from '../support/server.ts';
import {
  eventsOf,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeVisitor,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

test('a message is stored once under the sender’s id, and its event has the documented form', async () => {
  const chat = await engage(server);
  const { own, visitor, operator, id } = chat;
  const messageId = randomUUID();
  const first = expectStatus(await say(chat, visitor, { content: 'Hello', metadata: { a: [1] } }, messageId), 200).body;
  const { timestamp, created_at, updated_at, ...message } = first;
  assert.equal(timestamp, created_at);
  assert.equal(updated_at, created_at);
  assert.deepEqual(message, {
    id: messageId,
    engagement_id: id,
    sub_engagement_id: message.sub_engagement_id,
    content: 'Hello',
    status: 'sent',
    sender: { type: 'visitor', id: visitor.id },
    target: 'operator',
    type: 'chat',
    attachment: null,
    metadata: { a: [1] },
  });
  const again = await say(chat, visitor, { content: 'Hello', metadata: { a: [1] } }, messageId.toUpperCase());
  assert.deepEqual(expectStatus(again, 200).body, first);
  for (const other of [{ content: 'Hullo', metadata: { a: [1] } }, { content: 'Hello' }])
    assert.equal(expectStatus(await say(chat, visitor, other, messageId), 409).body.error, 'message_conflict');
  const stolen = await say(chat, operator, { content: 'Hello', metadata: { a: [1] } }, messageId);
  assert.equal(expectStatus(stolen, 409).body.error, 'message_conflict');
  const messageEvents = ofType(await eventsOf(server, own), 'engagement.chat.message');
  assert.deepEqual(messageEvents, [
    {
      event_type: 'engagement.chat.message',
      message: {
        timestamp,
        id: messageId,
        engagement_id: id,
        sub_engagement_id: message.sub_engagement_id,
        content: 'Hello',
        status: 'sent',
        sender: { type: 'visitor' },
        target: 'operator',
        type: 'chat',
        attachment: null,
      },
      undelivered_messages: false,
    },
  ]);
});

test('the same message sent twice concurrently is one message and one event', async () => {
  const chat = await engage(server);
  const messageId = randomUUID();
  const answers = await Promise.all(Array.from({ length: 8 }, async () => say(chat, chat.visitor, 'Hi', messageId)));
  const bodies = new Set(answers.map((answer) => JSON.stringify(expectStatus(answer, 200).body)));
  assert.equal(bodies.size, 1);
  assert.equal(ofType(await eventsOf(server, chat.own), 'engagement.chat.message').length, 1);
});

test('a message is acknowledged once, and the next message tells whether earlier ones are undelivered', async () => {
  const chat = await engage(server);
  const { own, visitor, operator } = chat;
  const sent = async (who: TokenHolder): Promise<string> => expectStatus(await say(chat, who, 'x'), 200).body.id;
  const [first, second] = [await sent(visitor), await sent(visitor)];
  assert.equal(expectStatus(await acknowledge(chat, visitor, first), 403).body.error, 'forbidden');
  const answers = await Promise.all(Array.from({ length: 6 }, async () => acknowledge(chat, operator, first)));
  for (const answer of answers) assert.equal(expectStatus(answer, 200).body.status, 'delivered');
  assert.ok(new Date(answers[0]?.body.updated_at) >= new Date(answers[0]?.body.created_at));
  await sent(visitor);
  await sent(operator);
  expectStatus(await acknowledge(chat, operator, second), 200);
  assert.equal((await acknowledge(chat, operator, randomUUID())).status, 404);
  const events = await eventsOf(server, own);
  const flags = ofType(events, 'engagement.chat.message').map(({ message, undelivered_messages: flag }) => [
    message.sender.type,
    flag,
  ]);
  assert.deepEqual(flags, [
    ['visitor', false],
    ['visitor', true],
    ['visitor', true],
    ['operator', false],
  ]);
  const statuses = ofType(events, 'engagement.chat.message_status');
  assert.deepEqual(
    statuses.map(({ message }) => [message.id, message.status]),
    [
      [first, 'delivered'],
      [second, 'delivered'],
    ],
  );
});

test('D10.3 a response can select only an option that was offered to that side', async () => {
  const card = {
    content: 'Which?',
    attachment: {
      type: 'single_choice',
      options: [
        { text: 'One', value: '1' },
        { text: 'Two', value: '2' },
      ],
    },
  };
  const chat = await engage(server, { welcome_message: JSON.stringify({ ...card, content: 'Welcome' }) });
  const { own, visitor, operator } = chat;
  const choose = (value: string): Json => ({
    content: 'I take this',
    attachment: { type: 'single_choice_response', selected_option: value },
  });
  expectStatus(await say(chat, visitor, choose('2')), 200);
  const wrong = expectStatus(await say(chat, visitor, choose('3')), 422).body;
  assert.equal(wrong.details[0].attribute, '/attachment/selected_option');
  assert.equal((await say(chat, operator, choose('2'))).status, 422);
  const third = {
    ...card,
    attachment: { ...card.attachment, image_url: 'https://a.test/i.png', options: [{ text: 'x', value: '3' }] },
  };
  expectStatus(await say(chat, operator, third), 200);
  expectStatus(await say(chat, visitor, choose('3')), 200);
  const attachments = ofType(await eventsOf(server, own), 'engagement.chat.message').map(
    ({ message }) => message.attachment,
  );
  assert.deepEqual(attachments, [card.attachment, choose('2').attachment, third.attachment, choose('3').attachment]);
});

test('invalid messages are refused', async () => {
  const chat = await engage(server);
  const { visitor } = chat;
  const longOptions = Array.from({ length: 40 }, () => ({ text: 'x'.repeat(900), value: 'y' }));
  const refused: readonly [Json, string][] = [
    [{}, '/content'],
    [{ content: '' }, '/content'],
    [{ content: 'x'.repeat(10_001) }, '/content'],
    [{ content: 'a\u0000b' }, '/content'],
    [{ content: 1 }, '/content'],
    [{ content: 'x', sender: 'operator' }, '/sender'],
    [{ content: 'x', attachment: {} }, '/attachment/type'],
    [{ content: 'x', attachment: { type: 'video' } }, '/attachment/type'],
    [{ content: 'x', attachment: 'single_choice' }, '/attachment'],
    [{ content: 'x', attachment: { type: 'single_choice' } }, '/attachment/options'],
    [{ content: 'x', attachment: { type: 'single_choice', options: [] } }, '/attachment/options'],
    [{ content: 'x', attachment: { type: 'single_choice', options: [{ text: 'a' }] } }, '/attachment/options/0/value'],
    [
      { content: 'x', attachment: { type: 'single_choice', options: [{ text: 'a', value: 'b', c: 1 }] } },
      '/attachment/options/0/c',
    ],
    [{ content: 'x', attachment: { type: 'single_choice_response' } }, '/attachment/selected_option'],
    [{ content: '', attachment: { type: 'single_choice', options: [{ text: 'a', value: 'b' }] } }, '/content'],
    [{ content: 'x', attachment: { type: 'files', files: [{ id: 'x' }] } }, '/attachment/files/0/id'],
    [{ content: 'x', attachment: { type: 'single_choice', options: longOptions } }, '/attachment'],
    [{ content: 'x', metadata: [] }, '/metadata'],
    [{ content: 'x', metadata: { a: 'x'.repeat(17_000) } }, '/metadata'],
  ];
  for (const [body, attribute] of refused) {
    const answer = expectStatus(await say(chat, visitor, body), 422).body;
    assert.ok(
      answer.details.some((detail: Json) => detail.attribute === attribute),
      `${JSON.stringify(body).slice(0, 90)}: ${JSON.stringify(answer.details)}`,
    );
  }
  expectStatus(await say(chat, visitor, '😀'.repeat(10_000)), 200);
  assert.equal((await say(chat, visitor, 'x', 'c232ab00-9414-11ec-b3c8-9f6bdeced846')).status, 422);
  assert.equal((await say(chat, visitor, 'x', 'no-uuid')).status, 404);
});

test('D10.1, D10.2 only current participants can send messages, and nobody after the end', async () => {
  const chat = await engage(server);
  const { own, visitor, operator, id } = chat;
  const earlier = randomUUID();
  expectStatus(await say(chat, operator, 'Before', earlier), 200);
  const stranger = await makeVisitor(server, own);
  const colleague = await makeAvailableOperator(server, own, { media: ['text'] });
  const manager = await makeOperator(server, own, [{ site_id: own.siteId, role: 'manager' }]);
  const foreign = await makeAccount(server);
  const statuses = await Promise.all(
    [stranger, colleague, manager, { token: own.admin }, { token: foreign.admin }].map(
      async (who) => (await say(chat, who, 'x')).status,
    ),
  );
  assert.deepEqual(statuses, [404, 403, 403, 403, 404]);
  assert.equal((await call(server, `GET /engagements/${id}/chat_transcript`, { token: stranger.token })).status, 404);
  assert.equal((await call(server, `GET /engagements/${id}/chat_transcript`, { token: colleague.token })).status, 403);
  assert.equal((await transcript(chat, manager)).length, 1);

  const body = { engagement_id: id, operator_id: colleague.id };
  const { id: transfer } = expectStatus(
    await call(server, 'POST /transfer_requests', { token: operator.token, body }),
    201,
  ).body;
  expectStatus(
    await call(server, `PATCH /transfer_requests/${transfer}`, { token: colleague.token, body: { action: 'accept' } }),
    200,
  );
  assert.equal(expectStatus(await say(chat, operator, 'x'), 403).body.error, 'forbidden');
  const repeated = expectStatus(await say(chat, operator, 'Before', earlier), 200).body;
  const taken = expectStatus(await say(chat, colleague, 'I take over'), 200).body;
  assert.notEqual(taken.sub_engagement_id, repeated.sub_engagement_id);
  assert.equal((await transcript(chat, operator)).length, 2);

  await end({ ...chat, operator: colleague });
  for (const who of [visitor, colleague]) {
    assert.equal(expectStatus(await say(chat, who, 'x'), 409).body.error, 'engagement_ended');
    assert.equal((await transcript(chat, who)).length, 2);
  }
  assert.equal(expectStatus(await acknowledge(chat, visitor, taken.id), 409).body.error, 'engagement_ended');
  expectStatus(await say(chat, operator, 'Before', earlier), 200);
  assert.equal(ofType(await eventsOf(server, own), 'engagement.chat.message').length, 2);
});

test('a token that is limited to other sites cannot take part', async () => {
  const chat = await engage(server);
  const key = expectStatus(
    await call(server, `POST /operators/${chat.own.adminId}/api_keys`, { token: chat.own.admin }),
    201,
  ).body;
  const site = expectStatus(await call(server, 'POST /sites', { token: chat.own.admin, body: { name: 'B' } }), 201).body
    .id;
  const limited = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: key.id, api_key_secret: key.secret, site_ids: [site] },
  });
  assert.equal((await say(chat, { token: expectStatus(limited, 200).body.token }, 'x')).status, 404);
});

test('the event of a message precedes the event of the end, even when they race', async () => {
  for (let round = 0; round < 15; round += 1) {
    const chat = await engage(server);
    const sent = Array.from({ length: 6 }, async () => say(chat, chat.visitor, 'x'));
    const [, ...answers] = await Promise.all([end(chat), ...sent]);
    const accepted = answers.filter(({ status }) => status === 200).length;
    for (const { status } of answers) assert.ok(status === 200 || status === 409);
    const types = (await eventsOf(server, chat.own)).map(({ event_type }) => event_type);
    assert.equal(types.at(-1), 'engagement.end', types.join(' '));
    assert.equal(types.filter((type) => type === 'engagement.chat.message').length, accepted);
  }
});

test('a transcript of any length lists all messages, oldest first', async () => {
  const chat = await engage(server);
  const [row] = await server.database.sql`SELECT * FROM engagements WHERE id = ${chat.id}`;
  await server.database.sql`
    INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target, type, content,
                               status, created_at)
    SELECT ${row?.['account_id']}, ${chat.id}, ${row?.['sub_engagement_id']}, gen_random_uuid(), 'visitor', ${chat.visitor.id},
           'operator', 'chat', n::text, 'delivered', now()
      FROM generate_series(1, 1201) AS n`;
  const contents = (await transcript(chat, chat.operator)).map(({ content }) => Number(content));
  assert.deepEqual(
    contents,
    Array.from({ length: 1201 }, (_, n) => n + 1),
  );
});

test('D10.4 managers send system messages, which only the operator sees', async () => {
  const chat = await engage(server);
  const { own, operator, visitor, id } = chat;
  const post = async (who: TokenHolder, body: Json): Promise<Answer> =>
    call(server, `POST /engagements/${id}/system_messages`, { token: who.token, body });
  const admin = { token: own.admin };
  const prompt = {
    sender: 'omniguide',
    content: 'Ask for the order number',
    metadata: { type: 'prompt', confidence: 0.9 },
    attachment: { type: 'single_choice', options: [{ text: 'Send', value: 'send' }] },
  };
  const sent = expectStatus(await post(admin, prompt), 201).body;
  assert.deepEqual(
    [sent.sender, sent.target, sent.type, sent.metadata],
    [{ type: 'omniguide', id: null }, 'operator', 'system_message', prompt.metadata],
  );
  expectStatus(await post(admin, { content: 'Plain' }), 201);
  assert.equal((await post(operator, { content: 'x' })).status, 403);
  assert.equal((await post(visitor, { content: 'x' })).status, 403);
  for (const wrong of [
    { content: 'x', metadata: { type: 'other' } },
    { content: 'x', metadata: {} },
    { content: '' },
    { content: 'x', sender: 'visitor' },
    { content: 'x', type: 'chat' },
    { content: 'x', attachment: { type: 'files', files: [{ id: randomUUID() }] } },
  ])
    expectStatus(await post(admin, wrong), 422);
  assert.equal((await transcript(chat, visitor)).length, 0);
  assert.equal((await transcript(chat, operator)).length, 2);
  assert.equal((await acknowledge(chat, visitor, sent.id)).status, 403);
  expectStatus(await acknowledge(chat, operator, sent.id), 200);
  const events = await eventsOf(server, own);
  assert.equal(ofType(events, 'engagement.chat.message_status').length, 0);
  const systemEvents = ofType(events, 'engagement.chat.system_message');
  assert.deepEqual(
    systemEvents.map(({ message, undelivered_messages: flag }) => [message.content, message.metadata, flag]),
    [
      ['Ask for the order number', prompt.metadata, false],
      ['Plain', null, false],
    ],
  );
  await end(chat);
  assert.equal(expectStatus(await post(admin, { content: 'x' }), 409).body.error, 'engagement_ended');
});

async function upload(chat: Engaged, who: TokenHolder, text: string, name = 'note.txt'): Promise<string> {
  const body = fileForm(text, name);
  const sent = await call(chat.server, `POST /engagements/${chat.id}/files`, { token: who.token, body });
  return expectStatus(sent, 200).body.file_id;
}

const attached = (...ids: readonly string[]): Json => ({
  content: '',
  attachment: { type: 'files', files: ids.map((id) => ({ id })) },
});

test('a message can name clean files that its sender uploaded', async () => {
  const scanning = await startTestServer({ scanner: { kind: 'manual' } }, server.database.address);
  const chat = await engage(scanning);
  const { own, visitor, operator, id } = chat;
  const first = await upload(chat, visitor, 'one', 'one.txt');
  const second = await upload(chat, visitor, 'two', 'zwei ü.txt');
  const scan = async (file: string, result: string): Promise<Answer> =>
    call(server, `PUT /files/${file}/security_scan`, { token: own.admin, body: { result } });
  const pending = expectStatus(await say(chat, visitor, attached(first, second)), 409).body;
  assert.equal(pending.error, 'file_not_clean');
  assert.deepEqual(
    pending.details.map(({ attribute, detail }: Json) => [attribute, detail]),
    [
      ['/attachment/files/0/id', 'pending'],
      ['/attachment/files/1/id', 'pending'],
    ],
  );
  const path = `GET /files?site_ids[]=${own.siteId}&state=pending`;
  const waiting = expectStatus(await call(server, path, { token: own.admin }), 200).body;
  assert.deepEqual(
    waiting.files.map(({ id: fileId, name, site_id }: Json) => [fileId, name, site_id]),
    [
      [first, 'one.txt', undefined],
      [second, 'zwei ü.txt', undefined],
    ],
  );
  for (const file of [first, second])
    expectStatus(
      await call(scanning, `PUT /files/${file}/security_scan`, { token: own.admin, body: { result: 'clean' } }),
      200,
    );
  assert.equal((await scan(first, 'clean')).status, 409, 'this process does not scan by hand');
  const messageId = randomUUID();
  const sent = expectStatus(await say(chat, visitor, attached(second, first), messageId), 200).body;
  const file = (fileId: string, name: string): Json => ({
    url: `${scanning.url}/engagements/${id}/files/${fileId}`,
    name,
    content_type: 'text/plain',
    deleted: false,
  });
  const expected = { type: 'files', files: [file(second, 'zwei ü.txt'), file(first, 'one.txt')] };
  assert.deepEqual(sent.attachment, expected);
  const again = await say(chat, visitor, attached(second, first), messageId);
  assert.deepEqual(expectStatus(again, 200).body, sent);
  assert.equal((await say(chat, visitor, attached(first, second), messageId)).status, 409);
  assert.equal((await say(chat, visitor, attached(first, first))).status, 422);
  expectStatus(await acknowledge(chat, operator, messageId), 200);
  const events = await eventsOf(server, own);
  const [messageEvent] = ofType(events, 'engagement.chat.message');
  assert.deepEqual(messageEvent.message.attachment, expected);
  assert.equal(ofType(events, 'engagement.chat.message_status')[0].message.attachment, null);

  // Files of others, of another engagement, and infected files.
  const foreign = expectStatus(await say(chat, operator, attached(first, randomUUID())), 422).body;
  assert.equal(foreign.details.length, 2);
  const other = await engage(scanning);
  assert.equal((await say(other, other.visitor, attached(first))).status, 422);
  const bad = await upload(chat, visitor, 'bad');
  const infected = { token: own.admin, body: { result: 'infected' } };
  expectStatus(await call(scanning, `PUT /files/${bad}/security_scan`, infected), 200);
  assert.equal(expectStatus(await say(chat, visitor, attached(bad)), 409).body.details[0].detail, 'infected');
  await scanning[Symbol.asyncDispose]();
});
