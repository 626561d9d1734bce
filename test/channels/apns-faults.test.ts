import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { appleSettings, type Push } from '../support/services/apple.ts';
import { ApnsFixture, delivery, sendMany, countVerdicts } from '../support/receivers/apns.ts';
import { otherHostCertificate, selfSigned } from '../support/network/certificate.ts';
import { forThisFile } from '../support/fixture.ts';
import { until } from '../support/server.ts';

const fixture = await forThisFile(ApnsFixture.open());
afterEach(async () => fixture.cleanUp());

test('a slow response counts, and a notification without a response fails at its timeout', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({ answerMs: 1_000 });
  apple.onPush = (push) => void setTimeout(() => push.answer(200), 100);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  apple.onPush = () => undefined;
  const late = await sender.send(delivery());
  assert.deepEqual(
    [late.verdict, late.unavailable, late.status, late.error],
    ['failed', true, null, 'Apple did not answer in time'],
  );
  assert.ok(late.durationMs >= 1_000);
  await until(() => sender.streamsInFlight === 0);
  await until(() => apple.pushes[1]?.stream.rstCode === constants.NGHTTP2_CANCEL);
  // Apple answers PINGs, so the connection stays open.
  apple.onPush = (push) => push.answer(200);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.connectionCount, 1);
});

test('an incomplete response is a failure, unless its status is 200', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({ answerMs: 200 });
  const begin = (status: number) => (push: Push) => {
    push.stream.respond({ ':status': status });
    push.stream.write('{"reason":"BadDeviceToken"');
  };
  apple.onPush = begin(400);
  const open = await sender.send(delivery());
  assert.deepEqual([open.verdict, open.unavailable, open.status], ['failed', true, 400]);
  assert.equal(open.answer, '{"reason":"BadDeviceToken"');
  apple.onPush = begin(200);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
});

test('an endless response is aborted, and an unreadable one is judged by its status', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  apple.onPush = ({ stream }) => {
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
    apple.onPush = (push) => push.answer(status, '\0<html>{"reason":');
    const attempt = await sender.send(delivery());
    assert.deepEqual([attempt.verdict, attempt.answer], [verdict, '\uFFFD<html>{"reason":']);
  }
  assert.equal(apple.connectionCount, 1);
});

test('a few informational answers are ignored, and endless ones are aborted', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  apple.onPush = (push) => {
    for (let nth = 0; nth < 3; nth += 1) push.stream.additionalHeaders({ ':status': 103 });
    push.answer(200);
  };
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  let count = 0;
  apple.onPush = ({ stream }) => {
    const timer = setInterval(() => {
      count += 1;
      if (stream.destroyed) clearInterval(timer);
      else stream.additionalHeaders({ ':status': 103 });
    }, 1);
  };
  const { verdict, status, error } = await sender.send(delivery());
  assert.deepEqual([verdict, status, error], ['failed', null, 'Apple sent informational answers without end']);
  await until(() => sender.streamsInFlight === 0);
  assert.ok(count < 1_000, `${count}`);
});

test('a request that Apple resets fails, and one with REFUSED_STREAM is sent again', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  apple.onPush = (push) => push.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  const reset = await sender.send(delivery());
  assert.deepEqual([reset.verdict, reset.unavailable, reset.status], ['failed', true, null]);
  assert.equal(reset.error, 'Apple reset the request (INTERNAL_ERROR)');
  assert.equal(apple.pushes.length, 1);
  let refusals = 2;
  apple.onPush = (push) => (refusals-- > 0 ? push.stream.close(constants.NGHTTP2_REFUSED_STREAM) : push.answer(200));
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.pushes.length, 4);
  apple.onPush = (push) => push.stream.close(constants.NGHTTP2_REFUSED_STREAM);
  const refused = await sender.send(delivery());
  assert.deepEqual([refused.verdict, refused.unavailable], ['failed', true]);
  assert.deepEqual([apple.pushes.length, apple.connectionCount], [7, 1]);
});

test('after GOAWAY, requests that Apple has processed are answered there and the others are sent on a new connection', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  await sender.send(delivery());
  const unanswered: Push[] = [];
  apple.onPush = (push) => void unanswered.push(push);
  const sending = sendMany(sender, 6);
  await until(() => unanswered.length === 6);
  const [old] = apple.sessions;
  assert.ok(old);
  const ids = unanswered.map(({ stream }) => stream.id ?? 0).toSorted((one, other) => one - other);
  const processed = ids.slice(0, 3);
  apple.onPush = (push) => push.answer(200);
  old.goaway(constants.NGHTTP2_NO_ERROR, processed.at(-1));
  await until(() => apple.connectionCount === 2);
  for (const push of unanswered.filter(({ stream }) => processed.includes(stream.id ?? 0))) push.answer(200);
  assert.deepEqual(countVerdicts(await sending), { delivered: 6 });
  const resent = apple.pushes.filter(({ session }) => session !== old);
  const unprocessed = unanswered.filter(({ stream }) => !processed.includes(stream.id ?? 0));
  assert.deepEqual(
    new Set(resent.map(({ headers }) => headers['apns-id'])),
    new Set(unprocessed.map(({ headers }) => headers['apns-id'])),
  );
  await until(() => sender.openSessions === 1 && sender.streamsInFlight === 0);
});

test('GOAWAY with an error fails the requests in flight and reports its reason', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  await sender.send(delivery());
  apple.onPush = ({ session, stream }) =>
    session.goaway(constants.NGHTTP2_INTERNAL_ERROR, stream.id, Buffer.from('{"reason":"Shutdown"}'));
  const attempt = await sender.send(delivery());
  assert.deepEqual([attempt.verdict, attempt.unavailable], ['failed', true]);
  assert.equal(attempt.error, 'Apple closed the connection (GOAWAY Shutdown)');
  apple.onPush = (push) => push.answer(200);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.connectionCount, 2);
});

test('GOAWAY with an error fails only the requests that Apple may have processed', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  await sender.send(delivery());
  const unanswered: Push[] = [];
  apple.onPush = (push) => void unanswered.push(push);
  const sending = sendMany(sender, 5);
  await until(() => unanswered.length === 5);
  const ids = unanswered.map(({ stream }) => stream.id ?? 0).toSorted((one, other) => one - other);
  apple.onPush = (push) => push.answer(200);
  unanswered[0]?.session.goaway(constants.NGHTTP2_INTERNAL_ERROR, ids[1]);
  assert.deepEqual(countVerdicts(await sending), { failed: 2, delivered: 3 });
  assert.deepEqual([apple.pushes.length, apple.connectionCount], [9, 2]);
});

test('after a GOAWAY before the first response, the next connection waits for the backoff', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({ backoffMs: 60_000, answerMs: 100 });
  apple.onPush = ({ session }) => session.goaway(constants.NGHTTP2_NO_ERROR);
  assert.equal((await sender.send(delivery())).error, 'Apple did not answer in time');
  const next = await sender.send(delivery());
  assert.deepEqual([next.verdict, next.unavailable], ['failed', true]);
  assert.match(
    next.error ?? '',
    /^Apple closed the connection \(GOAWAY NO_ERROR\); the next connection is made in \d+ s$/,
  );
  assert.deepEqual([apple.pushes.length, apple.connectionCount], [1, 1]);
  await until(() => sender.openSessions === 0);
});

test('a lost connection fails the requests in flight, and waiting requests use the next connection', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({}, 3);
  await sender.send(delivery());
  const unanswered: Push[] = [];
  apple.onPush = (push) => void unanswered.push(push);
  const sending = sendMany(sender, 8);
  await until(() => unanswered.length === 3);
  apple.onPush = (push) => push.answer(200);
  apple.cut();
  const attempts = await sending;
  assert.deepEqual(countVerdicts(attempts), { failed: 3, delivered: 5 });
  for (const { verdict, unavailable, error } of attempts)
    if (verdict === 'failed') assert.deepEqual([unavailable, /connection/.test(error ?? '')], [true, true]);
  assert.equal(apple.connectionCount, 2);
});

test('a connection that does not answer PING is closed', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({ pingEveryMs: 50, pingMs: 500, answerMs: 60_000 });
  await sender.send(delivery());
  // Answered PINGs keep the connection open.
  let pings = 0;
  for (const session of apple.sessions) session.on('ping', () => (pings += 1));
  await until(() => pings === 3);
  assert.deepEqual([sender.openSessions, apple.connectionCount], [1, 1]);
  apple.stall();
  const attempt = await sender.send(delivery());
  assert.deepEqual(
    [attempt.verdict, attempt.unavailable, attempt.error],
    ['failed', true, 'Apple did not answer a PING'],
  );
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.connectionCount, 2);
});

test('a request without a response triggers a PING at once', async () => {
  const { apple, sender } = await fixture.startAppleAndSender({ pingMs: 500, answerMs: 500 });
  await sender.send(delivery());
  apple.stall();
  assert.equal((await sender.send(delivery())).error, 'Apple did not answer in time');
  await until(() => sender.openSessions === 0);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
});

test('nothing is sent to a server with an untrusted certificate or one for another host', async () => {
  for (const [tls, ca, code] of [
    [selfSigned, null, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    [otherHostCertificate, otherHostCertificate.cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [selfSigned, otherHostCertificate.cert, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ] as const) {
    const apple = await fixture.apple(1_000, tls);
    const sender = fixture.sender(appleSettings(apple.url).settings, {}, ca);
    const attempt = await sender.send(delivery());
    assert.deepEqual([attempt.verdict, attempt.unavailable, attempt.status], ['failed', true, null]);
    assert.match(attempt.error ?? '', new RegExp(`^the connection to Apple failed \\(${code}\\)`));
    assert.equal(apple.pushes.length, 0);
  }
});

test('reconnects back off exponentially, and notifications fail at once in between', async () => {
  const connectedAt: number[] = [];
  const closed = await listen((socket) => {
    connectedAt.push(performance.now());
    socket.destroy();
  });
  const sender = fixture.sender(appleSettings(closed).settings, { backoffMs: 100, maxBackoffMs: 400 });
  const first = await sender.send(delivery());
  assert.deepEqual([first.verdict, first.unavailable], ['failed', true]);
  assert.match(
    first.error ?? '',
    /^the connection to Apple failed \(ECONNRESET\); the next connection is made in 1 s$/,
  );
  const errors = new Set<string | null>();
  await until(async () => {
    errors.add((await sender.send(delivery())).error);
    return connectedAt.length === 5;
  });
  assert.deepEqual([...errors], [first.error]);
  // The backoff doubles each time, and jitter takes away at most half of it.
  const minWaitsMs = [50, 100, 200, 200];
  for (const [index, ms] of minWaitsMs.entries()) {
    const waited = (connectedAt[index + 1] ?? 0) - (connectedAt[index] ?? 0);
    assert.ok(waited >= ms, `${waited} ms before attempt ${index + 2}`);
  }
  await until(() => sender.openSessions === 0);
});

test('a server that accepts the connection and stays silent is given up after the connect timeout', async () => {
  const silent = await listen(() => undefined);
  const sender = fixture.sender(appleSettings(silent).settings, { connectMs: 150 });
  const attempt = await sender.send(delivery());
  assert.deepEqual([attempt.verdict, attempt.unavailable], ['failed', true]);
  assert.match(attempt.error ?? '', /^could not connect to Apple in time; the next connection is made in 1 s$/);
  await until(() => sender.openSessions === 0);
});

/** Starts a TCP server that is not an APNs server. Returns its URL. */
async function listen(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  fixture.defer(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

test('closing fails the notifications in flight and waiting, and nothing is sent afterwards', async () => {
  const { apple, sender } = await fixture.startAppleAndSender();
  apple.onPush = () => undefined;
  const sending = sendMany(sender, 3);
  await until(() => apple.pushes.length === 1);
  sender.close();
  for (const { verdict, error } of await sending) assert.deepEqual([verdict, error], ['failed', 'Usher is stopping']);
  assert.equal((await sender.send(delivery())).error, 'Usher is stopping');
  await until(() => sender.openSessions === 0 && apple.sessions.size === 0);
  assert.equal(apple.connectionCount, 1);
});
