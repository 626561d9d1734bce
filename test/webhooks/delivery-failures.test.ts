import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { ServerResponse } from 'node:http';
import { engage, end, said, type Engaged } from '../support/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver, type Answering, type Receiver } from '../support/receiver.ts';
import { selfSigned } from '../support/certificate.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/webhooks.ts';

let receivers: Receiver[] = [];
const server = await forThisFile(startTestServer());
afterEach(async () => {
  for (const receiver of receivers) await receiver.close();
  receivers = [];
});

async function receive(tls?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(tls);
  receivers.push(receiver);
  return receiver;
}

interface Heard {
  readonly chat: Engaged;
  readonly receiver: Receiver;
  readonly hook: Json;
}

/** An engagement, and who is told what is said in it. */
async function hear(fields: Json = {}, receiver?: Receiver): Promise<Heard> {
  const listener = receiver ?? (await receive());
  const chat = await engage(server);
  const hook = await makeWebhook(server, chat.own, {
    url: listener.url,
    events: ['engagement.chat.message', 'engagement.end'],
    ...fields,
  });
  return { chat, receiver: listener, hook };
}

interface Logged {
  readonly state: string;
  readonly final: boolean;
  readonly status: number | null;
  readonly answer: string | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}

async function logOf({ hook }: Heard): Promise<Logged[]> {
  const rows = await server.database.sql<Logged[]>`
    SELECT state, final, status, answer, error, duration_ms
      FROM delivery_log WHERE webhook_id = ${hook.id} ORDER BY at, event_seq`;
  return [...rows];
}

interface Waiting {
  readonly state: string;
  readonly attempts: number;
  readonly parked: boolean;
  readonly delay: number | null;
}

async function waitingOf({ hook }: Heard): Promise<Waiting[]> {
  const rows = await server.database.sql<Waiting[]>`
    SELECT state, attempts, parked, extract(epoch FROM due_at - now())::float8 AS delay
      FROM deliveries WHERE webhook_id = ${hook.id} ORDER BY event_seq`;
  return [...rows];
}

/** What was put off falls due now. */
async function hurry({ hook }: Heard): Promise<void> {
  await server.database.sql`UPDATE deliveries SET due_at = now() WHERE webhook_id = ${hook.id} AND due_at > now()`;
}

/** Until it has failed so often. */
async function untilFailed(heard: Heard, times: number): Promise<void> {
  await until(async () => {
    await hurry(heard);
    return (await logOf(heard)).length >= times;
  }, 15_000);
}

const contentsAt = ({ arrived }: Receiver): string[] =>
  arrived.map(({ event }) => String(event.message?.content ?? event.event_type));

test('one attempt that succeeds is one row in the log, and nothing waits', async () => {
  const heard = await hear();
  heard.receiver.answer = () => (_, response) => response.writeHead(204).end();
  await said(heard.chat, heard.chat.visitor, 'one');
  await until(async () => (await logOf(heard)).length === 1);
  const [{ duration_ms: duration, ...logged } = assert.fail()] = await logOf(heard);
  assert.deepEqual(logged, { state: 'delivered', final: true, status: 204, answer: '', error: null });
  assert.ok(duration !== null && duration >= 0);
  assert.deepEqual(await waitingOf(heard), []);
});

const refusals: readonly (readonly [string, Answering, Partial<Logged>])[] = [
  ['a status of 500', 500, { status: 500, answer: 'taken', error: 'answered with status 500' }],
  ['a status of 404', 404, { status: 404, answer: 'taken', error: 'answered with status 404' }],
  [
    'a redirect, which is not followed',
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    { status: 302, answer: '', error: 'answered with status 302' },
  ],
  [
    'a connection that is cut before an answer',
    (request) => request.socket.destroy(),
    { status: null, answer: null, error: 'other side closed (UND_ERR_SOCKET)' },
  ],
  [
    'an answer that is none',
    (request) => request.socket.end('nonsense\r\n\r\n'),
    {
      status: null,
      answer: null,
      error: 'Response does not match the HTTP/1.1 protocol (Expected HTTP/, RTSP/ or ICE/)',
    },
  ],
  [
    'an answer with a NUL in it',
    (_, response) => response.writeHead(500).end('a\0b'),
    { status: 500, answer: 'a\uFFFDb', error: 'answered with status 500' },
  ],
];
for (const [name, answer, expected] of refusals)
  test(`${name} is a failure, and is tried again after five seconds or so`, async () => {
    const heard = await hear();
    heard.receiver.answer = () => answer;
    await said(heard.chat, heard.chat.visitor, 'one');
    await until(async () => (await logOf(heard)).length === 1);
    const [{ duration_ms: _, ...logged } = assert.fail()] = await logOf(heard);
    assert.deepEqual(logged, { state: 'retrying', final: false, ...expected });
    const [waiting] = await waitingOf(heard);
    assert.ok(waiting?.state === 'retrying' && waiting.attempts === 1 && !waiting.parked);
    assert.ok((waiting.delay ?? 0) > 2 && (waiting.delay ?? 0) <= 6, `in ${waiting.delay} seconds`);
    heard.receiver.answer = () => 200;
    await untilFailed(heard, 2);
    assert.equal(heard.receiver.arrived.length, 2);
    assert.equal(heard.receiver.arrived[0]?.body, heard.receiver.arrived[1]?.body);
  });

test('of an endless answer 64 KiB are read at most, and 4 KiB kept; its status counts', async () => {
  const heard = await hear();
  let sent = 0;
  heard.receiver.answer = () => (_, response) => {
    response.writeHead(200);
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1_024, 'x'))) sent += 1_024;
      if (!response.destroyed) response.once('drain', pour);
    };
    pour();
  };
  await said(heard.chat, heard.chat.visitor, 'one');
  await until(async () => (await logOf(heard)).length === 1);
  const [logged] = await logOf(heard);
  assert.deepEqual([logged?.state, logged?.answer], ['delivered', 'x'.repeat(4_096)]);
  // What the sockets between us hold may be written by then, but not more.
  assert.ok(sent < 20_000_000, `${sent} bytes`);
});

test('one that does not answer in time has failed; one that drips after its status has not', async () => {
  const [silent, dripping] = [await hear(), await hear()];
  silent.receiver.answer = () => () => undefined;
  dripping.receiver.answer = () => (_, response) => drip(response);
  await said(silent.chat, silent.chat.visitor, 'one');
  await said(dripping.chat, dripping.chat.visitor, 'one');
  await until(async () => (await logOf(silent)).length + (await logOf(dripping)).length === 2, 20_000);
  const [failed] = await logOf(silent);
  assert.deepEqual([failed?.state, failed?.error], ['retrying', 'no complete answer within 15 seconds']);
  assert.ok((failed?.duration_ms ?? 0) >= 15_000 && (failed?.duration_ms ?? 0) < 17_000);
  const [taken] = await logOf(dripping);
  assert.equal(taken?.state, 'delivered');
});

function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 100);
  response.on('close', () => clearInterval(timer));
}

test('Retry-After is heard, in seconds and as a date, up to twice the step', async () => {
  for (const [value, least, most] of [
    [() => '9', 7, 9],
    [() => '100000', 8, 10],
    [() => new Date(Date.now() + 9_000).toUTCString(), 5, 9],
    [() => 'soon', 2, 6],
  ] as const) {
    const heard = await hear();
    heard.receiver.answer = () => (_, response) => response.writeHead(503, { 'retry-after': value() }).end();
    await said(heard.chat, heard.chat.visitor, 'one');
    await until(async () => (await logOf(heard)).length === 1);
    const [{ delay } = assert.fail()] = await waitingOf(heard);
    assert.ok(delay !== null && delay >= least && delay <= most, `${value()}: in ${delay} seconds`);
  }
});

test('D8.7: what follows waits for one that fails, until it has failed three times; then it goes on alone', async () => {
  const heard = await hear();
  const { chat, receiver } = heard;
  receiver.answer = ({ event }) => (event.message?.content === 'bad' ? 500 : 200);
  for (const content of ['first', 'bad', 'third', 'fourth']) await said(chat, chat.visitor, content);
  await until(async () => (await logOf(heard)).length === 2);
  await untilFailed(heard, 3);
  assert.deepEqual(contentsAt(receiver), ['first', 'bad', 'bad']);
  await end(chat);
  await until(async () => {
    await hurry(heard);
    return contentsAt(receiver).includes('engagement.end');
  }, 10_000);
  await until(async () => (await waitingOf(heard)).length === 1);
  const [parked] = await waitingOf(heard);
  assert.deepEqual([parked?.state, parked?.parked], ['retrying', true]);
  assert.deepEqual(
    contentsAt(receiver).filter((content) => content !== 'bad'),
    ['first', 'third', 'fourth', 'engagement.end'],
  );
  assert.equal(contentsAt(receiver).indexOf('third'), 4);
  receiver.answer = () => 200;
  await until(async () => {
    await hurry(heard);
    return (await waitingOf(heard)).length === 0;
  });
});

test('with ordering none, what follows does not wait', async () => {
  const heard = await hear({ ordering: 'none' });
  const { chat, receiver } = heard;
  receiver.answer = ({ event }) => (event.message?.content === 'bad' ? 500 : 200);
  for (const content of ['bad', 'second']) await said(chat, chat.visitor, content);
  // In either order: neither waits for the other.
  await until(() => receiver.arrived.length >= 2);
  assert.deepEqual(contentsAt(receiver).toSorted(), ['bad', 'second']);
});

test('after eleven retries it is exhausted, and each attempt is in the log', async () => {
  const heard = await hear();
  heard.receiver.answer = () => 500;
  await said(heard.chat, heard.chat.visitor, 'one');
  await until(async () => (await logOf(heard)).length === 1);
  await untilFailed(heard, 12);
  const log = await logOf(heard);
  assert.deepEqual(
    log.map(({ state }) => state),
    [...Array.from({ length: 11 }, () => 'retrying'), 'exhausted'],
  );
  assert.deepEqual(
    log.map(({ final }) => final),
    log.map((_, index) => index === 11),
  );
  assert.deepEqual(await waitingOf(heard), []);
});

test('D8.11: typing that failed twice is discarded', async () => {
  const type = 'engagement.chat.typing_indicator.visitor';
  const heard = await hear({ events: [type] });
  heard.receiver.answer = () => 500;
  const path = `PUT /engagements/${heard.chat.id}/typing_indicator`;
  await call(server, path, { token: heard.chat.visitor.token, body: { typing: true } });
  await until(async () => (await logOf(heard)).length === 1);
  await untilFailed(heard, 2);
  assert.deepEqual(
    (await logOf(heard)).map(({ state, final }) => [state, final]),
    [
      ['retrying', false],
      ['discarded', true],
    ],
  );
});

test('410 disables the webhook, and what waits is held', async () => {
  const heard = await hear();
  const { chat, hook, receiver } = heard;
  receiver.answer = () => 410;
  for (const content of ['one', 'two', 'three']) await said(chat, chat.visitor, content);
  const show = async () => (await call(server, `GET /webhooks/${hook.id}`, { token: chat.own.admin })).body;
  await until(async () => (await show()).enabled === false);
  assert.equal((await show()).disabled_because, 'gone');
  await until(async () => (await waitingOf(heard)).every(({ state }) => state === 'held'));
  assert.equal((await waitingOf(heard)).length, 3);
  assert.equal(receiver.arrived.length, 1);
  const [logged] = await logOf(heard);
  assert.deepEqual([logged?.state, logged?.status, logged?.final], ['held', 410, false]);
});

test('five days without one success disable it; a success in between begins anew', async () => {
  const heard = await hear();
  const { chat, hook, receiver } = heard;
  const sql = server.database.sql;
  const show = async () => (await call(server, `GET /webhooks/${hook.id}`, { token: chat.own.admin })).body;
  receiver.answer = () => 500;
  await said(chat, chat.visitor, 'one');
  await until(async () => (await show()).failing_since !== null);
  receiver.answer = () => 200;
  await until(async () => {
    await hurry(heard);
    return (await show()).failing_since === null;
  });
  receiver.answer = () => 500;
  await said(chat, chat.visitor, 'two');
  await until(async () => (await show()).failing_since !== null);
  await sql`UPDATE webhooks SET failing_since = now() - interval '5 days 1 minute', url = url WHERE id = ${hook.id}`;
  await until(async () => {
    await hurry(heard);
    return (await show()).enabled === false;
  }, 10_000);
  assert.equal((await show()).disabled_because, 'failing');
  await until(async () => (await waitingOf(heard)).every(({ state }) => state === 'held'));
});

test('a certificate that nobody vouches for is refused', async () => {
  const heard = await hear({}, await receive(selfSigned));
  await said(heard.chat, heard.chat.visitor, 'one');
  await until(async () => (await logOf(heard)).length === 1);
  const [logged] = await logOf(heard);
  assert.equal(logged?.status, null);
  assert.match(logged?.error ?? '', /certificate|SELF_SIGNED/i);
  assert.equal(heard.receiver.arrived.length, 0);
});

test('an address that must not be called is not called, whatever was registered', async () => {
  const receiver = await receive();
  await using strict = await startTestServer({ webhookAllowCidrs: [] });
  const chat = await engage(strict);
  const fields = { url: 'https://receiver.invalid/hook', events: ['engagement.chat.message'] };
  const hook = await makeWebhook(strict, chat.own, fields);
  // As if the name meant something else by now.
  const sql = strict.database.sql;
  await sql`UPDATE destinations SET origin = ${new URL(receiver.url).origin}`;
  await sql`UPDATE webhooks SET url = ${receiver.url}`;
  await said(chat, chat.visitor, 'one');
  const read = async () => sql<Logged[]>`SELECT status, error FROM delivery_log WHERE webhook_id = ${hook.id}`;
  await until(async () => (await read()).length === 1);
  assert.deepEqual({ ...(await read())[0] }, { status: null, error: 'the address may not be called' });
  assert.equal(receiver.arrived.length, 0);
});

test('a receiver that is away is left alone for a while, and then sent everything in order', async () => {
  const heard = await hear();
  const { chat, receiver } = heard;
  await said(chat, chat.visitor, '0');
  await until(() => receiver.arrived.length === 1);
  await receiver.close();
  for (let index = 1; index <= 8; index += 1) await said(chat, chat.visitor, String(index));
  await until(async () => (await logOf(heard)).length >= 2);
  await receiver.open();
  await until(async () => {
    await hurry(heard);
    return receiver.arrived.length >= 9;
  }, 20_000);
  assert.deepEqual(contentsAt(receiver), ['0', '1', '2', '3', '4', '5', '6', '7', '8']);
});
