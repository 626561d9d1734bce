import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { inTransaction } from '../../packages/server/src/platform/database/database.ts';
import { engage, sendText } from '../support/people/chat.ts';
import { insertDeliveries } from '../support/receivers/deliveries.ts';
import { forThisFile } from '../support/fixture.ts';
import { TestNats } from '../support/receivers/nats.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook, webhookRow } from '../support/receivers/webhooks.ts';
import { expectStatus, makeAccount, type TestAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const nats = await forThisFile(TestNats.start());

let subjects = 0;
const newSubject = (): string => `usher.events${(subjects += 1)}`;

async function register(own: TestAccount, url: string, fields: Json = {}): Promise<Json> {
  return makeWebhook(server, own, { url, method: undefined, events: ['engagement.chat.message'], ...fields });
}

interface NatsWebhook {
  readonly own: TestAccount;
  readonly hook: Json;
  readonly subject: string;
}

/** Creates a webhook that publishes to a new subject, in a new account. */
async function makeNatsWebhook(broker: TestNats = nats, fields: Json = {}): Promise<NatsWebhook> {
  const own = await makeAccount(server);
  const subject = newSubject();
  return { own, hook: await register(own, broker.url(subject), fields), subject };
}

/** Creates a webhook that publishes the messages of a new engagement. */
async function makeChatWebhook(
  broker: TestNats = nats,
): Promise<NatsWebhook & { readonly say: (content: string) => Promise<void> }> {
  const chat = await engage(server);
  const subject = newSubject();
  const say = async (content: string): Promise<void> => void (await sendText(chat, chat.visitor, content));
  return { own: chat.own, hook: await register(chat.own, broker.url(subject)), subject, say };
}

async function sendTest({ own, hook }: NatsWebhook): Promise<void> {
  const body = { event_type: 'engagement.chat.message' };
  expectStatus(await call(server, `POST /webhooks/${hook.id}/test`, { token: own.admin, body }), 202);
}

async function attemptsOf({ hook, own: { admin: token } }: NatsWebhook): Promise<Json[]> {
  const { deliveries } = (await call(server, `GET /webhooks/${hook.id}/deliveries`, { token })).body;
  const attempts: Json[] = [];
  for (const { id } of deliveries)
    attempts.push(...(await call(server, `GET /deliveries/${id}`, { token })).body.attempts);
  return attempts;
}

async function firstFailure(webhook: NatsWebhook): Promise<Json> {
  await sendTest(webhook);
  await until(async () => (await attemptsOf(webhook)).length > 0);
  return (await attemptsOf(webhook))[0];
}

/** Makes delayed deliveries due now. */
async function makeDue({ hook }: NatsWebhook): Promise<void> {
  await server.database.sql`UPDATE deliveries SET due_at = now() WHERE webhook_id = ${hook.id} AND due_at > now()`;
}

const contentsIn = async (broker: TestNats, subject: string): Promise<string[]> =>
  (await broker.stored(subject)).map(({ event }) => event.message.content);

test('events are stored in order, each with its own id and signed like HTTP requests', async () => {
  const webhook = await makeChatWebhook();
  await nats.makeStream(webhook.subject);
  for (const content of ['one', 'two “🙂”', 'three']) await webhook.say(content);
  await until(async () => (await nats.count(webhook.subject)) === 3);
  const stored = await nats.stored(webhook.subject);
  assert.deepEqual(
    stored.map(({ event }) => event.message.content),
    ['one', 'two “🙂”', 'three'],
  );
  for (const { headers, body, event } of stored) {
    assert.equal(headers['Nats-Msg-Id'], `${webhook.hook.id}.${event.event_id}`);
    assert.equal(headers['Content-Type'], 'application/json');
    assert.deepEqual(new Webhook(webhook.hook.secret).verify(body, headers), event);
  }
  await until(async () => (await attemptsOf(webhook)).every(({ state }) => state === 'delivered'));
  const [{ status, answer }] = await attemptsOf(webhook);
  assert.equal(status, 200);
  assert.equal(JSON.parse(answer).stream, webhook.subject.replace('.', '_'));
});

test('a replayed delivery is acknowledged as a duplicate and is in the stream once', async () => {
  const webhook = await makeNatsWebhook();
  await nats.makeStream(webhook.subject);
  await sendTest(webhook);
  await until(async () => (await attemptsOf(webhook)).length === 1);
  const { admin: token } = webhook.own;
  const [{ id }] = (await call(server, `GET /webhooks/${webhook.hook.id}/deliveries`, { token })).body.deliveries;
  expectStatus(await call(server, `POST /deliveries/${id}/replay`, { token }), 202);
  await until(async () => (await attemptsOf(webhook)).length === 2);
  const [first, second] = await attemptsOf(webhook);
  assert.deepEqual([first.state, second.state], ['delivered', 'delivered']);
  assert.deepEqual([JSON.parse(first.answer).duplicate, JSON.parse(second.answer).duplicate], [undefined, true]);
  assert.equal(await nats.count(webhook.subject), 1);
});

test('two webhooks whose subjects share a stream each store every event', async () => {
  const webhook = await makeChatWebhook();
  await register(webhook.own, nats.url(`${webhook.subject}.also`));
  await nats.makeStream(webhook.subject, { subjects: [`${webhook.subject}.also`, webhook.subject] });
  await webhook.say('twice');
  await until(async () => (await nats.count(webhook.subject)) === 2);
});

test('events published while the server is down arrive in order afterwards', async () => {
  await using broker = await TestNats.start();
  const webhook = await makeChatWebhook(broker);
  await broker.makeStream(webhook.subject);
  await webhook.say('before');
  await until(async () => (await broker.count(webhook.subject)) === 1);
  await broker.kill();
  for (const content of ['while', 'it is', 'away']) await webhook.say(content);
  await until(async () => (await attemptsOf(webhook)).some(({ state }) => state === 'retrying'));
  const away = (await attemptsOf(webhook)).find(({ state }) => state === 'retrying');
  assert.deepEqual([away.status, away.answer], [null, null]);
  assert.match(away.error, /ECONNREFUSED|closed the connection/);
  await broker.run();
  await until(async () => {
    await makeDue(webhook);
    return (await broker.count(webhook.subject)) === 4;
  });
  assert.deepEqual(await contentsIn(broker, webhook.subject), ['before', 'while', 'it is', 'away']);
});

test('without a stream for the subject the delivery is retried, and the error says so', async () => {
  const webhook = await makeNatsWebhook();
  const failed = await firstFailure(webhook);
  assert.deepEqual([failed.state, failed.status], ['retrying', 503]);
  assert.equal(failed.error, `no stream has the subject ${webhook.subject}`);
  await nats.makeStream(webhook.subject);
  await until(async () => {
    await makeDue(webhook);
    return (await nats.count(webhook.subject)) === 1;
  });
});

test('an event that is too large for the server or the stream is not retried', async () => {
  await using small = await TestNats.start({ settings: ['max_payload: 300'] });
  const forServer = await firstFailure(await makeNatsWebhook(small));
  assert.deepEqual([forServer.state, forServer.status], ['exhausted', null]);
  assert.equal(forServer.error, 'the event is larger than the 300 bytes that the server accepts');
  const webhook = await makeNatsWebhook();
  await nats.makeStream(webhook.subject, { max_msg_size: 300 });
  const forStream = await firstFailure(webhook);
  assert.deepEqual([forStream.state, forStream.status], ['exhausted', 400]);
  assert.match(forStream.error, /^the server answered “message size exceeds maximum allowed”/);
});

const users = `
  authorization { users: [
    { user: reader, password: reader },
    { user: usher, password: "right \\"ü\\"", permissions: { publish: ["usher.>"], subscribe: ["_INBOX.>"] } },
    { user: publisher, password: right, permissions: { publish: ["usher.>"], subscribe: ["nothing"] } } ] }`;

test('credentials are used, never shown, and not sent to another server', async () => {
  const credentials = { user: 'reader', pass: 'reader' };
  await using broker = await TestNats.start({ settings: [users], credentials });
  const right = { user: 'usher', password: 'right "ü"' };
  const webhook = await makeNatsWebhook(broker, { credentials: { ...right, password: 'wrong' } });
  await broker.makeStream(webhook.subject);
  const wrong = await firstFailure(webhook);
  assert.deepEqual([wrong.state, wrong.status], ['retrying', null]);
  assert.match(wrong.error, /“Authorization Violation”: the credentials are wrong or missing$/);
  const { admin: token } = webhook.own;
  const put = async (change: Json): Promise<Json> => {
    const body = { url: broker.url(webhook.subject), events: ['engagement.chat.message'], ...change };
    return expectStatus(await call(server, `PUT /webhooks/${webhook.hook.id}`, { token, body }), 200).body;
  };
  assert.equal((await put({ credentials: right })).has_credentials, true);
  await until(async () => {
    await makeDue(webhook);
    return (await broker.count(webhook.subject)) === 1;
  });
  // Another subject on the same server keeps the credentials; the user may not publish to it.
  const denied = await put({ url: broker.url('other.events') });
  assert.deepEqual([denied.has_credentials, 'credentials' in denied], [true, false]);
  await sendTest(webhook);
  await until(async () => (await attemptsOf(webhook)).some(({ error }) => /do not allow publishing/.test(error)));
  assert.ok(!JSON.stringify(await webhookRow(server, webhook.hook.id)).includes('right'));
  assert.equal((await put({ url: nats.url(webhook.subject) })).has_credentials, false);
  const publisher = await makeNatsWebhook(broker, { credentials: { user: 'publisher', password: 'right' } });
  assert.match((await firstFailure(publisher)).error, /do not allow subscribing to _INBOX/);
});

test('a token can be used instead of a password, and without one the server refuses', async () => {
  await using broker = await TestNats.start({
    settings: ['authorization { token: "of mine" }'],
    credentials: { token: 'of mine' },
  });
  const webhook = await makeNatsWebhook(broker, { credentials: { token: 'of mine' } });
  await broker.makeStream(webhook.subject);
  await sendTest(webhook);
  await until(async () => (await broker.count(webhook.subject)) === 1);
  assert.match((await firstFailure(await makeNatsWebhook(broker))).error, /Authorization Violation/);
});

test('an invalid NATS URL or field is refused at registration', async () => {
  const own = await makeAccount(server);
  const at = 'nats://127.0.0.1:4222/';
  for (const [body, attribute] of [
    [{ url: `${at}usher.*` }, '/url'],
    [{ url: `${at}usher.>` }, '/url'],
    [{ url: `${at}$JS.API.STREAM.DELETE.x` }, '/url'],
    [{ url: at }, '/url'],
    [{ url: 'nats://user:secret@127.0.0.1/usher' }, '/url'],
    // Private addresses, which only a setting of Usher can allow.
    [{ url: 'nats://10.1.2.3:4222/usher' }, '/url'],
    [{ url: 'tls://169.254.169.254/usher' }, '/url'],
    [{ url: 'nats://0xa.1:4222/usher' }, '/url'],
    [{ url: `${at}usher`, method: 'POST' }, '/method'],
    [{ url: `${at}usher`, headers: { a: 'b' } }, '/headers'],
    [{ url: `${at}usher`, credentials: { user: 'a' } }, '/credentials'],
    [{ url: `${at}usher`, credentials: { user: 'a', password: 'b', token: 'c' } }, '/credentials'],
    [{ url: 'https://127.0.0.1/', method: 'POST', credentials: { token: 'c' } }, '/credentials'],
  ] as const) {
    const answer = await call(server, 'POST /webhooks', {
      token: own.admin,
      body: { events: ['engagement.start'], ...body },
    });
    assert.deepEqual(
      [answer.status, answer.body.details.map((each: Json) => each.attribute)],
      [422, [attribute]],
      JSON.stringify(body),
    );
  }
});

test('a host that resolves to a private address is not connected to', async () => {
  const webhook = await makeNatsWebhook();
  // As if the name had resolved to another address at registration.
  await server.database.sql`
    WITH moved AS (
      UPDATE destinations d SET origin = 'nats://10.1.2.3:4222' FROM webhooks w
       WHERE w.id = ${webhook.hook.id} AND d.id = w.destination_id)
    UPDATE webhooks SET url = 'nats://10.1.2.3:4222/usher' WHERE id = ${webhook.hook.id}`;
  const failed = await firstFailure(webhook);
  assert.deepEqual([failed.status, failed.error], [null, 'the address is not allowed']);
});

test('hundreds of events are each stored once, in order within their engagement', async () => {
  const { hook, subject } = await makeNatsWebhook();
  await nats.makeStream(subject);
  const { account_id: accountId, destination_id: destinationId } = await webhookRow(server, hook.id);
  // They are read in the same transaction, before any of them can be sent and deleted.
  const due = await inTransaction(server.database.sql, async (sql) => {
    for (let engagement = 0; engagement < 3; engagement += 1)
      await insertDeliveries(sql, { id: hook.id, accountId, destinationId }, 'fresh', {
        count: 100,
        engagementId: randomUUID(),
      });
    return sql<{ eventId: string; engagementId: string }[]>`
      SELECT event_id AS "eventId", engagement_id AS "engagementId"
        FROM deliveries WHERE webhook_id = ${hook.id} ORDER BY event_seq`;
  });
  await until(async () => (await nats.count(subject)) >= 300);
  const stored = (await nats.stored(subject)).map(({ headers }) => headers['Nats-Msg-Id']?.split('.')[1] ?? '');
  const engagementOf = new Map(due.map(({ eventId, engagementId }) => [eventId, engagementId]));
  const inOrder = (ids: readonly string[]): Record<string, string[]> =>
    Object.groupBy(ids, (id) => engagementOf.get(id) ?? 'none') as Record<string, string[]>;
  assert.equal(stored.length, 300);
  assert.deepEqual(inOrder(stored), inOrder(due.map(({ eventId }) => eventId)));
});
