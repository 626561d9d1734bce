import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { engage, said, type Engaged } from '../support/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver, type Answering, type Receiver } from '../support/receiver.ts';
import { startTestServer, until } from '../support/server.ts';
import { makeWebhook, rowOf } from '../support/webhooks.ts';

/**
 * A receiver that takes requests and never answers them. The first request waits for 15 s, further ones for 5 s until one is
 * answered; what follows in the same engagement waits for three attempts at most.
 */
const isLong = process.env['PROVE'] !== undefined;

const receivers: Receiver[] = [];
const server = await forThisFile(startTestServer());
after(async () => {
  for (const receiver of receivers) await receiver.close();
});

interface Scene {
  readonly chat: Engaged;
  readonly receiver: Receiver;
  readonly webhookId: string;
  readonly destinationId: string;
}

async function scene(): Promise<Scene> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const chat = await engage(server);
  const { id } = await makeWebhook(server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
  return { chat, receiver, webhookId: id, destinationId: (await rowOf(server, id)).destination_id };
}

async function isUnresponsive({ destinationId }: Scene): Promise<boolean> {
  const [row] = await server.database.sql<{ is: boolean }[]>`
    SELECT is_unresponsive AS is FROM destinations WHERE id = ${destinationId}`;
  return row?.is === true;
}

async function attemptsOf({ webhookId }: Scene): Promise<{ state: string; error: string | null; ms: number }[]> {
  return server.database.sql<{ state: string; error: string | null; ms: number }[]>`
    SELECT state, error, duration_ms AS ms FROM delivery_log WHERE webhook_id = ${webhookId} ORDER BY at`;
}

test('a destination that did not answer is waited for 5 s, by whichever process, until it answers', async () => {
  const stage = await scene();
  const { chat, receiver } = stage;
  receiver.answer = () => () => undefined;
  // As another process has left it.
  await server.database.sql`UPDATE destinations SET is_unresponsive = true WHERE id = ${stage.destinationId}`;
  await said(chat, chat.visitor, 'one');
  await until(async () => (await attemptsOf(stage)).length === 1);
  const [first] = await attemptsOf(stage);
  assert.deepEqual([first?.state, first?.error], ['retrying', 'no complete answer within 5 seconds']);
  assert.ok((first?.ms ?? 0) >= 5_000 && (first?.ms ?? 0) < 7_000, `${first?.ms} ms`);
  assert.equal(await isUnresponsive(stage), true);
  // Any answer will do.
  receiver.answer = () => 500;
  await until(async () => (await attemptsOf(stage)).length === 2);
  await until(async () => !(await isUnresponsive(stage)));
});

test('the first request that is not answered in time makes the next wait for less', { timeout: 120_000 }, async () => {
  const stage = await scene();
  const { chat, receiver } = stage;
  receiver.answer = () => () => undefined;
  await said(chat, chat.visitor, 'one');
  await until(async () => (await attemptsOf(stage)).length === 2, 60_000);
  const errors = (await attemptsOf(stage)).map(({ error }) => error);
  assert.deepEqual(errors, ['no complete answer within 15 seconds', 'no complete answer within 5 seconds']);
});

test('an answer that is begun and not ended in time is none, unless it says that the event was taken', async () => {
  const begin = (status: number) => (): Answering => (_request, response) => {
    response.writeHead(status, { 'content-length': '100' }).write('begun');
  };
  for (const [status, state, isStillUnresponsive] of [
    [500, 'retrying', true],
    [200, 'delivered', false],
  ] as const) {
    const stage = await scene();
    const { chat, receiver } = stage;
    receiver.answer = begin(status);
    await server.database.sql`UPDATE destinations SET is_unresponsive = true WHERE id = ${stage.destinationId}`;
    await said(chat, chat.visitor, 'one');
    await until(async () => (await attemptsOf(stage)).length === 1, 15_000);
    const [first] = await attemptsOf(stage);
    assert.deepEqual([first?.state, first?.error], [state, 'no complete answer within 5 seconds']);
    assert.equal(await isUnresponsive(stage), isStillUnresponsive);
  }
});

async function measureHoldUp(): Promise<void> {
  const stage = await scene();
  const { chat, receiver } = stage;
  const started = Date.now();
  let held = 0;
  receiver.answer = ({ event }) => {
    if (event.message.content === 'one') return () => undefined;
    held = Date.now() - started;
    return 200;
  };
  await said(chat, chat.visitor, 'one');
  await said(chat, chat.visitor, 'two');
  await until(() => held > 0, 120_000);
  const attempts = (await attemptsOf(stage)).map(({ ms }) => ms);
  console.log(JSON.stringify({ heldUpMs: held, attempts }));
  assert.ok(held > 50_000 && held < 69_000, `${held} ms`);
}

if (isLong)
  test(
    'an event that is never answered holds up its engagement for about a minute',
    { timeout: 240_000 },
    measureHoldUp,
  );
