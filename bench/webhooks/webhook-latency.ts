import { sendAtRate, type Chat } from '../chat-load.ts';
import { withDatabase } from '../measuring/databases.ts';
import { assertInOrder } from '../measuring/in-order.ts';
import type { Arrivals } from './webhook-receiver-process.ts';
import type { Receiver } from './webhook-receiver.ts';

interface Load {
  readonly url: string;
  readonly databaseUrl: string;
  readonly chats: readonly Chat[];
  readonly perSecond: number;
  readonly seconds: number;
  /** How many of the messages go to receivers that record arrivals. */
  readonly arriving: number;
}

/**
 * Milliseconds from each message to its arrival at a webhook. They count from `occurred_at` of the event, which is a moment
 * before the commit.
 */
export async function messageToArrival(receiver: Receiver, load: Load): Promise<readonly number[]> {
  const { url, databaseUrl, chats, perSecond, seconds, arriving } = load;
  await receiver.clear();
  await sendAtRate(url, chats, { count: perSecond * seconds, perSecond });
  const arrivals = await receiver.expect(arriving);
  const messages = await assertWebhooksInOrder(databaseUrl, arrivals);
  return arrivals.map(([id, arrivedAt]) => arrivedAt - (messages.get(id)?.at ?? Number.NaN));
}

interface SentMessage {
  /** The id of the event. */
  readonly id: string;
  readonly at: number;
  readonly content: string;
}

/** Fails unless the messages of each sender arrived in the order they were sent. Returns all messages by event id. */
export async function assertWebhooksInOrder(
  databaseUrl: string,
  arrivals: Arrivals,
): Promise<ReadonlyMap<string, SentMessage>> {
  const rows = await withDatabase(
    databaseUrl,
    async (sql) => sql<SentMessage[]>`
      SELECT id, extract(epoch FROM occurred_at)::float8 * 1000 AS at, payload->'message'->>'content' AS content
        FROM events
       WHERE type = 'engagement.chat.message'`,
  );
  const messages = new Map(rows.map((row) => [row.id, row]));
  const texts = arrivals.map(([id]) => messages.get(id)?.content);
  assertInOrder('the webhooks', texts);
  return messages;
}
