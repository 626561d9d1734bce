import assert from 'node:assert/strict';

import { afterEach, test } from 'node:test';
import { jwtVerify } from 'jose';
import { Sealer } from '../../packages/server/src/identity/sealer.ts';
import { answers } from '../../packages/server/src/channels/apns/answers.ts';
import { ApnsSender } from '../../packages/server/src/channels/apns/sender.ts';
import type { Push } from '../support/services/apple.ts';
import { ApnsFixture, delivery, registeredAt, sendMany, countVerdicts } from '../support/receivers/apns.ts';
import { forThisFile } from '../support/fixture.ts';
import { until } from '../support/server.ts';

const fixture = await forThisFile(ApnsFixture.open());
afterEach(async () => fixture.cleanUp());

test('a notification has the headers that Apple requires and a token signed with our key', async () => {
  const { apple, sender, publicKey } = await fixture.startAppleAndSender();
  const sent = delivery({ topic: 'com.example.Shop' });
  const attempt = await sender.send(sent);
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
    ['com.example.Shop', 'alert', '10', sent.event.id],
  );
  assert.ok(Number(headers['apns-expiration']) > Date.now() / 1000);
  assert.equal(JSON.stringify(json.data), sent.event.json);
  assert.match(headers['authorization'] ?? '', /^bearer [\w-]+\.[\w-]+\.[\w-]+$/);
  const { payload, protectedHeader } = await jwtVerify(
    (headers['authorization'] ?? '').replace('bearer ', ''),
    publicKey,
    { algorithms: ['ES256'] },
  );
  assert.deepEqual(protectedHeader, { alg: 'ES256', kid: 'ABC123DEFG' });
  assert.deepEqual(Object.keys(payload).toSorted(), ['iat', 'iss']);
  assert.equal(payload.iss, 'DEF123GHIJ');
  assert.ok(Math.abs((payload.iat ?? 0) - Date.now() / 1000) < 60);
});

test('a silent notification is a background push, and each environment has its own URL', async () => {
  const { apple: sandbox, settings } = await fixture.startAppleAndSender();
  const production = await fixture.apple();
  const sender = fixture.sender({ ...settings, productionUrl: production.url });
  await sender.send(delivery({ contentAvailable: true, environment: 'production' }));
  assert.deepEqual([sandbox.pushes.length, production.pushes.length], [0, 1]);
  const { headers, json } = production.pushes[0] ?? assert.fail();
  assert.deepEqual([headers['apns-push-type'], headers['apns-priority']], ['background', '5']);
  assert.deepEqual([json.aps, json.content_available], [{ 'content-available': 1 }, true]);
  await sender.send(delivery());
  assert.deepEqual([sandbox.pushes.length, production.pushes.length, sender.openSessions], [1, 1, 2]);
});

test('without a key the error names the missing settings, and no request is sent', async () => {
  const { sql } = fixture.database;
  const sender = new ApnsSender({ settings: null, sql, sealer: new Sealer(sql) });
  const { verdict, unavailable, error, status } = await sender.send(delivery());
  assert.deepEqual([verdict, unavailable, status], ['failed', true, null]);
  assert.match(error ?? '', /USHER_APNS_KEY_FILE, USHER_APNS_KEY_ID and USHER_APNS_TEAM_ID/);
  assert.deepEqual([sender.openSessions, sender.streamsInFlight, sender.waiting, sender.paused], [0, 0, 0, 0]);
  sender.close();
});

test('D8.10 every reason that Apple may give has the effect that the table says', async () => {
  for (const [status, reason, rule, meaning] of answers) {
    const { apple, sender } = await fixture.startAppleAndSender();
    const timestamp = registeredAt.getTime() + 1;
    apple.onPush = (push) => push.answer(status, { reason, ...(status === 410 ? { timestamp } : {}) });
    const attempt = await sender.send(delivery());
    const verdict = rule.verdict === 'ended if later' ? 'ended' : rule.verdict;
    assert.deepEqual(
      [attempt.verdict, attempt.unavailable, attempt.status, attempt.retryAfterMs, attempt.error],
      [verdict, rule.unavailable, status, rule.retryAfterMs, `Apple answered ${status} ${reason}: ${meaning}`],
      reason,
    );
    assert.equal(JSON.parse(attempt.answer ?? '').reason, reason);
    // A new token is not replaced, so its expiry pauses the key too.
    assert.equal(sender.paused, rule.credential === 'keep' ? 0 : 1, reason);
    assert.equal(apple.pushes.length, 1, reason);
    if (rule.retire) await until(() => sender.openSessions === 0);
    else assert.equal(sender.openSessions, 1, reason);
    await fixture.cleanUp();
  }
});

test('a 410 does not end a webhook that was registered after Apple invalidated the device token', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  apple.onPush = (push) => push.answer(410, { reason: 'Unregistered', timestamp: registeredAt.getTime() });
  const attempt = await sender.send(delivery());
  assert.deepEqual([attempt.verdict, attempt.unavailable, attempt.status], ['failed', false, 410]);
});

test('Retry-After is respected for failures that are retried', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  const retryAfterFor = async (status: number, retryAfter: string) => {
    apple.onPush = (push) => push.answer(status, { reason: 'x' }, { 'retry-after': retryAfter });
    return (await sender.send(delivery())).retryAfterMs;
  };
  assert.equal(await retryAfterFor(429, '120'), 120_000);
  assert.equal(await retryAfterFor(429, 'Wed, 21 Oct 2026 07:28:00 GMT'), null);
  assert.equal(await retryAfterFor(400, '120'), null);
});

test('a refused key pauses only its environment and topic, and sends no request meanwhile', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({ pauseMs: 1_500 });
  apple.onPush = (push) =>
    push.headers['apns-topic'] === 'bad' ? push.answer(403, { reason: 'InvalidProviderToken' }) : push.answer(200);
  const refused = await sender.send(delivery({ topic: 'bad' }));
  assert.deepEqual([refused.verdict, refused.status, sender.paused], ['failed', 403, 1]);
  const paused = await sender.send(delivery({ topic: 'bad' }));
  assert.deepEqual([paused.verdict, paused.unavailable, paused.status], ['failed', false, null]);
  assert.match(paused.error ?? '', /403 InvalidProviderToken.*; paused for another [12] s$/);
  assert.equal(apple.pushes.length, 1);
  assert.equal((await sender.send(delivery({ topic: 'good' }))).verdict, 'delivered');
  assert.equal((await sender.send(delivery({ topic: 'bad', environment: 'production' }))).status, 403);
  assert.equal(sender.paused, 2);
  apple.onPush = (push) => push.answer(200);
  await until(async () => (await sender.send(delivery({ topic: 'bad' }))).verdict === 'delivered');
  await until(() => sender.paused === 0);
});

test('notifications that wait while the key is refused are not sent', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  apple.onPush = (push) => push.answer(403, { reason: 'InvalidProviderToken' });
  const attempts = await sendMany(sender, 20);
  assert.deepEqual(countVerdicts(attempts), { failed: 20 });
  assert.equal(apple.pushes.length, 1);
});

test('only one stream is open until the first response, then as many as Apple allows', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({}, 5);
  const unanswered: Push[] = [];
  apple.onPush = (push) => void unanswered.push(push);
  const sending = sendMany(sender, 12);
  await until(() => unanswered.length === 1);
  // A round trip: other requests would have arrived by now.
  await new Promise((resolve) => apple.pushes[0]?.session.ping(resolve));
  assert.deepEqual([unanswered.length, sender.streamsInFlight, sender.waiting], [1, 1, 11]);
  unanswered[0]?.answer(200);
  await until(() => unanswered.length === 6);
  await new Promise((resolve) => apple.pushes[0]?.session.ping(resolve));
  assert.deepEqual([unanswered.length, sender.streamsInFlight, sender.waiting], [6, 5, 6]);
  apple.onPush = (push) => push.answer(200);
  for (const push of unanswered) push.answer(200);
  assert.deepEqual(countVerdicts(await sending), { delivered: 12 });
  assert.equal(Math.max(...apple.pushes.map(({ open }) => open)), 5);
  assert.deepEqual([apple.connectionCount, sender.openSessions, sender.streamsInFlight, sender.waiting], [1, 1, 0, 0]);
});

test('a stream limit that changes on an open connection is respected', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({}, 1);
  let maxOpen = 1;
  apple.onPush = (push) => push.answer(200);
  await sender.send(delivery());
  const [session] = apple.sessions;
  assert.ok(session);
  const limit = async (maxConcurrentStreams: number): Promise<void> => {
    await new Promise<void>((resolve) => session.settings({ maxConcurrentStreams }, () => resolve()));
    maxOpen = maxConcurrentStreams;
  };
  for (const limited of [20, 1, 7, 2]) {
    await limit(limited);
    const first = apple.pushes.length;
    assert.deepEqual(countVerdicts(await sendMany(sender, 60)), { delivered: 60 });
    const open = apple.pushes.slice(first).map((push) => push.open);
    assert.equal(Math.max(...open), maxOpen);
  }
  assert.equal(apple.connectionCount, 1);
});

test('the number of waiting notifications and their waiting time are limited', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({ waiting: 3, waitMs: 1_000, answerMs: 60_000 });
  apple.onPush = () => undefined;
  const sending = [sender.send(delivery())];
  await until(() => apple.pushes.length === 1);
  sending.push(...Array.from({ length: 3 }, async () => sender.send(delivery())));
  await until(() => sender.waiting === 3);
  const tooMany = await sender.send(delivery());
  assert.deepEqual([tooMany.verdict, tooMany.unavailable], ['failed', true]);
  assert.match(tooMany.error ?? '', /the queue of 3 notifications to Apple is full/);
  for (const attempt of await Promise.all(sending.slice(1)))
    assert.deepEqual(
      [attempt.verdict, attempt.unavailable, attempt.error],
      ['failed', true, 'the notification waited too long in the queue to Apple'],
    );
  assert.deepEqual([sender.waiting, sender.streamsInFlight, apple.pushes.length], [0, 1, 1]);
});
