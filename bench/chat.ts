import type { BareChat } from './bare-chat.ts';
import { messageMs, openChats, sendFor, transcriptOf, visitorOf, type Chat, type Sender } from './chat-load.ts';
import { startCountingUsher, statementsPerRow } from './measuring/counting.ts';
import { withDatabase } from './measuring/databases.ts';
import type { Comparison, Entry, Limit } from './measuring/harness.ts';
import { assertInOrder } from './measuring/in-order.ts';
import type { Size } from './measuring/lab.ts';
import { ask, startPeer } from './measuring/processes.ts';
import type { Session, Usher } from './measuring/usher.ts';

const poolSize = 10;

interface ChatSize {
  /** How many chats run at the same time, and for how long. */
  readonly chatters: number;
  readonly seconds: number;
  /** The number of messages in the long conversation. */
  readonly messages: number;
  /** How many messages are timed one after the other. */
  readonly timed: number;
}

const sizes: Readonly<Record<Size, ChatSize>> = {
  full: { chatters: 50, seconds: 4, messages: 50_000, timed: 150 },
  short: { chatters: 4, seconds: 0.5, messages: 500, timed: 15 },
};

interface ChatLoad extends ChatSize {
  readonly usher: Usher;
  readonly session: Session;
  readonly chats: readonly Chat[];
}

/** The cost of a message over HTTP with its event, compared with the INSERT of its row. */
export const chat: Entry = {
  name: 'chat',
  async prepare(lab) {
    const size = sizes[lab.size];
    const { usher, session, siteId } = await startCountingUsher(lab);
    const { chats } = await openChats(session, siteId, size.chatters + 2);
    const [short, long, ...measured] = chats;
    if (short === undefined || long === undefined) throw new Error('there are no chats');
    await addMessages(usher, long, size.messages);
    const load: ChatLoad = { ...size, usher, session, chats: measured };
    return [await compareWithInsert(lab.scope, load), statementsPerMessage(load), messageGrowth(load, { short, long })];
  },
};

async function compareWithInsert(scope: AsyncDisposableStack, load: ChatLoad): Promise<Comparison> {
  const { usher, session, chats, seconds } = load;
  const peer = startPeer(scope, new URL('./bare-chat.ts', import.meta.url));
  const database: BareChat = { url: usher.databaseUrl, poolSize, accountId: chats[0]?.id ?? '' };
  const url = await ask<string>(peer, { ...database });
  return {
    name: 'messages over HTTP, a webhook subscribed, against a bare route with the INSERT alone',
    unit: 'messages/s',
    async ours() {
      const { rate } = await sendFor(usher.url, chats.map(visitorOf), { seconds });
      for (const each of chats) assertInOrder('the transcript', await transcriptOf(session, each));
      return rate;
    },
    peer: async () => (await sendFor(url, chats.map(peerSender), { seconds })).rate,
    atLeast: 1.2,
  };
}

/** The bare route uses other engagement ids, so that its messages do not lengthen the engagements of Usher. */
function peerSender(chat: Chat): Sender {
  const engagementId = chat.id.replace(/^./, (digit) => (Number.parseInt(digit, 16) ^ 1).toString(16));
  return { ...visitorOf(chat), engagementId };
}

function statementsPerMessage({ usher, chats, seconds }: ChatLoad): Limit {
  return {
    name: 'SQL statements for a message at full load',
    unit: 'statements',
    measure: async () =>
      statementsPerRow(usher, async () => sendFor(usher.url, chats.map(visitorOf), { seconds }), {
        count: 'chat_messages',
        seconds,
      }),
    // Messages are written in batches. Hints to other processes are statements too, one for a batch.
    atMost: 0.1,
  };
}

function messageGrowth(
  { usher, messages, timed }: ChatLoad,
  { short, long }: { readonly short: Chat; readonly long: Chat },
): Limit {
  return {
    name: `the next message after ${messages.toLocaleString('en')} against the next after a few`,
    unit: '×',
    async measure() {
      const few = [await messageMs(usher.url, short, timed), await messageMs(usher.url, short, timed)];
      const many = [await messageMs(usher.url, long, timed), await messageMs(usher.url, long, timed)];
      return Math.min(...many) / Math.min(...few);
    },
    atMost: 1.3,
  };
}

/** Inserts messages as if they had been sent. */
async function addMessages({ databaseUrl }: Usher, { id }: Chat, count: number): Promise<void> {
  await withDatabase(databaseUrl, async (sql) => {
    await sql`
      INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target, type,
                                 content, status, created_at)
      SELECT account_id, id, sub_engagement_id, gen_random_uuid(), 'visitor', visitor_id, 'operator', 'chat',
             'Message ' || n, 'sent', now()
        FROM engagements, generate_series(1, ${count}::integer) AS n
       WHERE id = ${id}`;
    await sql`UPDATE engagements SET undelivered_to_operator = ${count} WHERE id = ${id}`;
  });
}
