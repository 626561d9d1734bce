import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { ServerResponse } from 'node:http';
import { engage, end, sendText, type Engaged } from '../../support/people/chat.ts';
import { forThisFile } from '../../support/fixture.ts';
import { startReceiver, type ReceiverAnswer, type Receiver } from '../../support/receivers/receiver.ts';
import { selfSigned } from '../../support/network/certificate.ts';
import { call, startTestServer, until, type Json } from '../../support/server.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';

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

interface ChatWithWebhook {
  readonly chat: Engaged;
  readonly receiver: Receiver;
  readonly hook: Json;
}

/** Starts an engagement whose messages go to a webhook. */
async function engageWithWebhook(fields: Json = {}, receiver?: Receiver): Promise<ChatWithWebhook> {
  const target = receiver ?? (await receive());
  const chat = await engage(server);
  const hook = await makeWebhook(server, chat.own, {
    url: target.url,
    events: ['engagement.chat.message', 'engagement.end'],
    ...fields,
  });
  return { chat, receiver: target, hook };
}

interface LoggedAttempt {
  readonly state: string;
  readonly final: boolean;
  readonly status: number | null;
  readonly answer: string | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}

async function attemptsOf({ hook }: ChatWithWebhook): Promise<LoggedAttempt[]> {
  const rows = await server.database.sql<LoggedAttempt[]>`
    SELECT state, final, status, answer, error, duration_ms
      FROM delivery_log WHERE webhook_id = ${hook.id} ORDER BY at, event_seq`;
  return [...rows];
}

interface WaitingDelivery {
  readonly state: string;
  readonly attempts: number;
  readonly parked: boolean;
  readonly delay: number | null;
}

async function deliveriesOf({ hook }: ChatWithWebhook): Promise<WaitingDelivery[]> {
  const rows = await server.database.sql<WaitingDelivery[]>`
    SELECT state, attempts, parked, extract(epoch FROM due_at - now())::float8 AS delay
      FROM deliveries WHERE webhook_id = ${hook.id} ORDER BY event_seq`;
  return [...rows];
}

/** Makes delayed deliveries due now. */
async function makeDue({ hook }: ChatWithWebhook): Promise<void> {
  await server.database.sql`UPDATE deliveries SET due_at = now() WHERE webhook_id = ${hook.id} AND due_at > now()`;
}

/** Waits until there were this many attempts. */
async function untilAttempts(setup: ChatWithWebhook, times: number): Promise<void> {
  await until(async () => {
    await makeDue(setup);
    return (await attemptsOf(setup)).length >= times;
  }, 15_000);
}

const contentsAt = ({ arrived }: Receiver): string[] =>
  arrived.map(({ event }) => String(event.message?.content ?? event.event_type));

test('a successful attempt is one row in the log, and no delivery is left waiting', async () => {
  const setup = await engageWithWebhook();
  setup.receiver.answer = () => (_, response) => response.writeHead(204).end();
  await sendText(setup.chat, setup.chat.visitor, 'one');
  await until(async () => (await attemptsOf(setup)).length === 1);
  const [{ duration_ms: duration, ...logged } = assert.fail()] = await attemptsOf(setup);
  assert.deepEqual(logged, { state: 'delivered', final: true, status: 204, answer: '', error: null });
  assert.ok(duration !== null && duration >= 0);
  assert.deepEqual(await deliveriesOf(setup), []);
});

const refusals: readonly (readonly [string, ReceiverAnswer, Partial<LoggedAttempt>])[] = [
  ['a status of 500', 500, { status: 500, answer: 'taken', error: 'answered with status 500' }],
  ['a status of 404', 404, { status: 404, answer: 'taken', error: 'answered with status 404' }],
  [
    'a redirect, which is not followed,',
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    { status: 302, answer: '', error: 'answered with status 302' },
  ],
  [
    'a connection that closes before the response',
    (request) => request.socket.destroy(),
    { status: null, answer: null, error: 'other side closed (UND_ERR_SOCKET)' },
  ],
  [
    'a response that is not HTTP',
    (request) => request.socket.end('nonsense\r\n\r\n'),
    {
      status: null,
      answer: null,
      error: 'Response does not match the HTTP/1.1 protocol (Expected HTTP/, RTSP/ or ICE/)',
    },
  ],
  [
    'a response with a NUL character',
    (_, response) => response.writeHead(500).end('a\0b'),
    { status: 500, answer: 'a\uFFFDb', error: 'answered with status 500' },
  ],
  [
    'a response with quotes, backslashes, braces and line breaks',
    (_, response) => response.writeHead(500).end('{"a": "\\"b\\\\", NULL}\r\n\t\'õ👋,'),
    { status: 500, answer: '{"a": "\\"b\\\\", NULL}\r\n\t\'õ👋,', error: 'answered with status 500' },
  ],
  [
    'a response with the text NULL',
    (_, response) => response.writeHead(500).end('NULL'),
    { status: 500, answer: 'NULL', error: 'answered with status 500' },
  ],
];
for (const [name, answer, expected] of refusals)
  test(`${name} is a failure and is retried after about 5 s`, async () => {
    const setup = await engageWithWebhook();
    setup.receiver.answer = () => answer;
    await sendText(setup.chat, setup.chat.visitor, 'one');
    await until(async () => (await attemptsOf(setup)).length === 1);
    const [{ duration_ms: _, ...logged } = assert.fail()] = await attemptsOf(setup);
    assert.deepEqual(logged, { state: 'retrying', final: false, ...expected });
    const [waiting] = await deliveriesOf(setup);
    assert.ok(waiting?.state === 'retrying' && waiting.attempts === 1 && !waiting.parked);
    assert.ok((waiting.delay ?? 0) > 2 && (waiting.delay ?? 0) <= 6, `in ${waiting.delay} seconds`);
    setup.receiver.answer = () => 200;
    await untilAttempts(setup, 2);
    assert.equal(setup.receiver.arrived.length, 2);
    assert.equal(setup.receiver.arrived[0]?.body, setup.receiver.arrived[1]?.body);
  });

test('an endless response counts by its status; at most 64 KiB are read and 4 KiB stored', async () => {
  const setup = await engageWithWebhook();
  let sent = 0;
  setup.receiver.answer = () => (_, response) => {
    response.writeHead(200);
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1_024, 'x'))) sent += 1_024;
      if (!response.destroyed) response.once('drain', pour);
    };
    pour();
  };
  await sendText(setup.chat, setup.chat.visitor, 'one');
  await until(async () => (await attemptsOf(setup)).length === 1);
  const [logged] = await attemptsOf(setup);
  assert.deepEqual([logged?.state, logged?.answer], ['delivered', 'x'.repeat(4_096)]);
  // The receiver can write only what fits into the socket buffers.
  assert.ok(sent < 20_000_000, `${sent} bytes`);
});

test('a delivery without a response in time has failed; one with a slow body after status 200 has not', async () => {
  const [silent, dripping] = [await engageWithWebhook(), await engageWithWebhook()];
  silent.receiver.answer = () => () => undefined;
  dripping.receiver.answer = () => (_, response) => drip(response);
  await sendText(silent.chat, silent.chat.visitor, 'one');
  await sendText(dripping.chat, dripping.chat.visitor, 'one');
  await until(async () => (await attemptsOf(silent)).length + (await attemptsOf(dripping)).length === 2, 20_000);
  const [failed] = await attemptsOf(silent);
  assert.deepEqual([failed?.state, failed?.error], ['retrying', 'no complete answer within 15 seconds']);
  assert.ok((failed?.duration_ms ?? 0) >= 15_000 && (failed?.duration_ms ?? 0) < 17_000);
  const [taken] = await attemptsOf(dripping);
  assert.equal(taken?.state, 'delivered');
});

function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 100);
  response.on('close', () => clearInterval(timer));
}

test('Retry-After is respected, in seconds and as a date, up to twice the delay of the step', async () => {
  for (const [value, minSec, maxSec] of [
    [() => '9', 7, 9],
    [() => '100000', 8, 10],
    [() => new Date(Date.now() + 9_000).toUTCString(), 5, 9],
    [() => 'soon', 2, 6],
  ] as const) {
    const setup = await engageWithWebhook();
    setup.receiver.answer = () => (_, response) => response.writeHead(503, { 'retry-after': value() }).end();
    await sendText(setup.chat, setup.chat.visitor, 'one');
    await until(async () => (await attemptsOf(setup)).length === 1);
    const [{ delay } = assert.fail()] = await deliveriesOf(setup);
    assert.ok(delay !== null && delay >= minSec && delay <= maxSec, `${value()}: in ${delay} seconds`);
  }
});

test('D8.7: later deliveries wait for a failing one until it has failed three times; then it is parked', async () => {
  const setup = await engageWithWebhook();
  const { chat, receiver } = setup;
  receiver.answer = ({ event }) => (event.message?.content === 'bad' ? 500 : 200);
  for (const content of ['first', 'bad', 'third', 'fourth']) await sendText(chat, chat.visitor, content);
  await until(async () => (await attemptsOf(setup)).length === 2);
  await untilAttempts(setup, 3);
  assert.deepEqual(contentsAt(receiver), ['first', 'bad', 'bad']);
  await end(chat);
  await until(async () => {
    await makeDue(setup);
    return contentsAt(receiver).includes('engagement.end');
  }, 10_000);
  await until(async () => (await deliveriesOf(setup)).length === 1);
  const [parked] = await deliveriesOf(setup);
  assert.deepEqual([parked?.state, parked?.parked], ['retrying', true]);
  assert.deepEqual(
    contentsAt(receiver).filter((content) => content !== 'bad'),
    ['first', 'third', 'fourth', 'engagement.end'],
  );
  assert.equal(contentsAt(receiver).indexOf('third'), 4);
  receiver.answer = () => 200;
  await until(async () => {
    await makeDue(setup);
    return (await deliveriesOf(setup)).length === 0;
  });
});

test('with ordering none, later deliveries do not wait for a failing one', async () => {
  const setup = await engageWithWebhook({ ordering: 'none' });
  const { chat, receiver } = setup;
  receiver.answer = ({ event }) => (event.message?.content === 'bad' ? 500 : 200);
  for (const content of ['bad', 'second']) await sendText(chat, chat.visitor, content);
  // In any order: neither waits for the other.
  await until(() => receiver.arrived.length >= 2);
  assert.deepEqual(contentsAt(receiver).toSorted(), ['bad', 'second']);
});

test('after eleven retries a delivery is exhausted, and each attempt is in the log', async () => {
  const setup = await engageWithWebhook();
  setup.receiver.answer = () => 500;
  await sendText(setup.chat, setup.chat.visitor, 'one');
  await until(async () => (await attemptsOf(setup)).length === 1);
  await untilAttempts(setup, 12);
  const log = await attemptsOf(setup);
  assert.deepEqual(
    log.map(({ state }) => state),
    [...Array.from({ length: 11 }, () => 'retrying'), 'exhausted'],
  );
  assert.deepEqual(
    log.map(({ final }) => final),
    log.map((_, index) => index === 11),
  );
  assert.deepEqual(await deliveriesOf(setup), []);
});

test('D8.11: a typing event that failed twice is discarded', async () => {
  const type = 'engagement.chat.typing_indicator.visitor';
  const setup = await engageWithWebhook({ events: [type] });
  setup.receiver.answer = () => 500;
  const path = `PUT /engagements/${setup.chat.id}/typing_indicator`;
  await call(server, path, { token: setup.chat.visitor.token, body: { typing: true } });
  await until(async () => (await attemptsOf(setup)).length === 1);
  await untilAttempts(setup, 2);
  assert.deepEqual(
    (await attemptsOf(setup)).map(({ state, final }) => [state, final]),
    [
      ['retrying', false],
      ['discarded', true],
    ],
  );
});

test('410 disables the webhook, and its waiting deliveries are held', async () => {
  const setup = await engageWithWebhook();
  const { chat, hook, receiver } = setup;
  receiver.answer = () => 410;
  for (const content of ['one', 'two', 'three']) await sendText(chat, chat.visitor, content);
  const show = async () => (await call(server, `GET /webhooks/${hook.id}`, { token: chat.own.admin })).body;
  await until(async () => (await show()).enabled === false);
  assert.equal((await show()).disabled_because, 'gone');
  await until(async () => (await deliveriesOf(setup)).every(({ state }) => state === 'held'));
  assert.equal((await deliveriesOf(setup)).length, 3);
  assert.equal(receiver.arrived.length, 1);
  const [logged] = await attemptsOf(setup);
  assert.deepEqual([logged?.state, logged?.status, logged?.final], ['held', 410, false]);
});

test('five days without a success disable a webhook, and a success restarts the five days', async () => {
  const setup = await engageWithWebhook();
  const { chat, hook, receiver } = setup;
  const sql = server.database.sql;
  const show = async () => (await call(server, `GET /webhooks/${hook.id}`, { token: chat.own.admin })).body;
  receiver.answer = () => 500;
  await sendText(chat, chat.visitor, 'one');
  await until(async () => (await show()).failing_since !== null);
  receiver.answer = () => 200;
  await until(async () => {
    await makeDue(setup);
    return (await show()).failing_since === null;
  });
  receiver.answer = () => 500;
  await sendText(chat, chat.visitor, 'two');
  await until(async () => (await show()).failing_since !== null);
  await sql`UPDATE webhooks SET failing_since = now() - interval '5 days 1 minute', url = url WHERE id = ${hook.id}`;
  await until(async () => {
    await makeDue(setup);
    return (await show()).enabled === false;
  }, 10_000);
  assert.equal((await show()).disabled_because, 'failing');
  await until(async () => (await deliveriesOf(setup)).every(({ state }) => state === 'held'));
});

test('an untrusted certificate is refused', async () => {
  const setup = await engageWithWebhook({}, await receive(selfSigned));
  await sendText(setup.chat, setup.chat.visitor, 'one');
  await until(async () => (await attemptsOf(setup)).length === 1);
  const [logged] = await attemptsOf(setup);
  assert.equal(logged?.status, null);
  assert.match(logged?.error ?? '', /certificate|SELF_SIGNED/i);
  assert.equal(setup.receiver.arrived.length, 0);
});

test('a forbidden address is not called, even if it was registered', async () => {
  const receiver = await receive();
  await using strict = await startTestServer({ webhookAllowCidrs: [] });
  const chat = await engage(strict);
  const fields = { url: 'https://receiver.invalid/hook', events: ['engagement.chat.message'] };
  const hook = await makeWebhook(strict, chat.own, fields);
  // As if the name now resolved to another address.
  const sql = strict.database.sql;
  await sql`UPDATE destinations SET origin = ${new URL(receiver.url).origin}`;
  await sql`UPDATE webhooks SET url = ${receiver.url}`;
  await sendText(chat, chat.visitor, 'one');
  const read = async () => sql<LoggedAttempt[]>`SELECT status, error FROM delivery_log WHERE webhook_id = ${hook.id}`;
  await until(async () => (await read()).length === 1);
  assert.deepEqual({ ...(await read())[0] }, { status: null, error: 'the address is not allowed' });
  assert.equal(receiver.arrived.length, 0);
});

test('a receiver that was down receives everything in order when it is back', async () => {
  const setup = await engageWithWebhook();
  const { chat, receiver } = setup;
  await sendText(chat, chat.visitor, '0');
  await until(() => receiver.arrived.length === 1);
  await receiver.close();
  for (let index = 1; index <= 8; index += 1) await sendText(chat, chat.visitor, String(index));
  await until(async () => (await attemptsOf(setup)).length >= 2);
  await receiver.open();
  await until(async () => {
    await makeDue(setup);
    return receiver.arrived.length >= 9;
  }, 20_000);
  assert.deepEqual(contentsAt(receiver), ['0', '1', '2', '3', '4', '5', '6', '7', '8']);
});
