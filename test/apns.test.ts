import assert from 'node:assert/strict';
import { randomUUID, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { jwtVerify } from 'jose';
import type { Config } from '../packages/server/src/config.ts';
import { Sealer } from '../packages/server/src/identity/sealer.ts';
import { openDatabase, type Database } from '../packages/server/src/platform/database.ts';
import { answers } from '../packages/server/src/webhooks/apns/answers.ts';
import type { ApnsLimits } from '../packages/server/src/webhooks/apns/limits.ts';
import { ApnsSender, type ApnsDelivery } from '../packages/server/src/webhooks/apns/sender.ts';
import type { Attempt } from '../packages/server/src/webhooks/attempt.ts';
import { appleCa, appleSettings, startApple, type FakeApple, type Push } from './support/apple.ts';
import { forAnotherName, selfSigned } from './support/certificate.ts';
import { cloneDatabase } from './support/database.ts';
import { until } from './support/server.ts';

let database: Database;
before(async () => {
  database = openDatabase(await cloneDatabase(), 4);
});
after(async () => database.close(1_000));

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

type Settings = NonNullable<Config['apns']>;
interface Scene {
  readonly apple: FakeApple;
  readonly sender: ApnsSender;
  readonly settings: Settings;
  readonly publicKey: KeyObject;
}

function senderFor(settings: Settings, limits: Partial<ApnsLimits> = {}, sql = database.sql): ApnsSender {
  const sender = new ApnsSender({ settings, sql, sealer: new Sealer(sql), ca: appleCa, limits });
  ends.push(() => sender.close());
  return sender;
}

/** An Apple of its own, a key of its own, and whoever sends with it. */
async function scene(limits: Partial<ApnsLimits> = {}, maxConcurrentStreams?: number): Promise<Scene> {
  const apple = await startApple(maxConcurrentStreams);
  ends.push(async () => apple.close());
  const { settings, publicKey } = appleSettings(apple.url);
  return { apple, sender: senderFor(settings, limits), settings, publicKey };
}

const registeredAt = new Date('2026-03-01T12:00:00.000Z');

function delivery(target: Partial<ApnsDelivery['target']> = {}, text = 'hello'): ApnsDelivery {
  const id = randomUUID();
  return {
    target: {
      deviceToken: 'a1b2c3',
      topic: 'com.example.App',
      environment: 'sandbox',
      contentAvailable: false,
      ...target,
    },
    registeredAt,
    event: {
      id,
      type: 'engagement.chat.message',
      json: JSON.stringify({ event_type: 'engagement.chat.message', event_id: id, message: { id, content: text } }),
    },
  };
}

async function sendMany(sender: ApnsSender, count: number): Promise<Attempt[]> {
  return Promise.all(Array.from({ length: count }, async () => sender.send(delivery())));
}

function tally(attempts: readonly Attempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict } of attempts) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

function tokenOf({ headers }: Push): string {
  return (headers['authorization'] ?? '').replace('bearer ', '');
}

test('a notification says what Apple wants to know, signed with our key', async () => {
  const { apple, sender, publicKey } = await scene();
  const given = delivery({ topic: 'com.example.Shop' });
  const attempt = await sender.send(given);
  assert.deepEqual(
    { ...attempt, durationMs: 0 },
    {
      verdict: 'delivered',
      unavailable: false,
      status: 200,
      answer: '',
      error: null,
      durationMs: 0,
      retryAfterMs: null,
    },
  );
  assert.ok(Number.isInteger(attempt.durationMs));
  const [push] = apple.pushes;
  assert.ok(push);
  const { headers, json } = push;
  assert.deepEqual([headers[':method'], headers[':path']], ['POST', '/3/device/a1b2c3']);
  assert.deepEqual(
    ['apns-topic', 'apns-push-type', 'apns-priority', 'apns-id'].map((name) => headers[name]),
    ['com.example.Shop', 'alert', '10', given.event.id],
  );
  assert.ok(Number(headers['apns-expiration']) > Date.now() / 1000);
  assert.equal(JSON.stringify(json.data), given.event.json);
  assert.match(headers['authorization'] ?? '', /^bearer [\w-]+\.[\w-]+\.[\w-]+$/);
  const { payload, protectedHeader } = await jwtVerify(tokenOf(push), publicKey, { algorithms: ['ES256'] });
  assert.deepEqual(protectedHeader, { alg: 'ES256', kid: 'ABC123DEFG' });
  assert.deepEqual(Object.keys(payload).sort(), ['iat', 'iss']);
  assert.equal(payload.iss, 'DEF123GHIJ');
  assert.ok(Math.abs((payload.iat ?? 0) - Date.now() / 1000) < 60);
});

test('a silent one goes in the background, and each environment has its own address', async () => {
  const { apple: sandbox, settings } = await scene();
  const production = await startApple();
  ends.push(async () => production.close());
  const sender = senderFor({ ...settings, productionUrl: production.url });
  await sender.send(delivery({ contentAvailable: true, environment: 'production' }));
  assert.deepEqual([sandbox.pushes.length, production.pushes.length], [0, 1]);
  const { headers, json } = production.pushes[0] ?? assert.fail();
  assert.deepEqual([headers['apns-push-type'], headers['apns-priority']], ['background', '5']);
  assert.deepEqual([json.aps, json.content_available], [{ 'content-available': 1 }, true]);
  await sender.send(delivery());
  assert.deepEqual([sandbox.pushes.length, production.pushes.length, sender.openSessions], [1, 1, 2]);
});

test('without a key it says which settings are missing, and asks nobody', async () => {
  const sender = new ApnsSender({ settings: null, sql: database.sql, sealer: new Sealer(database.sql) });
  const { verdict, unavailable, error, status } = await sender.send(delivery());
  assert.deepEqual([verdict, unavailable, status], ['failed', true, null]);
  assert.match(error ?? '', /USHER_APNS_KEY_FILE, USHER_APNS_KEY_ID and USHER_APNS_TEAM_ID/);
  assert.deepEqual([sender.openSessions, sender.streamsInFlight, sender.waiting, sender.paused], [0, 0, 0, 0]);
  sender.close();
});

test('every reason Apple may give comes to what the table says, over the wire', async () => {
  for (const [status, reason, rule, meaning] of answers) {
    const { apple, sender } = await scene();
    const timestamp = registeredAt.getTime() + 1;
    apple.behave = (push) => push.answer(status, { reason, ...(status === 410 ? { timestamp } : {}) });
    const attempt = await sender.send(delivery());
    const verdict = rule.verdict === 'ended if later' ? 'ended' : rule.verdict;
    assert.deepEqual(
      [attempt.verdict, attempt.unavailable, attempt.status, attempt.retryAfterMs, attempt.error],
      [verdict, rule.unavailable, status, rule.retryAfterMs, `Apple answered ${status} ${reason}: ${meaning}`],
      reason,
    );
    assert.equal(JSON.parse(attempt.answer ?? '').reason, reason);
    // A token that was made just now is not followed by another, so that its expiry pauses too.
    assert.equal(sender.paused, rule.credential === 'keep' ? 0 : 1, reason);
    assert.equal(apple.pushes.length, 1, reason);
    if (rule.retire) await until(() => sender.openSessions === 0);
    else assert.equal(sender.openSessions, 1, reason);
    await ends.pop()?.();
    await ends.pop()?.();
  }
});

test('410 does not end a webhook that was registered after Apple found the token dead', async () => {
  const { apple, sender } = await scene();
  apple.behave = (push) => push.answer(410, { reason: 'Unregistered', timestamp: registeredAt.getTime() });
  const attempt = await sender.send(delivery());
  assert.deepEqual([attempt.verdict, attempt.unavailable, attempt.status], ['failed', false, 410]);
});

test('Retry-After is passed on where it will be tried again', async () => {
  const { apple, sender } = await scene();
  const asked = async (status: number, retryAfter: string) => {
    apple.behave = (push) => push.answer(status, { reason: 'x' }, { 'retry-after': retryAfter });
    return (await sender.send(delivery())).retryAfterMs;
  };
  assert.equal(await asked(429, '120'), 120_000);
  assert.equal(await asked(429, 'Wed, 21 Oct 2026 07:28:00 GMT'), null);
  assert.equal(await asked(400, '120'), null);
});

test('a refused key rests for that environment and topic alone, and without a request', async () => {
  const { apple, sender } = await scene({ pauseMs: 200 });
  apple.behave = (push) =>
    push.headers['apns-topic'] === 'bad' ? push.answer(403, { reason: 'InvalidProviderToken' }) : push.answer(200);
  const refused = await sender.send(delivery({ topic: 'bad' }));
  assert.deepEqual([refused.verdict, refused.status, sender.paused], ['failed', 403, 1]);
  const resting = await sender.send(delivery({ topic: 'bad' }));
  assert.deepEqual([resting.verdict, resting.unavailable, resting.status], ['failed', true, null]);
  assert.match(resting.error ?? '', /403 InvalidProviderToken.*; nothing is sent for another 1 s$/);
  assert.equal(apple.pushes.length, 1);
  assert.equal((await sender.send(delivery({ topic: 'good' }))).verdict, 'delivered');
  assert.equal((await sender.send(delivery({ topic: 'bad', environment: 'production' }))).status, 403);
  assert.equal(sender.paused, 2);
  apple.behave = (push) => push.answer(200);
  await until(async () => (await sender.send(delivery({ topic: 'bad' }))).verdict === 'delivered');
  await until(() => sender.paused === 0);
});

test('those who were waiting while a key was refused do not go out', async () => {
  const { apple, sender } = await scene();
  apple.behave = (push) => push.answer(403, { reason: 'InvalidProviderToken' });
  const attempts = await sendMany(sender, 20);
  assert.deepEqual(tally(attempts), { failed: 20 });
  assert.equal(apple.pushes.length, 1);
});

test('one stream is open until the first answer, then as many as Apple allows', async () => {
  const { apple, sender } = await scene({}, 5);
  const held: Push[] = [];
  apple.behave = (push) => void held.push(push);
  const sending = sendMany(sender, 12);
  await until(() => held.length === 1);
  // Time enough for the others to come, had they been sent.
  await new Promise((resolve) => apple.pushes[0]?.session.ping(resolve));
  assert.deepEqual([held.length, sender.streamsInFlight, sender.waiting], [1, 1, 11]);
  held[0]?.answer(200);
  await until(() => held.length === 6);
  await new Promise((resolve) => apple.pushes[0]?.session.ping(resolve));
  assert.deepEqual([held.length, sender.streamsInFlight, sender.waiting], [6, 5, 6]);
  apple.behave = (push) => push.answer(200);
  for (const push of held) push.answer(200);
  assert.deepEqual(tally(await sending), { delivered: 12 });
  assert.equal(Math.max(...apple.pushes.map(({ open }) => open)), 5);
  assert.deepEqual([apple.connected, sender.openSessions, sender.streamsInFlight, sender.waiting], [1, 1, 0, 0]);
});

test('a limit that is lowered or raised on the way is obeyed', async () => {
  const { apple, sender } = await scene({}, 1);
  let mostOpen = 1;
  apple.behave = (push) => push.answer(200);
  await sender.send(delivery());
  const [session] = apple.sessions;
  assert.ok(session);
  const limit = async (maxConcurrentStreams: number): Promise<void> => {
    await new Promise<void>((resolve) => session.settings({ maxConcurrentStreams }, () => resolve()));
    mostOpen = maxConcurrentStreams;
  };
  for (const limited of [20, 1, 7, 2]) {
    await limit(limited);
    const first = apple.pushes.length;
    assert.deepEqual(tally(await sendMany(sender, 60)), { delivered: 60 });
    const open = apple.pushes.slice(first).map((push) => push.open);
    assert.equal(Math.max(...open), mostOpen);
  }
  assert.equal(apple.connected, 1);
});

test('no more than so many wait, and none of them for long', async () => {
  const { apple, sender } = await scene({ waiting: 3, waitMs: 100, answerMs: 60_000 });
  apple.behave = () => undefined;
  const sending = [sender.send(delivery())];
  await until(() => apple.pushes.length === 1);
  sending.push(...Array.from({ length: 3 }, async () => sender.send(delivery())));
  await until(() => sender.waiting === 3);
  const tooMany = await sender.send(delivery());
  assert.deepEqual([tooMany.verdict, tooMany.unavailable], ['failed', true]);
  assert.match(tooMany.error ?? '', /3 notifications to Apple are waiting/);
  for (const attempt of await Promise.all(sending.slice(1)))
    assert.deepEqual(
      [attempt.verdict, attempt.unavailable, attempt.error],
      ['failed', true, 'Its turn to be sent to Apple did not come in time'],
    );
  assert.deepEqual([sender.waiting, sender.streamsInFlight, apple.pushes.length], [0, 1, 1]);
});

test('who answers slowly is waited for, who does not answer is given up', async () => {
  const { apple, sender } = await scene({ answerMs: 300 });
  apple.behave = (push) => void setTimeout(() => push.answer(200), 100);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  apple.behave = () => undefined;
  const late = await sender.send(delivery());
  assert.deepEqual(
    [late.verdict, late.unavailable, late.status, late.error],
    ['failed', true, null, 'Apple did not answer in time'],
  );
  assert.ok(late.durationMs >= 300);
  await until(() => sender.streamsInFlight === 0);
  assert.equal(apple.pushes[1]?.stream.rstCode, constants.NGHTTP2_CANCEL);
  // The connection answers PINGs, so that it is kept.
  apple.behave = (push) => push.answer(200);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.connected, 1);
});

test('an answer that is begun and not ended is none, unless it was taken', async () => {
  const { apple, sender } = await scene({ answerMs: 200 });
  const begin = (status: number) => (push: Push) => {
    push.stream.respond({ ':status': status });
    push.stream.write('{"reason":"BadDeviceToken"');
  };
  apple.behave = begin(400);
  const open = await sender.send(delivery());
  assert.deepEqual([open.verdict, open.unavailable, open.status], ['failed', true, 400]);
  assert.equal(open.answer, '{"reason":"BadDeviceToken"');
  apple.behave = begin(200);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
});

test('an endless answer is broken off, garbage is judged by its status', async () => {
  const { apple, sender } = await scene();
  apple.behave = ({ stream }) => {
    stream.respond({ ':status': 400 });
    const more = (): void => {
      while (!stream.destroyed && stream.write('x'.repeat(16_384)));
    };
    stream.on('drain', more);
    more();
  };
  const endless = await sender.send(delivery());
  assert.deepEqual([endless.verdict, endless.status], ['failed', 400]);
  assert.ok((endless.answer ?? '').length <= 4_096);
  await until(() => sender.streamsInFlight === 0);
  for (const [status, verdict] of [
    [400, 'refused'],
    [410, 'failed'],
    [429, 'failed'],
  ] as const) {
    apple.behave = (push) => push.answer(status, '\0<html>{"reason":');
    const attempt = await sender.send(delivery());
    assert.deepEqual([attempt.verdict, attempt.answer], [verdict, '\uFFFD<html>{"reason":']);
  }
  assert.equal(apple.connected, 1);
});

test('a request that is reset has failed, one that is refused is sent again', async () => {
  const { apple, sender } = await scene();
  apple.behave = (push) => push.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  const reset = await sender.send(delivery());
  assert.deepEqual([reset.verdict, reset.unavailable, reset.status], ['failed', true, null]);
  assert.equal(reset.error, 'Apple broke off the request (INTERNAL_ERROR)');
  assert.equal(apple.pushes.length, 1);
  let refusals = 2;
  apple.behave = (push) => (refusals-- > 0 ? push.stream.close(constants.NGHTTP2_REFUSED_STREAM) : push.answer(200));
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.pushes.length, 4);
  apple.behave = (push) => push.stream.close(constants.NGHTTP2_REFUSED_STREAM);
  const refused = await sender.send(delivery());
  assert.deepEqual([refused.verdict, refused.unavailable], ['failed', true]);
  assert.deepEqual([apple.pushes.length, apple.connected], [7, 1]);
});

test('after GOAWAY what Apple has looked at is answered there, the rest goes out on a new connection', async () => {
  const { apple, sender } = await scene();
  await sender.send(delivery());
  const held: Push[] = [];
  apple.behave = (push) => void held.push(push);
  const sending = sendMany(sender, 6);
  await until(() => held.length === 6);
  const [old] = apple.sessions;
  assert.ok(old);
  const ids = held.map(({ stream }) => stream.id ?? 0).sort((one, other) => one - other);
  const looked = ids.slice(0, 3);
  apple.behave = (push) => push.answer(200);
  old.goaway(constants.NGHTTP2_NO_ERROR, looked.at(-1));
  await until(() => apple.connected === 2);
  for (const push of held.filter(({ stream }) => looked.includes(stream.id ?? 0))) push.answer(200);
  assert.deepEqual(tally(await sending), { delivered: 6 });
  const again = apple.pushes.filter(({ session }) => session !== old);
  const lost = held.filter(({ stream }) => !looked.includes(stream.id ?? 0));
  assert.deepEqual(
    new Set(again.map(({ headers }) => headers['apns-id'])),
    new Set(lost.map(({ headers }) => headers['apns-id'])),
  );
  await until(() => sender.openSessions === 1 && sender.streamsInFlight === 0);
});

test('GOAWAY with an error ends what is under way, and its reason is told', async () => {
  const { apple, sender } = await scene();
  await sender.send(delivery());
  apple.behave = ({ session, stream }) =>
    session.goaway(constants.NGHTTP2_INTERNAL_ERROR, stream.id, Buffer.from('{"reason":"Shutdown"}'));
  const attempt = await sender.send(delivery());
  assert.deepEqual([attempt.verdict, attempt.unavailable], ['failed', true]);
  assert.equal(attempt.error, 'Apple has closed the connection (GOAWAY Shutdown)');
  apple.behave = (push) => push.answer(200);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.connected, 2);
});

test('who says GOAWAY before it has answered anything is left alone for a while', async () => {
  const { apple, sender } = await scene({ backoffMs: 60_000, answerMs: 100 });
  apple.behave = ({ session }) => session.goaway(constants.NGHTTP2_NO_ERROR);
  assert.equal((await sender.send(delivery())).error, 'Apple did not answer in time');
  const next = await sender.send(delivery());
  assert.deepEqual([next.verdict, next.unavailable], ['failed', true]);
  assert.match(next.error ?? '', /^Apple has closed the connection \(GOAWAY NO_ERROR\); it is tried again in \d+ s$/);
  assert.deepEqual([apple.pushes.length, apple.connected], [1, 1]);
  await until(() => sender.openSessions === 0);
});

test('a connection that is cut fails what was sent on it, and those who waited go out on the next', async () => {
  const { apple, sender } = await scene({}, 3);
  await sender.send(delivery());
  const held: Push[] = [];
  apple.behave = (push) => void held.push(push);
  const sending = sendMany(sender, 8);
  await until(() => held.length === 3);
  apple.behave = (push) => push.answer(200);
  apple.cut();
  const attempts = await sending;
  assert.deepEqual(tally(attempts), { failed: 3, delivered: 5 });
  for (const { verdict, unavailable, error } of attempts)
    if (verdict === 'failed') assert.deepEqual([unavailable, /connection/.test(error ?? '')], [true, true]);
  assert.equal(apple.connected, 2);
});

test('a connection that has gone silent is found by PING and given up', async () => {
  const { apple, sender } = await scene({ pingEveryMs: 50, pingMs: 100, answerMs: 60_000 });
  await sender.send(delivery());
  // Several PINGs that are answered leave it as it is.
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.deepEqual([sender.openSessions, apple.connected], [1, 1]);
  apple.stall();
  const attempt = await sender.send(delivery());
  assert.deepEqual(
    [attempt.verdict, attempt.unavailable, attempt.error],
    ['failed', true, 'Apple did not answer a PING'],
  );
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.connected, 2);
});

test('who lets a request go unanswered is asked at once whether it is still there', async () => {
  const { apple, sender } = await scene({ pingMs: 100, answerMs: 100 });
  await sender.send(delivery());
  apple.stall();
  assert.equal((await sender.send(delivery())).error, 'Apple did not answer in time');
  await until(() => sender.openSessions === 0);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
});

test('a certificate that is not to be trusted, or is for another name, is not spoken to', async () => {
  const { sql } = database;
  for (const [tls, ca, code] of [
    [selfSigned, undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    [forAnotherName, forAnotherName.cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [selfSigned, forAnotherName.cert, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ] as const) {
    const apple = await startApple(1_000, tls);
    ends.push(async () => apple.close());
    const { settings } = appleSettings(apple.url);
    const sender = new ApnsSender({ settings, sql, sealer: new Sealer(sql), ...(ca === undefined ? {} : { ca }) });
    ends.push(() => sender.close());
    const attempt = await sender.send(delivery());
    assert.deepEqual([attempt.verdict, attempt.unavailable, attempt.status], ['failed', true, null]);
    assert.match(attempt.error ?? '', new RegExp(`^The connection to Apple failed \\(${code}\\)`));
    assert.equal(apple.pushes.length, 0);
  }
});

test('who cannot be reached is tried again later and later, and fails at once until then', async () => {
  const tried: number[] = [];
  const closed = await listen((socket) => {
    tried.push(performance.now());
    socket.destroy();
  });
  const sender = senderFor(appleSettings(closed).settings, { backoffMs: 100, longestBackoffMs: 400 });
  const first = await sender.send(delivery());
  assert.deepEqual([first.verdict, first.unavailable], ['failed', true]);
  assert.match(first.error ?? '', /^The connection to Apple failed \(ECONNRESET\); it is tried again in 1 s$/);
  const errors = new Set<string | null>();
  await until(async () => {
    errors.add((await sender.send(delivery())).error);
    return tried.length === 5;
  });
  assert.deepEqual([...errors], [first.error]);
  // Each time it is twice as long, and at least half of that.
  const least = [50, 100, 200, 200];
  for (const [index, ms] of least.entries()) {
    const waited = (tried[index + 1] ?? 0) - (tried[index] ?? 0);
    assert.ok(waited >= ms, `${waited} ms before attempt ${index + 2}`);
  }
  await until(() => sender.openSessions === 0);
});

test('a server that takes the connection and says nothing is given up in time', async () => {
  const silent = await listen(() => undefined);
  const sender = senderFor(appleSettings(silent).settings, { connectMs: 150 });
  const attempt = await sender.send(delivery());
  assert.deepEqual([attempt.verdict, attempt.unavailable], ['failed', true]);
  assert.match(attempt.error ?? '', /^Apple could not be connected to in time; it is tried again in 1 s$/);
  await until(() => sender.openSessions === 0);
});

/** Something that is not Apple at all. */
async function listen(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

test('closing cuts off what is under way and waits, and nothing is sent after it', async () => {
  const { apple, sender } = await scene();
  apple.behave = () => undefined;
  const sending = sendMany(sender, 3);
  await until(() => apple.pushes.length === 1);
  sender.close();
  for (const { verdict, error } of await sending) assert.deepEqual([verdict, error], ['failed', 'Usher is stopping']);
  assert.equal((await sender.send(delivery())).error, 'Usher is stopping');
  await until(() => sender.openSessions === 0 && apple.sessions.size === 0);
  assert.equal(apple.connected, 1);
});
