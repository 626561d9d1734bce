import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { engage, sendText, type Engaged } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver, type ReceiverAnswer, type Receiver } from '../support/receivers/receiver.ts';
import { startTestServer, until } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { makeWebhook, webhookRow } from '../support/receivers/webhooks.ts';

/**
 * A receiver that accepts requests and never answers. The first request times out after 15 s, the next ones after 5 s until one
 * is answered. Later events of the same engagement wait for three attempts at most.
 */
const isLong = process.env['PROVE'] !== undefined;

const receivers: Receiver[] = [];
const server = await forThisFile(startTestServer());
after(async () => {
  for (const receiver of receivers) await receiver.close();
});

interface Setup {
  readonly chat: Engaged;
  readonly receiver: Receiver;
  readonly webhookId: string;
  readonly destinationId: string;
}

async function setUp(): Promise<Setup> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const chat = await engage(server);
  const { id } = await makeWebhook(server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
  return { chat, receiver, webhookId: id, destinationId: (await webhookRow(server, id)).destination_id };
}

async function isUnresponsive({ destinationId }: Setup): Promise<boolean> {
  const [row] = await server.database.sql<{ is: boolean }[]>`
    SELECT is_unresponsive AS is FROM destinations WHERE id = ${destinationId}`;
  return row?.is === true;
}

async function attemptsOf({ webhookId }: Setup): Promise<{ state: string; error: string | null; ms: number }[]> {
  return server.database.sql<{ state: string; error: string | null; ms: number }[]>`
    SELECT state, error, duration_ms AS ms FROM delivery_log WHERE webhook_id = ${webhookId} ORDER BY at`;
}

test('requests to an unresponsive destination time out after 5 s in every process, until it answers', async () => {
  const setup = await setUp();
  const { chat, receiver } = setup;
  receiver.answer = () => () => undefined;
  // As another process left it.
  await server.database.sql`UPDATE destinations SET is_unresponsive = true WHERE id = ${setup.destinationId}`;
  await sendText(chat, chat.visitor, 'one');
  await until(async () => (await attemptsOf(setup)).length === 1);
  const [first] = await attemptsOf(setup);
  assert.deepEqual([first?.state, first?.error], ['retrying', 'no complete answer within 5 seconds']);
  assert.ok((first?.ms ?? 0) >= 5_000 && (first?.ms ?? 0) < 7_000, `${first?.ms} ms`);
  assert.equal(await isUnresponsive(setup), true);
  // Any response counts as an answer.
  receiver.answer = () => 500;
  await until(async () => (await attemptsOf(setup)).length === 2);
  await until(async () => !(await isUnresponsive(setup)));
});

test('D8.18 after the first timeout of 15 s the next request times out after 5 s', { timeout: hangMs }, async () => {
  const setup = await setUp();
  const { chat, receiver } = setup;
  receiver.answer = () => () => undefined;
  await sendText(chat, chat.visitor, 'one');
  await until(async () => (await attemptsOf(setup)).length === 2, 60_000);
  const errors = (await attemptsOf(setup)).map(({ error }) => error);
  assert.deepEqual(errors, ['no complete answer within 15 seconds', 'no complete answer within 5 seconds']);
});

test('an incomplete response is a timeout, unless its status is a success', async () => {
  const begin = (status: number) => (): ReceiverAnswer => (_request, response) => {
    response.writeHead(status, { 'content-length': '100' }).write('begun');
  };
  for (const [status, state, isStillUnresponsive] of [
    [500, 'retrying', true],
    [200, 'delivered', false],
  ] as const) {
    const setup = await setUp();
    const { chat, receiver } = setup;
    receiver.answer = begin(status);
    await server.database.sql`UPDATE destinations SET is_unresponsive = true WHERE id = ${setup.destinationId}`;
    await sendText(chat, chat.visitor, 'one');
    await until(async () => (await attemptsOf(setup)).length === 1, 15_000);
    const [first] = await attemptsOf(setup);
    assert.deepEqual([first?.state, first?.error], [state, 'no complete answer within 5 seconds']);
    assert.equal(await isUnresponsive(setup), isStillUnresponsive);
  }
});

async function measureDelay(): Promise<void> {
  const setup = await setUp();
  const { chat, receiver } = setup;
  const started = Date.now();
  let delayMs = 0;
  receiver.answer = ({ event }) => {
    if (event.message.content === 'one') return () => undefined;
    delayMs = Date.now() - started;
    return 200;
  };
  await sendText(chat, chat.visitor, 'one');
  await sendText(chat, chat.visitor, 'two');
  await until(() => delayMs > 0, 120_000);
  const attempts = (await attemptsOf(setup)).map(({ ms }) => ms);
  console.log(JSON.stringify({ delayMs, attempts }));
  assert.ok(delayMs > 50_000 && delayMs < 69_000, `${delayMs} ms`);
}

if (isLong)
  test('an event that is never answered delays its engagement for about a minute', { timeout: hangMs }, measureDelay);
