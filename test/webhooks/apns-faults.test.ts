import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { appleSettings, type Push } from '../support/apple.ts';
import { ApnsStage, delivery, sendMany, tally } from '../support/apns.ts';
import { forAnotherName, selfSigned } from '../support/certificate.ts';
import { forThisFile } from '../support/fixture.ts';
import { until } from '../support/server.ts';

const stage = await forThisFile(ApnsStage.open());
afterEach(async () => stage.end());

test('who answers slowly is waited for, who does not answer is given up', async () => {
  const { apple, sender } = await stage.scene({ answerMs: 1_000 });
  apple.behave = (push) => void setTimeout(() => push.answer(200), 100);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  apple.behave = () => undefined;
  const late = await sender.send(delivery());
  assert.deepEqual(
    [late.verdict, late.unavailable, late.status, late.error],
    ['failed', true, null, 'Apple did not answer in time'],
  );
  assert.ok(late.durationMs >= 1_000);
  await until(() => sender.streamsInFlight === 0);
  await until(() => apple.pushes[1]?.stream.rstCode === constants.NGHTTP2_CANCEL);
  // The connection answers PINGs, so that it is kept.
  apple.behave = (push) => push.answer(200);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
  assert.equal(apple.connected, 1);
});

test('an answer that is begun and not ended is none, unless it was taken', async () => {
  const { apple, sender } = await stage.scene({ answerMs: 200 });
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
  const { apple, sender } = await stage.scene();
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
  const { apple, sender } = await stage.scene();
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
  const { apple, sender } = await stage.scene();
  await sender.send(delivery());
  const held: Push[] = [];
  apple.behave = (push) => void held.push(push);
  const sending = sendMany(sender, 6);
  await until(() => held.length === 6);
  const [old] = apple.sessions;
  assert.ok(old);
  const ids = held.map(({ stream }) => stream.id ?? 0).toSorted((one, other) => one - other);
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
  const { apple, sender } = await stage.scene();
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

test('GOAWAY with an error fails what Apple may have looked at, and nothing that came after it', async () => {
  const { apple, sender } = await stage.scene();
  await sender.send(delivery());
  const held: Push[] = [];
  apple.behave = (push) => void held.push(push);
  const sending = sendMany(sender, 5);
  await until(() => held.length === 5);
  const ids = held.map(({ stream }) => stream.id ?? 0).toSorted((one, other) => one - other);
  apple.behave = (push) => push.answer(200);
  held[0]?.session.goaway(constants.NGHTTP2_INTERNAL_ERROR, ids[1]);
  assert.deepEqual(tally(await sending), { failed: 2, delivered: 3 });
  assert.deepEqual([apple.pushes.length, apple.connected], [9, 2]);
});

test('who says GOAWAY before it has answered anything is left alone for a while', async () => {
  const { apple, sender } = await stage.scene({ backoffMs: 60_000, answerMs: 100 });
  apple.behave = ({ session }) => session.goaway(constants.NGHTTP2_NO_ERROR);
  assert.equal((await sender.send(delivery())).error, 'Apple did not answer in time');
  const next = await sender.send(delivery());
  assert.deepEqual([next.verdict, next.unavailable], ['failed', true]);
  assert.match(next.error ?? '', /^Apple has closed the connection \(GOAWAY NO_ERROR\); it is tried again in \d+ s$/);
  assert.deepEqual([apple.pushes.length, apple.connected], [1, 1]);
  await until(() => sender.openSessions === 0);
});

test('a connection that is cut fails what was sent on it, and those who waited go out on the next', async () => {
  const { apple, sender } = await stage.scene({}, 3);
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
  const { apple, sender } = await stage.scene({ pingEveryMs: 50, pingMs: 500, answerMs: 60_000 });
  await sender.send(delivery());
  // Several PINGs that are answered leave it as it is.
  let pings = 0;
  for (const session of apple.sessions) session.on('ping', () => (pings += 1));
  await until(() => pings === 3);
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
  const { apple, sender } = await stage.scene({ pingMs: 500, answerMs: 500 });
  await sender.send(delivery());
  apple.stall();
  assert.equal((await sender.send(delivery())).error, 'Apple did not answer in time');
  await until(() => sender.openSessions === 0);
  assert.equal((await sender.send(delivery())).verdict, 'delivered');
});

test('a certificate that is not to be trusted, or is for another name, is not spoken to', async () => {
  for (const [tls, ca, code] of [
    [selfSigned, null, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    [forAnotherName, forAnotherName.cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [selfSigned, forAnotherName.cert, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ] as const) {
    const apple = await stage.apple(1_000, tls);
    const sender = stage.sender(appleSettings(apple.url).settings, {}, ca);
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
  const sender = stage.sender(appleSettings(closed).settings, { backoffMs: 100, maxBackoffMs: 400 });
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
  const sender = stage.sender(appleSettings(silent).settings, { connectMs: 150 });
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
  stage.later(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

test('closing cuts off what is under way and waits, and nothing is sent after it', async () => {
  const { apple, sender } = await stage.scene();
  apple.behave = () => undefined;
  const sending = sendMany(sender, 3);
  await until(() => apple.pushes.length === 1);
  sender.close();
  for (const { verdict, error } of await sending) assert.deepEqual([verdict, error], ['failed', 'Usher is stopping']);
  assert.equal((await sender.send(delivery())).error, 'Usher is stopping');
  await until(() => sender.openSessions === 0 && apple.sessions.size === 0);
  assert.equal(apple.connected, 1);
});
