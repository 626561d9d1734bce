import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { actAtRate, type Rate } from './measuring/at-rate.ts';
import { RawClient } from './measuring/raw-client.ts';
import { openFloor, type Floor, type Person } from './routing-load.ts';
import { call, type Session } from './measuring/usher.ts';

/** An engagement between a visitor and an operator. */
export interface Chat {
  readonly id: string;
  readonly visitorToken: string;
  readonly operatorToken: string;
}

/** A webhook as integrators attach it to a ticket, subscribed to the messages of the engagement. */
const webhookAt = (url: string) => ({ url, method: 'POST', events: ['engagement.chat.message'] });
const unreachableUrl = 'https://127.0.0.1:9/hook';

/** Opens `count` engagements. `address` returns the webhook URL of the nth engagement, or null for no webhook. */
export async function openChats(
  session: Session,
  siteId: string,
  count: number,
  address: (n: number) => string | null = () => unreachableUrl,
): Promise<{ readonly floor: Floor; readonly chats: readonly Chat[] }> {
  const floor = await openFloor(session, siteId, { operators: count, visitors: count });
  const client = new RawClient(session.url);
  const chats: Chat[] = [];
  for (const [n, operator] of floor.operators.entries()) {
    const visitor = floor.visitors[n];
    if (visitor === undefined) throw new Error('there are fewer visitors than operators');
    await client.json(200, 'PUT', `/operators/${operator.id}/presence`, operator.token, { available: true });
    chats.push(await engage({ siteId, queueId: floor.queueId, visitor, operator }, { client, webhookUrl: address(n) }));
  }
  client.close();
  return { floor, chats };
}

interface Pair {
  readonly siteId: string;
  readonly queueId: string;
  readonly visitor: Person;
  /** Available, and the only one to whom the visitor can be offered. */
  readonly operator: Person;
}

interface EngageOptions {
  /** The connection of the visitor, and that of the operator if it is another one. */
  readonly client: RawClient;
  readonly operatorClient?: RawClient;
  /** `null`: no webhook. */
  readonly webhookUrl: string | null;
}

/** The visitor enqueues, and the operator accepts the offer. */
export async function engage(
  { siteId, queueId, visitor, operator }: Pair,
  { client, operatorClient = client, webhookUrl }: EngageOptions,
): Promise<Chat> {
  const webhooks = webhookUrl === null ? [] : [webhookAt(webhookUrl)];
  const ticketInput = { site_id: siteId, media: 'text', queue_id: queueId, webhooks };
  await client.json(201, 'POST', '/queue_tickets', visitor.token, ticketInput);
  const pending = await operatorClient.json<{ engagement_requests: { id: string }[] }>(
    200, 'GET', '/engagement_requests?state=pending', operator.token,
  ); // prettier-ignore
  const accepted = await operatorClient.json<{ engagement_id: string }>(
    200, 'PATCH', `/engagement_requests/${pending.engagement_requests[0]?.id ?? ''}`, operator.token, { action: 'accept' },
  ); // prettier-ignore
  return { id: accepted.engagement_id, visitorToken: visitor.token, operatorToken: operator.token };
}

/** One side of a chat. */
export interface Sender {
  readonly engagementId: string;
  readonly side: 'visitor' | 'operator';
  readonly token: string;
}

export function visitorOf({ id, visitorToken }: Chat): Sender {
  return { engagementId: id, side: 'visitor', token: visitorToken };
}

export function operatorOf({ id, operatorToken }: Chat): Sender {
  return { engagementId: id, side: 'operator', token: operatorToken };
}

/** Returns the text of the next message; called when the message is sent. */
type NextText = () => string;

const sameText: NextText = () => 'Good morning, I would like to know where my order is.';
let messageNumber = 0;

/** Sends one message. Its content begins with the sender and a growing number; assertInOrder checks both on arrival. */
export async function sendMessage(
  client: RawClient,
  { engagementId, side, token }: Sender,
  nextText: NextText = sameText,
): Promise<void> {
  messageNumber += 1;
  const content = `${engagementId}/${side} ${messageNumber} ${nextText()}`;
  await client.json(200, 'PUT', `/engagements/${engagementId}/chat_messages/${randomUUID()}`, token, { content });
}

/** The contents of an engagement's messages, in the order of its transcript. */
export async function transcriptOf(session: Session, { id }: Chat): Promise<string[]> {
  const path = `/engagements/${id}/chat_transcript`;
  const { body } = await call(session, { method: 'GET', path, status: 200 });
  return (JSON.parse(body) as { content: string }[]).map(({ content }) => content);
}

/** Each sender uses its own connection and sends one message after the other. Returns messages per second and the total. */
export async function sendFor(
  url: string,
  senders: readonly Sender[],
  { seconds, nextText = sameText }: { readonly seconds: number; readonly nextText?: NextText },
): Promise<{ readonly rate: number; readonly sent: number }> {
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  let sent = 0;
  const began = performance.now();
  const sendUntilStopped = async (sender: Sender): Promise<void> => {
    const client = new RawClient(url);
    while (!stopping.signal.aborted) {
      await sendMessage(client, sender, nextText);
      sent += 1;
      first.resolve();
    }
    client.close();
  };
  const running = senders.map(sendUntilStopped);
  // On a busy machine the first message may take longer than the run, and a rate of zero would mean nothing.
  await Promise.all([sleep(seconds * 1000), first.promise]);
  const rate = sent / ((performance.now() - began) / 1000);
  stopping.abort();
  await Promise.all(running);
  return { rate, sent };
}

/** The visitors send `count` messages at a steady rate, one chat after the other. Resolves when all requests were answered. */
export async function sendAtRate(
  url: string,
  chats: readonly Chat[],
  { nextText = sameText, ...rate }: Rate & { readonly nextText?: NextText },
): Promise<void> {
  const lanes = chats.map((chat) => ({ sender: visitorOf(chat), client: new RawClient(url) }));
  await actAtRate(lanes, rate, async ({ sender, client }) => sendMessage(client, sender, nextText));
  for (const { client } of lanes) client.close();
}

/** The median time to send one message, in milliseconds, while no other load runs. */
export async function messageMs(url: string, chat: Chat, count: number): Promise<number> {
  const client = new RawClient(url);
  const took: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const began = performance.now();
    await sendMessage(client, visitorOf(chat), sameText);
    took.push(performance.now() - began);
  }
  client.close();
  return took.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Infinity;
}
