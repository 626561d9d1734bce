import { sendAtRate, type Chat } from './chat-load.ts';
import { withDatabase } from './databases.ts';
import type { Receiver } from './webhook-receiver.ts';

interface Load {
  readonly url: string;
  readonly databaseUrl: string;
  readonly chats: readonly Chat[];
  readonly perSecond: number;
  readonly seconds: number;
  /** Of those sent, so many arrive where it is remembered. */
  readonly arriving: number;
}

/**
 * Milliseconds from each message to its arrival at a webhook. They count from the time that the event bears, which is taken
 * a moment before the commit.
 */
export async function messageToArrival(receiver: Receiver, load: Load): Promise<readonly number[]> {
  const { url, databaseUrl, chats, perSecond, seconds, arriving } = load;
  await receiver.forget();
  await sendAtRate(url, chats, { count: perSecond * seconds, perSecond });
  const arrivals = await receiver.expect(arriving);
  return withDatabase(databaseUrl, async (sql) => {
    const rows = await sql<{ id: string; at: number }[]>`
      SELECT id, extract(epoch FROM occurred_at)::float8 * 1000 AS at FROM events WHERE type = 'engagement.chat.message'`;
    const sentAt = new Map(rows.map(({ id, at }) => [id, at]));
    return arrivals.map(([id, arrivedAt]) => arrivedAt - (sentAt.get(id) ?? Number.NaN));
  });
}
