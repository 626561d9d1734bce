import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpSender } from '../../packages/server/src/channels/http/sender.ts';
import { finished, unfinished, type RawAnswer } from '../support/receivers/raw-answers.ts';
import { requestBody, ScriptedReceiver } from '../support/receivers/scripted-connections.ts';
import { UndiciSender } from '../support/receivers/undici-sender.ts';

/**
 * Deliveries limit answers and reuse connections more strictly than a plain client of undici. These tests send the same answers, usual
 * and odd and broken, to both, and compare what the rest of the system sees of them.
 */
interface Seen {
  readonly status: number | null;
  readonly body: string | null;
  readonly retryAfterMs: number | null;
  /** There was no answer, or it was incomplete or invalid. */
  readonly failed: boolean;
}

interface Result {
  readonly first: Seen;
  readonly second: Seen;
  /** The second request was sent over the connection of the first. */
  readonly reused: boolean;
}

const origin = 'http://receiver.example';
const answerMs = 10_000;

interface Setup {
  readonly raw: RawAnswer;
  readonly pieceBytes: number;
  readonly timeoutMs?: number;
}

async function ask(setup: Setup, send: (receiver: ScriptedReceiver) => () => Promise<Seen>): Promise<Result> {
  const receiver = new ScriptedReceiver(setup.raw, setup.pieceBytes);
  const sendOne = send(receiver);
  const first = await sendOne();
  // An unfinished answer is never sent completely.
  if (setup.timeoutMs === undefined) await receiver.settled();
  const second = await sendOne();
  return { first, second, reused: receiver.connections === 1 };
}

async function askOurs(setup: Setup): Promise<Result> {
  const { raw, timeoutMs = answerMs } = setup;
  const { method = 'POST' } = raw;
  return ask(setup, ({ connect }) => {
    const sender = new HttpSender(origin, connect);
    const request = { method, path: '/hook', headers: {}, body: requestBody };
    return async () => {
      const { status, answer, retryAfterMs, error, timedOut } = await sender.send(request, timeoutMs);
      const isBadStatus = error === `answered with status ${status}`;
      assert.equal(timedOut, setup.timeoutMs !== undefined && (status === null || status >= 300));
      return { status, body: answer, retryAfterMs, failed: error !== null && !isBadStatus };
    };
  });
}

async function askUndici(setup: Setup): Promise<Result> {
  const { raw, timeoutMs = answerMs } = setup;
  return ask(setup, ({ connect }) => {
    const sender = new UndiciSender(origin, connect);
    return async () => {
      const { status, body, retryAfter, failed } = await sender.send(raw.method ?? 'POST', requestBody, timeoutMs);
      const retryAfterMs = retryAfter === undefined ? null : Number(retryAfter) * 1_000;
      return { status, body: status === null ? null : body, retryAfterMs, failed };
    };
  });
}

async function compare(setup: Setup): Promise<void> {
  const [ours, theirs] = await Promise.all([askOurs(setup), askUndici(setup)]);
  // Ours are stricter: only a 2xx without an informational head before it keeps the connection.
  const reused = theirs.reused && /^\s*HTTP\/\S+ 2/.test(setup.raw.bytes);
  assert.deepEqual(ours, { ...theirs, reused }, `${setup.raw.name}, in pieces of ${setup.pieceBytes} bytes`);
  assert.deepEqual(ours.second, { status: 200, body: 'second', retryAfterMs: null, failed: false });
}

for (const raw of finished) {
  test(`undici and our connections agree about an answer: ${raw.name}`, async () => {
    await compare({ raw, pieceBytes: 100_000 });
    await compare({ raw, pieceBytes: 997 });
    // Each byte is read alone.
    if (raw.bytes.length < 1_000) await compare({ raw, pieceBytes: 1 });
  });
}

test('undici and our connections agree about answers that stop without an end', async () => {
  await Promise.all(unfinished.map(async (raw) => compare({ raw, pieceBytes: 100_000, timeoutMs: 50 })));
});
