import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient } from './raw-client.ts';
import { openFloor, type Floor } from './routing-load.ts';
import { call, type Session } from './usher.ts';

/** A visitor and an operator who talk to each other. */
export interface Chat {
  readonly id: string;
  readonly visitorToken: string;
  readonly operatorToken: string;
}

/** Like any integrator's: it asks for the messages of its own ticket. */
const webhookAt = (url: string) => ({ url, method: 'POST', events: ['engagement.chat.message'] });
const nobody = 'https://127.0.0.1:9/hook';

/** So many engagements, each with a webhook that asks for its messages at the address of that engagement; null: with none. */
export async function openChats(
  session: Session,
  siteId: string,
  count: number,
  address: (n: number) => string | null = () => nobody,
): Promise<{ readonly floor: Floor; readonly chats: readonly Chat[] }> {
  const floor = await openFloor(session, siteId, { operators: count, visitors: count });
  const client = new RawClient(session.url);
  const chats: Chat[] = [];
  for (const [n, operator] of floor.operators.entries()) {
    const visitor = floor.visitors[n];
    if (visitor === undefined) throw new Error('there is a visitor for each operator');
    await client.json(200, 'PUT', `/operators/${operator.id}/presence`, operator.token, { available: true });
    const url = address(n);
    const webhooks = url === null ? [] : [webhookAt(url)];
    const wanted = { site_id: siteId, media: 'text', queue_id: floor.queueId, webhooks };
    await client.json(201, 'POST', '/queue_tickets', visitor.token, wanted);
    const pending = await client.json<{ engagement_requests: { id: string }[] }>(
      200, 'GET', '/engagement_requests?state=pending', operator.token,
    ); // prettier-ignore
    const accepted = await client.json<{ engagement_id: string }>(
      200, 'PATCH', `/engagement_requests/${pending.engagement_requests[0]?.id ?? ''}`, operator.token, { action: 'accept' },
    ); // prettier-ignore
    chats.push({ id: accepted.engagement_id, visitorToken: visitor.token, operatorToken: operator.token });
  }
  client.close();
  return { floor, chats };
}

/** One side of a chat. */
export interface Speaker {
  readonly engagementId: string;
  readonly side: 'visitor' | 'operator';
  readonly token: string;
}

export function visitorOf({ id, visitorToken }: Chat): Speaker {
  return { engagementId: id, side: 'visitor', token: visitorToken };
}

export function operatorOf({ id, operatorToken }: Chat): Speaker {
  return { engagementId: id, side: 'operator', token: operatorToken };
}

/** What a message says, asked when it is sent. */
type Say = () => string;

const sayAlways: Say = () => 'Good morning, I would like to know where my order is.';
let numbers = 0;

/** Sends one message. It begins with its sender and a growing number, by which the order of arrival is checked. */
async function speak(client: RawClient, { engagementId, side, token }: Speaker, say: Say): Promise<void> {
  numbers += 1;
  const content = `${engagementId}/${side} ${numbers} ${say()}`;
  await client.json(200, 'PUT', `/engagements/${engagementId}/chat_messages/${randomUUID()}`, token, { content });
}

/** What an engagement's messages say, in the order of its transcript. */
export async function transcriptOf(session: Session, { id }: Chat): Promise<string[]> {
  const path = `/engagements/${id}/chat_transcript`;
  const { body } = await call(session, { method: 'GET', path, status: 200 });
  return (JSON.parse(body) as { content: string }[]).map(({ content }) => content);
}

/** Each speaker on a connection of its own, one message after the other. Answers messages a second, and how many there were. */
export async function speakFor(
  url: string,
  speakers: readonly Speaker[],
  { seconds, say = sayAlways }: { readonly seconds: number; readonly say?: Say },
): Promise<{ readonly rate: number; readonly sent: number }> {
  const over = new AbortController();
  const first = Promise.withResolvers<void>();
  let sent = 0;
  const began = performance.now();
  const talk = async (speaker: Speaker): Promise<void> => {
    const client = new RawClient(url);
    while (!over.signal.aborted) {
      await speak(client, speaker, say);
      sent += 1;
      first.resolve();
    }
    client.close();
  };
  const talks = speakers.map(talk);
  // A busy machine may take longer than that for the first message, and a rate of none says nothing.
  await Promise.all([sleep(seconds * 1000), first.promise]);
  const rate = sent / ((performance.now() - began) / 1000);
  over.abort();
  await Promise.all(talks);
  return { rate, sent };
}

interface Rate {
  readonly count: number;
  readonly perSecond: number;
  readonly say?: Say;
}

/** So many messages of the visitors at a steady rate, the chats in turn. Resolves when all of them were answered. */
export async function sendAtRate(
  url: string,
  chats: readonly Chat[],
  { count, perSecond, say = sayAlways }: Rate,
): Promise<void> {
  // A client takes one request at a time: a chat whose last message is not answered yet sends the next one late.
  const senders = chats.map((chat) => ({
    speaker: visitorOf(chat),
    client: new RawClient(url),
    sent: Promise.resolve(),
  }));
  const began = performance.now();
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, began + (n * 1000) / perSecond - performance.now()));
    const sender = senders[n % senders.length];
    if (sender === undefined) throw new Error('nobody is there to send anything');
    const { speaker, client, sent } = sender;
    sender.sent = sent.then(async () => speak(client, speaker, say));
  }
  await Promise.all(senders.map(async ({ sent }) => sent));
  for (const { client } of senders) client.close();
}

/** Milliseconds that one message takes, with nobody else there: the median of many. */
export async function messageMs(url: string, chat: Chat, count: number): Promise<number> {
  const client = new RawClient(url);
  const took: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const began = performance.now();
    await speak(client, visitorOf(chat), sayAlways);
    took.push(performance.now() - began);
  }
  client.close();
  return took.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Infinity;
}
