import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { engage, said } from '../support/chat.ts';
import { fill } from '../support/deliveries.ts';
import { forThisFile } from '../support/fixture.ts';
import { TestNats } from '../support/nats.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook, rowOf } from '../support/webhooks.ts';
import { expectStatus, makeAccount, type TestAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const nats = await forThisFile(TestNats.start());

let subjects = 0;
const newSubject = (): string => `usher.events${(subjects += 1)}`;

async function register(own: TestAccount, url: string, fields: Json = {}): Promise<Json> {
  return makeWebhook(server, own, { url, method: undefined, events: ['engagement.chat.message'], ...fields });
}

interface Heard {
  readonly own: TestAccount;
  readonly hook: Json;
  readonly subject: string;
}

/** A webhook that publishes, in an account of its own. */
async function hear(broker: TestNats = nats, fields: Json = {}): Promise<Heard> {
  const own = await makeAccount(server);
  const subject = newSubject();
  return { own, hook: await register(own, broker.url(subject), fields), subject };
}

/** The same, and an engagement whose messages it publishes. */
async function hearChat(
  broker: TestNats = nats,
): Promise<Heard & { readonly say: (content: string) => Promise<void> }> {
  const chat = await engage(server);
  const subject = newSubject();
  const say = async (content: string): Promise<void> => void (await said(chat, chat.visitor, content));
  return { own: chat.own, hook: await register(chat.own, broker.url(subject)), subject, say };
}

async function sendTest({ own, hook }: Heard): Promise<void> {
  const body = { event_type: 'engagement.chat.message' };
  expectStatus(await call(server, `POST /webhooks/${hook.id}/test`, { token: own.admin, body }), 202);
}

async function attemptsOf({ hook, own: { admin: token } }: Heard): Promise<Json[]> {
  const { deliveries } = (await call(server, `GET /webhooks/${hook.id}/deliveries`, { token })).body;
  const attempts: Json[] = [];
  for (const { id } of deliveries)
    attempts.push(...(await call(server, `GET /deliveries/${id}`, { token })).body.attempts);
  return attempts;
}

async function firstFailure(heard: Heard): Promise<Json> {
  await sendTest(heard);
  await until(async () => (await attemptsOf(heard)).length > 0);
  return (await attemptsOf(heard))[0];
}

/** What was put off falls due now. */
async function hurry({ hook }: Heard): Promise<void> {
  await server.database.sql`UPDATE deliveries SET due_at = now() WHERE webhook_id = ${hook.id} AND due_at > now()`;
}

const contentsIn = async (broker: TestNats, subject: string): Promise<string[]> =>
  (await broker.stored(subject)).map(({ event }) => event.message.content);

test('events are stored in order, each under an id of its own, signed as requests are', async () => {
  const heard = await hearChat();
  await nats.makeStream(heard.subject);
  for (const content of ['one', 'two “🙂”', 'three']) await heard.say(content);
  await until(async () => (await nats.count(heard.subject)) === 3);
  const stored = await nats.stored(heard.subject);
  assert.deepEqual(
    stored.map(({ event }) => event.message.content),
    ['one', 'two “🙂”', 'three'],
  );
  for (const { headers, body, event } of stored) {
    assert.equal(headers['Nats-Msg-Id'], `${heard.hook.id}.${event.event_id}`);
    assert.equal(headers['Content-Type'], 'application/json');
    assert.deepEqual(new Webhook(heard.hook.secret).verify(body, headers), event);
  }
  await until(async () => (await attemptsOf(heard)).every(({ state }) => state === 'delivered'));
  const [{ status, answer }] = await attemptsOf(heard);
  assert.equal(status, 200);
  assert.equal(JSON.parse(answer).stream, heard.subject.replace('.', '_'));
});

test('a delivery that is repeated is in the stream once, and one that is replayed is acknowledged as a duplicate', async () => {
  const heard = await hear();
  await nats.makeStream(heard.subject);
  await sendTest(heard);
  await until(async () => (await attemptsOf(heard)).length === 1);
  const { admin: token } = heard.own;
  const [{ id }] = (await call(server, `GET /webhooks/${heard.hook.id}/deliveries`, { token })).body.deliveries;
  expectStatus(await call(server, `POST /deliveries/${id}/replay`, { token }), 202);
  await until(async () => (await attemptsOf(heard)).length === 2);
  const [first, second] = await attemptsOf(heard);
  assert.deepEqual([first.state, second.state], ['delivered', 'delivered']);
  assert.deepEqual([JSON.parse(first.answer).duplicate, JSON.parse(second.answer).duplicate], [undefined, true]);
  assert.equal(await nats.count(heard.subject), 1);
});

test('two webhooks whose subjects are in one stream each have every event there', async () => {
  const heard = await hearChat();
  await register(heard.own, nats.url(`${heard.subject}.also`));
  await nats.makeStream(heard.subject, { subjects: [`${heard.subject}.also`, heard.subject] });
  await heard.say('twice');
  await until(async () => (await nats.count(heard.subject)) === 2);
});

test('while the server is away nothing is lost, and afterwards it arrives in order', async () => {
  await using broker = await TestNats.start();
  const heard = await hearChat(broker);
  await broker.makeStream(heard.subject);
  await heard.say('before');
  await until(async () => (await broker.count(heard.subject)) === 1);
  await broker.kill();
  for (const content of ['while', 'it is', 'away']) await heard.say(content);
  await until(async () => (await attemptsOf(heard)).some(({ state }) => state === 'retrying'));
  const away = (await attemptsOf(heard)).find(({ state }) => state === 'retrying');
  assert.deepEqual([away.status, away.answer], [null, null]);
  assert.match(away.error, /ECONNREFUSED|closed the connection/);
  await broker.run();
  await until(async () => {
    await hurry(heard);
    return (await broker.count(heard.subject)) === 4;
  });
  assert.deepEqual(await contentsIn(broker, heard.subject), ['before', 'while', 'it is', 'away']);
});

test('without a stream for the subject it is tried again, and says so', async () => {
  const heard = await hear();
  const failed = await firstFailure(heard);
  assert.deepEqual([failed.state, failed.status], ['retrying', 503]);
  assert.equal(failed.error, `no stream takes the subject ${heard.subject}`);
  await nats.makeStream(heard.subject);
  await until(async () => {
    await hurry(heard);
    return (await nats.count(heard.subject)) === 1;
  });
});

test('an event that is too large for the server or the stream is not tried again', async () => {
  await using small = await TestNats.start({ settings: ['max_payload: 300'] });
  const forServer = await firstFailure(await hear(small));
  assert.deepEqual([forServer.state, forServer.status], ['exhausted', null]);
  assert.equal(forServer.error, 'the event is larger than the 300 bytes that the server takes');
  const heard = await hear();
  await nats.makeStream(heard.subject, { max_msg_size: 300 });
  const forStream = await firstFailure(heard);
  assert.deepEqual([forStream.state, forStream.status], ['exhausted', 400]);
  assert.match(forStream.error, /^the server said “message size exceeds maximum allowed”/);
});

const users = `
  authorization { users: [
    { user: reader, password: reader },
    { user: usher, password: "right \\"ü\\"", permissions: { publish: ["usher.>"], subscribe: ["_INBOX.>"] } },
    { user: deaf, password: right, permissions: { publish: ["usher.>"], subscribe: ["nothing"] } } ] }`;

test('credentials sign in, are never shown, and go to no other server', async () => {
  const sign = { user: 'reader', pass: 'reader' };
  await using broker = await TestNats.start({ settings: [users], sign });
  const right = { user: 'usher', password: 'right "ü"' };
  const heard = await hear(broker, { credentials: { ...right, password: 'wrong' } });
  await broker.makeStream(heard.subject);
  const wrong = await firstFailure(heard);
  assert.deepEqual([wrong.state, wrong.status], ['retrying', null]);
  assert.match(wrong.error, /“Authorization Violation”: the credentials are wrong or missing$/);
  const { admin: token } = heard.own;
  const put = async (change: Json): Promise<Json> => {
    const body = { url: broker.url(heard.subject), events: ['engagement.chat.message'], ...change };
    return expectStatus(await call(server, `PUT /webhooks/${heard.hook.id}`, { token, body }), 200).body;
  };
  assert.equal((await put({ credentials: right })).has_credentials, true);
  await until(async () => {
    await hurry(heard);
    return (await broker.count(heard.subject)) === 1;
  });
  // Another subject of the same server keeps them; it is not one that the user may publish to.
  const denied = await put({ url: broker.url('other.events') });
  assert.deepEqual([denied.has_credentials, 'credentials' in denied], [true, false]);
  await sendTest(heard);
  await until(async () => (await attemptsOf(heard)).some(({ error }) => /do not permit to publish/.test(error)));
  assert.ok(!JSON.stringify(await rowOf(server, heard.hook.id)).includes('right'));
  assert.equal((await put({ url: nats.url(heard.subject) })).has_credentials, false);
  const deaf = await hear(broker, { credentials: { user: 'deaf', password: 'right' } });
  assert.match((await firstFailure(deaf)).error, /do not permit to subscribe to _INBOX/);
});

test('a token signs in as well, and a server that wants one says so to whoever has none', async () => {
  await using broker = await TestNats.start({
    settings: ['authorization { token: "of mine" }'],
    sign: { token: 'of mine' },
  });
  const heard = await hear(broker, { credentials: { token: 'of mine' } });
  await broker.makeStream(heard.subject);
  await sendTest(heard);
  await until(async () => (await broker.count(heard.subject)) === 1);
  assert.match((await firstFailure(await hear(broker))).error, /Authorization Violation/);
});

test('what cannot be published to is refused when it is registered', async () => {
  const own = await makeAccount(server);
  const at = 'nats://127.0.0.1:4222/';
  for (const [body, attribute] of [
    [{ url: `${at}usher.*` }, '/url'],
    [{ url: `${at}usher.>` }, '/url'],
    [{ url: `${at}$JS.API.STREAM.DELETE.x` }, '/url'],
    [{ url: at }, '/url'],
    [{ url: 'nats://user:secret@127.0.0.1/usher' }, '/url'],
    // Addresses around the server, which only the operator of Usher may allow.
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

test('a name that means an address around the server is not connected to', async () => {
  const heard = await hear();
  // As if the name had meant another address when it was registered.
  await server.database.sql`
    WITH moved AS (
      UPDATE destinations d SET origin = 'nats://10.1.2.3:4222' FROM webhooks w
       WHERE w.id = ${heard.hook.id} AND d.id = w.destination_id)
    UPDATE webhooks SET url = 'nats://10.1.2.3:4222/usher' WHERE id = ${heard.hook.id}`;
  const failed = await firstFailure(heard);
  assert.deepEqual([failed.status, failed.error], [null, 'the address may not be called']);
});

test('hundreds of events are in the stream once each, those of an engagement in their order', async () => {
  const { hook, subject } = await hear();
  await nats.makeStream(subject);
  const { account_id: accountId, destination_id: destinationId } = await rowOf(server, hook.id);
  const { sql } = server.database;
  for (let engagement = 0; engagement < 3; engagement += 1)
    await fill(sql, { id: hook.id, accountId, destinationId }, 'fresh', { count: 100, engagementId: randomUUID() });
  const due = await sql<{ eventId: string; engagementId: string }[]>`
    SELECT event_id AS "eventId", engagement_id AS "engagementId"
      FROM deliveries WHERE webhook_id = ${hook.id} ORDER BY event_seq`;
  await until(async () => (await nats.count(subject)) >= 300);
  const stored = (await nats.stored(subject)).map(({ headers }) => headers['Nats-Msg-Id']?.split('.')[1] ?? '');
  const engagementOf = new Map(due.map(({ eventId, engagementId }) => [eventId, engagementId]));
  const inOrder = (ids: readonly string[]): Record<string, string[]> =>
    Object.groupBy(ids, (id) => engagementOf.get(id) ?? 'none') as Record<string, string[]>;
  assert.equal(stored.length, 300);
  assert.deepEqual(inOrder(stored), inOrder(due.map(({ eventId }) => eventId)));
});
