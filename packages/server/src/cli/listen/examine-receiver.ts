import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { maxMessageLength } from '@usher/contract/limits';
import { Agent, request } from 'undici';
import { sampleEvent } from '../../events/make-event.ts';
import { newId } from '../../platform/ids.ts';
import { signatureHeaders } from '../../channels/signature.ts';
import { describeError } from '../commands/api.ts';

/** What a trial found. */
export interface Finding {
  readonly trial: string;
  readonly isRight: boolean;
  /** What the receiver did and, if that was wrong, what it should do. */
  readonly detail: string;
}

interface Request {
  readonly id?: string;
  readonly body?: string;
  readonly timestampSec?: number;
  readonly secrets?: readonly Buffer[];
  /** Headers that replace those of the signature; `undefined` removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The body that is sent, if it is not the one that was signed. */
  readonly sent?: string;
  /** Whether the body arrives in pieces. */
  readonly isSlow?: boolean;
}

/** A status, or the reason why there is none. */
type Answer = { readonly status: number; readonly ms: number } | { readonly failure: string };

type Send = (request: Request) => Promise<Answer>;

interface Trial {
  readonly name: string;
  readonly expected: 'accepted' | 'refused';
  /** What a receiver that does otherwise should do. */
  readonly advice: string;
  readonly run: (send: Send, secret: Buffer) => Promise<readonly Answer[]>;
}

/** The same time limit as for webhooks (D8.5). */
const answerMs = 15_000;
const nowSec = (): number => Math.floor(Date.now() / 1_000);
const message = (id: string, content: string): string => {
  const event = sampleEvent('engagement.chat.message', { id, at: new Date() });
  return JSON.stringify({ ...event, message: { ...event.message, content } });
};
const otherSecret = (): Buffer => randomBytes(32);

const trials: readonly Trial[] = [
  {
    name: 'an event',
    expected: 'accepted',
    advice: 'Answer a correctly signed event with any 2xx status, within 15 s.',
    run: async (send) => [await send({})],
  },
  {
    name: 'the same event twice, then both at once',
    expected: 'accepted',
    advice:
      'Answer a repetition with 2xx too. webhook-id is the same in every attempt: ignore an id that you have handled.',
    async run(send) {
      const repeated = { id: newId<string>() };
      return [await send(repeated), await send(repeated), ...(await Promise.all([send(repeated), send(repeated)]))];
    },
  },
  {
    name: 'an event that arrives after a later one',
    expected: 'accepted',
    advice: 'Accept events out of order: after failures, and of different engagements, a later event may come first.',
    async run(send) {
      const older = newId<string>();
      const body = JSON.stringify(sampleEvent('engagement.start', { id: older, at: new Date(Date.now() - 3_600_000) }));
      return [await send({}), await send({ id: older, body })];
    },
  },
  {
    name: 'a secret that is being rotated',
    expected: 'accepted',
    advice:
      'webhook-signature may have several signatures, separated by spaces: accept the request if one of them is right.',
    run: async (send, secret) => [
      await send({ secrets: [otherSecret(), secret] }),
      await send({ secrets: [secret, otherSecret()] }),
    ],
  },
  {
    name: 'a signature with another secret',
    expected: 'refused',
    advice: 'Check webhook-signature, and answer 401 if it is wrong: anybody can send requests to a public URL.',
    run: async (send) => [await send({ secrets: [otherSecret()] })],
  },
  {
    name: 'no signature, an empty one, and one of another kind',
    expected: 'refused',
    advice: 'Refuse a request without a signature of the kind v1.',
    run: async (send) => [
      await send({ headers: { 'webhook-signature': undefined } }),
      await send({ headers: { 'webhook-signature': '' } }),
      await send({ headers: { 'webhook-signature': 'v1a,c2lnbmF0dXJl' } }),
    ],
  },
  {
    name: 'a body that was changed after it was signed',
    expected: 'refused',
    advice: 'Sign the bytes of the body as they arrived, and compare: do not parse the JSON first.',
    async run(send) {
      const id = newId<string>();
      return [await send({ id, body: message(id, 'Hello.'), sent: message(id, 'Hello!') })];
    },
  },
  {
    name: 'another id than the signed one',
    expected: 'refused',
    advice: 'The signature covers webhook-id: sign `id.timestamp.body`.',
    run: async (send) => [await send({ headers: { 'webhook-id': newId<string>() } })],
  },
  {
    name: 'a request from ten minutes ago, and one from the future',
    expected: 'refused',
    advice:
      'Compare webhook-timestamp with your clock, and refuse a difference of more than five minutes: it may be a replay.',
    run: async (send) => [await send({ timestampSec: nowSec() - 600 }), await send({ timestampSec: nowSec() + 600 })],
  },
  {
    name: 'a large event',
    expected: 'accepted',
    advice: `Accept bodies of at least 256 KiB: a message has up to ${maxMessageLength} characters of up to four bytes.`,
    async run(send) {
      const id = newId<string>();
      return [await send({ id, body: message(id, '\u{1F44B}'.repeat(maxMessageLength)) })];
    },
  },
  {
    name: 'an unknown event type, and unknown fields',
    expected: 'accepted',
    advice: 'Ignore event types and fields that you do not know: new ones are added without notice.',
    async run(send) {
      const [one, other] = [newId<string>(), newId<string>()];
      const known = sampleEvent('engagement.end', { id: other, at: new Date() });
      return [
        await send({
          id: one,
          body: JSON.stringify({ event_type: 'weather.changed', event_id: one, sky: ['blue', null] }),
        }),
        await send({ id: other, body: JSON.stringify({ ...known, added_later: { deep: [1, 2, 3] } }) }),
      ];
    },
  },
  {
    name: 'a body that arrives in pieces',
    expected: 'accepted',
    advice: 'Wait for the whole body before you check the signature.',
    run: async (send) => [await send({ isSlow: true })],
  },
  {
    name: 'twenty events at once',
    expected: 'accepted',
    advice: 'Put events into a queue and answer at once: Usher sends several at the same time.',
    run: async (send) => Promise.all(Array.from({ length: 20 }, async () => send({}))),
  },
  {
    name: 'an event after all that',
    expected: 'accepted',
    advice: 'A refused request must not stop the receiver.',
    run: async (send) => [await send({})],
  },
];

/** Sends a receiver what it may meet, and reports what it did. */
export async function* examineReceiver(to: URL, secret: Buffer): AsyncGenerator<Finding> {
  const agent = new Agent({ connect: { timeout: 5_000 }, connections: 20 });
  const send: Send = async (given) => sendOne({ to, secret, agent }, given);
  try {
    for (const { name, expected, advice, run } of trials) {
      const answers = await run(send, secret);
      const isRight = answers.every((answer) => reactionOf(answer) === expected);
      const found = [...new Set(answers.map(describe))].join(', ');
      yield { trial: name, isRight, detail: isRight ? found : `${found}. ${advice}` };
      // Nothing else can be learned from a receiver that cannot be reached.
      if (answers.every((answer) => 'failure' in answer) && name === trials[0]?.name) return;
    }
  } finally {
    await agent.destroy();
  }
}

function reactionOf(answer: Answer): 'accepted' | 'refused' | 'neither' {
  if ('failure' in answer) return 'neither';
  if (answer.status >= 200 && answer.status < 300) return 'accepted';
  return answer.status >= 400 && answer.status < 500 ? 'refused' : 'neither';
}

function describe(answer: Answer): string {
  return 'failure' in answer ? `no answer (${answer.failure})` : `status ${answer.status}`;
}

interface Receiver {
  readonly to: URL;
  readonly secret: Buffer;
  readonly agent: Agent;
}

async function sendOne({ to, secret, agent }: Receiver, given: Request): Promise<Answer> {
  const id = given.id ?? newId<string>();
  const body = given.body ?? message(id, 'Hello.');
  const { timestampSec = nowSec(), secrets = [secret], sent = body } = given;
  const signed = { ...signatureHeaders({ id, timestampSec, body, secrets }), ...given.headers };
  const headers = Object.fromEntries(
    Object.entries({ 'content-type': 'application/json', ...signed }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
  const began = performance.now();
  try {
    const answer = await request(to, {
      dispatcher: agent,
      method: 'POST',
      headers: given.isSlow === true ? { ...headers, 'content-length': String(Buffer.byteLength(sent)) } : headers,
      body: given.isSlow === true ? Readable.from(inPieces(Buffer.from(sent))) : sent,
      signal: AbortSignal.timeout(answerMs),
    });
    await answer.body.dump();
    return { status: answer.statusCode, ms: performance.now() - began };
  } catch (error) {
    return { failure: describeError(error) };
  }
}

const pieces = 5;
const pieceMs = 300;

async function* inPieces(body: Buffer): AsyncGenerator<Buffer> {
  const size = Math.ceil(body.length / pieces);
  for (let at = 0; at < body.length; at += size) {
    yield body.subarray(at, at + size);
    await pause(pieceMs);
  }
}
