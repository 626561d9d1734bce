import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { eventTypes } from '../../packages/server/src/events/catalogue.ts';
import { acknowledge, engage, ofType, sendText, say, transcript } from '../support/people/chat.ts';
import { openFeed } from '../support/people/feed.ts';
import { fileForm } from '../support/people/files.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until, type Answer, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { eventsOf, expectStatus, makeAvailableOperator, makeQueue } from '../support/world.ts';

/**
 * What existing clients expect of messages, transcripts, engagements and files: each numbered expectation next to a request that
 * shows it. Number 1.5 is in test/channels/push.test.ts, which has its own fake of Apple's server.
 */
const server = await forThisFile(startTestServer());
const receiver = await forThisFile(startReceiver());
const chat = await engage(server);
await makeWebhook(server, chat.own, { url: receiver.url, events: [...eventTypes] });
const feed = await forThisFile(openFeed(server, { token: chat.operator.token }));

interface Expectation {
  readonly line: string;
  readonly says: string;
  readonly request: () => Promise<Answer>;
  readonly expected: (answer: Answer) => Promise<void> | void;
}

/** Sends a chat message with these additional fields. */
const put = async (body: Json, who = chat.visitor): Promise<Answer> => say(chat, who, { content: 'Hello', ...body });
const get = async (path: string, token = chat.own.admin): Promise<Answer> => call(server, `GET ${path}`, { token });
const post = async (path: string, body: unknown, token = chat.own.admin): Promise<Answer> =>
  call(server, `POST ${path}`, { token, body });

async function fileOf(who = chat.visitor, name = 'note.txt'): Promise<string> {
  const answer = await post(`/engagements/${chat.id}/files`, fileForm('Hello', name), who.token);
  return expectStatus(answer, 200).body.file_id;
}

const withFiles = (...ids: readonly string[]): Json => ({
  content: '',
  attachment: { type: 'files', files: ids.map((id) => ({ id })) },
});

function violations({ body }: Answer): [string, string][] {
  return body.details.map(({ attribute, detail }: Json) => [attribute, detail]);
}

const entries: readonly Expectation[] = [
  {
    line: '1.1',
    says: 'an unacknowledged system message does not set undelivered_messages on the next chat message',
    request: async () => {
      expectStatus(await post(`/engagements/${chat.id}/system_messages`, { content: 'News' }), 201);
      return put({ content: 'after the news' });
    },
    expected: async (answer) => {
      expectStatus(answer, 200);
      const event = ofType(await eventsOf(server, chat.own), 'engagement.chat.message').at(-1);
      assert.deepEqual([event.message.content, event.undelivered_messages], ['after the news', false]);
    },
  },
  {
    line: '1.3',
    says: 'the url of a file is absolute without USHER_PUBLIC_URL',
    request: async () => put(withFiles(await fileOf())),
    expected: async (answer) => {
      const [{ url }] = expectStatus(answer, 200).body.attachment.files;
      const headers = { authorization: `Bearer ${chat.operator.token}` };
      assert.equal(await (await fetch(url, { headers })).text(), 'Hello');
    },
  },
  {
    line: '1.4',
    says: 'welcome_message "" means not set',
    request: async () => {
      const queue = await makeQueue(server, chat.own, { welcome_message: '', when_unstaffed: 'accept' });
      return get(`/queues/${queue}`);
    },
    expected: (answer) => assert.equal(expectStatus(answer, 200).body.welcome_message, null),
  },
  {
    line: '1.12',
    says: 'events are compact JSON in webhooks, in the feed and in GET /events',
    request: async () => {
      const card = { type: 'single_choice', options: [{ text: 'Yes, "all" \u2028 of it', value: 'y' }] };
      const asked = await sendText(chat, chat.operator, 'One\n"two"\t\\three\u0001 ü 😀');
      expectStatus(await acknowledge(chat, chat.visitor, asked), 200);
      expectStatus(await put({ content: 'Which?', attachment: card }, chat.operator), 200);
      expectStatus(await put(withFiles(await fileOf(chat.visitor, 'a "b" \\ c.txt'))), 200);
      const news = { content: 'News', sender: 'omniguide', metadata: { type: 'prompt', n: [1, { a: null }] } };
      expectStatus(await post(`/engagements/${chat.id}/system_messages`, news), 201);
      return get('/events');
    },
    expected: async (answer) => {
      expectStatus(answer, 200);
      const written = await eventsOf(server, chat.own);
      await until(() => receiver.arrived.length >= written.length - 1);
      for (const { body, event } of receiver.arrived) assert.equal(body, JSON.stringify(event));
      await feed.untilType('engagement.chat.system_message');
      for (const { text, data } of feed.items) assert.equal(text, JSON.stringify(data));
      const types = new Set(receiver.arrived.map(({ event }) => event.event_type));
      for (const type of ['chat.message', 'chat.message_status', 'chat.system_message'])
        assert.ok(types.has(`engagement.${type}`), type);
      const text = await (
        await fetch(`${server.url}/events`, { headers: { authorization: `Bearer ${chat.own.admin}` } })
      ).text();
      assert.equal(text, JSON.stringify(JSON.parse(text)));
    },
  },
  {
    line: '1.13',
    says: 'a deleted file cannot be downloaded and is marked as deleted in transcripts',
    request: async () => {
      const id = await fileOf(chat.visitor, 'secret.txt');
      expectStatus(await put(withFiles(id)), 200);
      const path = `/engagements/${chat.id}/files/${id}`;
      expectStatus(await call(server, `DELETE ${path}`, { token: chat.visitor.token }), 204);
      return get(path, chat.operator.token);
    },
    expected: async (answer) => {
      assert.equal(expectStatus(answer, 410).body.error, 'file_deleted');
      const { attachment } = (await transcript(chat, chat.operator)).at(-1);
      assert.deepEqual(
        attachment.files.map(({ name, deleted }: Json) => [name, deleted]),
        [['secret.txt', true]],
      );
    },
  },
  {
    line: '2.2',
    says: 'a correct type and target are accepted',
    request: async () => put({ type: 'chat', target: 'operator' }),
    expected: (answer) => {
      const { type, target } = expectStatus(answer, 200).body;
      assert.deepEqual([type, target], ['chat', 'operator']);
    },
  },
  {
    line: '2.2',
    says: 'a target that is not the other side is refused',
    request: async () => put({ type: 'chat', target: 'visitor' }),
    expected: (answer) =>
      assert.deepEqual(violations(expectStatus(answer, 422)), [
        ['/target', 'must be operator: the message goes to the other side'],
      ]),
  },
  {
    line: '2.2',
    says: 'a type other than chat is refused',
    request: async () => put({ type: 'system_message' }),
    expected: (answer) => assert.deepEqual(violations(expectStatus(answer, 422)), [['/type', 'must be one of chat']]),
  },
  {
    line: '2.2',
    says: 'an SSML attachment is refused with the list of supported types',
    request: async () => put({ attachment: { type: 'ssml', content: '<speak>Hello</speak>' } }),
    expected: (answer) =>
      assert.deepEqual(violations(expectStatus(answer, 422)), [
        ['/attachment/type', 'must be one of single_choice or single_choice_response or files'],
      ]),
  },
  {
    line: '2.5',
    says: 'transcript entries have message and sender.name: the display name of operators, the name of visitors',
    request: async () => {
      const { own, operator, visitor } = chat;
      const named = { token: own.admin, body: { display_name: 'Olga of Support' } };
      expectStatus(await call(server, `PATCH /operators/${operator.id}`, named), 200);
      const path = `PATCH /sites/${own.siteId}/visitors/${visitor.id}`;
      expectStatus(await call(server, path, { token: visitor.token, body: { name: 'Victor' } }), 200);
      await sendText(chat, visitor, 'from the visitor');
      await sendText(chat, operator, 'from the operator');
      expectStatus(await post(`/engagements/${chat.id}/system_messages`, { content: 'from the system' }), 201);
      return get(`/engagements/${chat.id}/chat_transcript`, operator.token);
    },
    expected: (answer) => {
      const last = expectStatus(answer, 200).body.slice(-3);
      assert.deepEqual(
        last.map(({ message, content, sender }: Json) => [message === content && message, sender.type, sender.name]),
        [
          ['from the visitor', 'visitor', 'Victor'],
          ['from the operator', 'operator', 'Olga of Support'],
          ['from the system', 'system', null],
        ],
      );
      const fields = ['id', 'engagement_id', 'sub_engagement_id', 'timestamp', 'content', 'status', 'sender', 'target'];
      assert.deepEqual(new Set(Object.keys(last[0])).isSupersetOf(new Set(fields)), true);
    },
  },
  {
    line: '2.6',
    says: 'engagements have source, legs and audio_recording_urls',
    request: async () => get(`/engagements/${chat.id}`),
    expected: async (answer) => {
      const { source, legs, audio_recording_urls, current_sub_engagement: sub } = expectStatus(answer, 200).body;
      const leg = { id: sub.id, operator_id: chat.operator.id, site_id: chat.own.siteId, media: 'text' };
      const times = { started_at: sub.started_at, ended_at: null };
      assert.deepEqual([source, legs, audio_recording_urls], ['queue', [{ ...leg, ...times }], []]);
      const [start] = ofType(await eventsOf(server, chat.own), 'engagement.start');
      assert.deepEqual(Object.keys(start.engagement), [
        'id',
        'engagement_request_id',
        'visitor_id',
        'current_sub_engagement',
        'source',
        'legs',
        'audio_recording_urls',
      ]);
      assert.deepEqual([start.engagement.source, start.engagement.legs], ['queue', [{ ...leg, ...times }]]);
    },
  },
  {
    line: '2.8',
    says: 'media upgrade requests take audio_type, phone_number and phone_extension',
    request: async () => {
      const byPhone = { audio_type: 'phone', phone_number: '+1 555 0100', phone_extension: '12#' };
      const body = { audio: 'two_way', video: null, ...byPhone };
      return post(`/engagements/${chat.id}/media_upgrade_requests`, body, chat.operator.token);
    },
    expected: async (answer) => {
      const made = expectStatus(answer, 201).body;
      const read = await get(`/engagements/${chat.id}/media_upgrade_requests/${made.id}`, chat.visitor.token);
      const { audio_type, phone_number, phone_extension } = expectStatus(read, 200).body;
      assert.deepEqual([audio_type, phone_number, phone_extension], ['phone', '+1 555 0100', '12#']);
      const [event] = ofType(await eventsOf(server, chat.own), 'engagement.media_upgrade_request');
      const fields = ['id', 'audio', 'video', 'target', 'engagement_id', 'sub_engagement_id'];
      assert.deepEqual(Object.keys(event.media_upgrade_request), fields, 'the event has the fields of the interface');
    },
  },
  {
    line: '2.8',
    says: 'an invalid phone number is refused',
    request: async () => {
      const body = { audio: 'two_way', video: null, phone_number: 'call me', phone_extension: 'x' };
      return post(`/engagements/${chat.id}/media_upgrade_requests`, body, chat.operator.token);
    },
    expected: (answer) =>
      assert.deepEqual(
        violations(expectStatus(answer, 422)).map(([attribute]) => attribute),
        ['/phone_number', '/phone_extension'],
      ),
  },
  {
    line: '2.9',
    says: 'POST /engagements/search lists the engagements of the sites, with a token for the next page',
    request: async () => post('/engagements/search', { site_ids: [chat.own.siteId] }),
    expected: async (answer) => {
      const { engagements, next_page_token: next } = expectStatus(answer, 200).body;
      assert.deepEqual([engagements.map(({ id }: Json) => id), next], [[chat.id], null]);
      const listed = await get(`/engagements?site_ids[]=${chat.own.siteId}`);
      assert.deepEqual(engagements, expectStatus(listed, 200).body.engagements, 'the same as GET /engagements');
    },
  },
  {
    line: '2.9',
    says: 'an invalid page_token is refused',
    request: async () => post('/engagements/search', { site_ids: [chat.own.siteId], page_token: 'nonsense' }),
    expected: (answer) =>
      assert.deepEqual(
        violations(expectStatus(answer, 422)).map(([attribute]) => attribute),
        ['/page_token'],
      ),
  },
  {
    line: '2.10',
    says: 'POST …/events returns the recorded message',
    request: async () => post(`/engagements/${chat.id}/events`, { message: 'cart_opened' }, chat.visitor.token),
    expected: async (answer) => {
      const { created_at, message, ...recorded } = expectStatus(answer, 200).body;
      const [event] = ofType(await eventsOf(server, chat.own), 'engagement.event');
      assert.deepEqual(recorded, event.message);
      assert.deepEqual(
        Object.keys(recorded),
        Object.keys(event.message),
        'the fields of the interface come first, in their order',
      );
      assert.deepEqual([message, created_at], ['cart_opened', recorded.timestamp]);
    },
  },
];

for (const { line, says, request, expected } of entries)
  test(`${line}: ${says}`, async () => {
    await expected(await request());
  });

test('1.4: an empty welcome message or card is not sent', async () => {
  for (const welcome_message of ['', '{"content":""}']) {
    const quiet = await engage(server, { welcome_message });
    assert.deepEqual(await transcript(quiet, quiet.operator), [], welcome_message);
  }
});

test('1.12: an event that an earlier version stored with spaces is sent without them', async () => {
  const { sql } = server.database;
  const before = receiver.arrived.length;
  const id = await sendText(chat, chat.visitor, 'spaced');
  await until(() => receiver.arrived.length > before);
  const [row] = await sql<{ id: string }[]>`
    UPDATE events SET payload = replace(replace(payload::text, '":', '" : '), ',"', ', "')::json
     WHERE payload -> 'message' ->> 'id' = ${id}
    RETURNING id`;
  const deliveryOf = async (): Promise<string | undefined> => {
    const [sent] = await sql<{ id: string }[]>`
      SELECT delivery_id AS id FROM delivery_log WHERE event_id = ${row?.id ?? ''} AND final`;
    return sent?.id;
  };
  await until(async () => (await deliveryOf()) !== undefined);
  const arrived = receiver.arrived.length;
  expectStatus(await post(`/deliveries/${await deliveryOf()}/replay`, {}), 202);
  await until(() => receiver.arrived.length > arrived);
  const { body, event } = receiver.arrived.at(-1) ?? assert.fail();
  assert.equal(event.message.id, id);
  assert.equal(body, JSON.stringify(event));
});

test('2.6: source is the one of the request, and a transfer adds a leg with its medium', async () => {
  const talk = await engage(server, {}, { source: 'pricing page' });
  const { own, operator, id } = talk;
  const colleague = await makeAvailableOperator(server, own);
  const asked = await post('/transfer_requests', { engagement_id: id, operator_id: colleague.id }, operator.token);
  const { id: transfer } = expectStatus(asked, 201).body;
  const accept = { token: colleague.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${transfer}`, accept), 200);
  const { source, legs, sub_engagements: subs } = (await get(`/engagements/${id}`, own.admin)).body;
  assert.equal(source, 'pricing page');
  assert.deepEqual(
    legs.map(({ operator_id, media, ended_at }: Json) => [operator_id, media, ended_at === null]),
    [
      [operator.id, 'text', false],
      [colleague.id, 'text', true],
    ],
  );
  assert.deepEqual(
    legs.map(({ id: leg }: Json) => leg),
    subs.map(({ id: sub }: Json) => sub),
  );
});

test('2.9: pages list engagements newest first, without gaps, and only those the caller may see', async () => {
  const own = await engage(server);
  const { sql } = server.database;
  await sql`
    INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id,
                             sub_started_at, media, request_id, end_reason, started_at, ended_at, updated_at)
    SELECT gen_random_uuid(), account_id, asked_on_site_id, site_id, visitor_id, operator_id, gen_random_uuid(),
           started_at - n * interval '1 hour', media, request_id, 'error', started_at - n * interval '1 hour', now(), now()
      FROM engagements, generate_series(1, 6) AS n WHERE id = ${own.id}`;
  const site_ids = [own.own.siteId];
  const all = expectStatus(await post('/engagements/search', { site_ids }, own.own.admin), 200).body.engagements;
  assert.equal(all.length, 7);
  const found: Json[] = [];
  let page_token: string | null = null;
  do {
    const body: Json = { site_ids, per_page: 3, page_token };
    const page: Json = expectStatus(await post('/engagements/search', body, own.own.admin), 200).body;
    found.push(...page.engagements);
    page_token = page.next_page_token;
  } while (page_token !== null);
  assert.deepEqual(found, all);
  const times = { from_start_time: all[4].started_at, to_start_time: all[1].started_at };
  const some = expectStatus(await post('/engagements/search', { site_ids, ...times }, own.own.admin), 200).body;
  assert.deepEqual(some.engagements, all.slice(2, 5), 'from is inclusive, to is exclusive');
  const elsewhere = await engage(server);
  expectStatus(await post('/engagements/search', { site_ids }, elsewhere.own.admin), 404);
  const stranger = await post('/engagements/search', { site_ids }, own.visitor.token);
  assert.equal(expectStatus(stranger, 200).body.engagements.length, 7, 'a visitor sees their own engagements');
  const colleague = await makeAvailableOperator(server, own.own);
  assert.deepEqual((await post('/engagements/search', { site_ids }, colleague.token)).body.engagements, []);
  expectStatus(await post('/engagements/search', { site_ids: [], from: randomUUID() }, own.own.admin), 422);
});
