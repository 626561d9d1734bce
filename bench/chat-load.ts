import { randomUUID } from 'node:crypto';
import { RawClient } from './raw-client.ts';
import { openFloor, type Floor } from './routing-load.ts';
import type { Session } from './usher.ts';

/** A visitor and an operator who talk to each other. */
export interface Chat {
  readonly id: string;
  readonly visitorToken: string;
  readonly operatorToken: string;
}

/** Like any integrator's: it asks for the messages of its own ticket. */
const webhooks = [{ url: 'https://127.0.0.1:9/hook', method: 'POST', events: ['engagement.chat.message'] }];

/** So many engagements, each with a webhook that asks for its messages. */
export async function openChats(
  session: Session,
  siteId: string,
  count: number,
): Promise<{ readonly floor: Floor; readonly chats: readonly Chat[] }> {
  const floor = await openFloor(session, siteId, { operators: count, visitors: count });
  const client = new RawClient(session.url);
  const chats: Chat[] = [];
  for (const [n, operator] of floor.operators.entries()) {
    const visitor = floor.visitors[n];
    if (visitor === undefined) throw new Error('there is a visitor for each operator');
    await client.json(200, 'PUT', `/operators/${operator.id}/presence`, operator.token, { available: true });
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

const content = 'Good morning, I would like to know where my order is.';

/** Each chat on a connection of its own, one message after the other. Answers messages a second. */
export async function messagesPerSecond(url: string, chats: readonly Chat[], seconds: number): Promise<number> {
  const over = new AbortController();
  let sent = 0;
  const began = performance.now();
  const talk = async ({ id, visitorToken }: Chat): Promise<void> => {
    const client = new RawClient(url);
    while (!over.signal.aborted) {
      await client.json(200, 'PUT', `/engagements/${id}/chat_messages/${randomUUID()}`, visitorToken, { content });
      sent += 1;
    }
    client.close();
  };
  const talks = chats.map(talk);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const rate = sent / ((performance.now() - began) / 1000);
  over.abort();
  await Promise.all(talks);
  return rate;
}

/** Milliseconds that one message takes, with nobody else there: the median of many. */
export async function messageMs(url: string, { id, visitorToken }: Chat, count: number): Promise<number> {
  const client = new RawClient(url);
  const took: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const began = performance.now();
    await client.json(200, 'PUT', `/engagements/${id}/chat_messages/${randomUUID()}`, visitorToken, { content });
    took.push(performance.now() - began);
  }
  client.close();
  return took.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Infinity;
}
