import type { BareChat } from './bare-chat.ts';
import { messageMs, openChats, speakFor, transcriptOf, visitorOf, type Chat, type Speaker } from './chat-load.ts';
import { startCounting, statementsDuring } from './counting.ts';
import { withDatabase } from './databases.ts';
import type { Comparison, Entry, Limit } from './harness.ts';
import { assertInOrder } from './in-order.ts';
import type { Size } from './lab.ts';
import { ask, startPeer } from './processes.ts';
import type { Session, Usher } from './usher.ts';

const poolSize = 10;

interface ChatSize {
  /** How many talk at once, and for how long. */
  readonly chatters: number;
  readonly seconds: number;
  /** How long the long conversation is. */
  readonly messages: number;
  /** How many messages are timed one by one. */
  readonly timed: number;
}

const sizes: Readonly<Record<Size, ChatSize>> = {
  full: { chatters: 50, seconds: 4, messages: 50_000, timed: 150 },
  short: { chatters: 4, seconds: 0.5, messages: 500, timed: 15 },
};

interface Talk extends ChatSize {
  readonly usher: Usher;
  readonly session: Session;
  readonly chats: readonly Chat[];
}

/** What a message costs: over HTTP with its event, against the INSERT of a row. */
export const chat: Entry = {
  name: 'chat',
  async prepare(lab) {
    const size = sizes[lab.size];
    const { usher, session, siteId } = await startCounting(lab);
    const { chats } = await openChats(session, siteId, size.chatters + 2);
    const [short, long, ...talking] = chats;
    if (short === undefined || long === undefined) throw new Error('there are no chats');
    await lengthen(usher, long, size.messages);
    const talk: Talk = { ...size, usher, session, chats: talking };
    return [await againstInsert(lab.scope, talk), statementsPerMessage(talk), grows(talk, { short, long })];
  },
};

async function againstInsert(scope: AsyncDisposableStack, talk: Talk): Promise<Comparison> {
  const { usher, session, chats, seconds } = talk;
  const peer = startPeer(scope, new URL('./bare-chat.ts', import.meta.url));
  const database: BareChat = { url: usher.databaseUrl, poolSize, accountId: chats[0]?.id ?? '' };
  const url = await ask<string>(peer, { ...database });
  return {
    name: 'messages over HTTP, a webhook subscribed, against a bare route with the INSERT alone',
    unit: 'messages/s',
    async ours() {
      const { rate } = await speakFor(usher.url, chats.map(visitorOf), { seconds });
      for (const each of chats) assertInOrder('the transcript', await transcriptOf(session, each));
      return rate;
    },
    peer: async () => (await speakFor(url, chats.map(elsewhere), { seconds })).rate,
    atLeast: 1.2,
  };
}

/** The bare route writes under ids of its own, so that neither's engagements grow by the other's messages. */
function elsewhere(chat: Chat): Speaker {
  const engagementId = chat.id.replace(/^./, (digit) => (Number.parseInt(digit, 16) ^ 1).toString(16));
  return { ...visitorOf(chat), engagementId };
}

function statementsPerMessage({ usher, chats, seconds }: Talk): Limit {
  return {
    name: 'SQL statements for a message at full load',
    unit: 'statements',
    measure: async () =>
      statementsDuring(usher, async () => speakFor(usher.url, chats.map(visitorOf), { seconds }), {
        count: 'chat_messages',
        seconds,
      }),
    // Messages are written in batches. Hints to other processes are statements too, one for a batch.
    atMost: 0.1,
  };
}

function grows(
  { usher, messages, timed }: Talk,
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

/** As if so many had been sent. */
async function lengthen({ databaseUrl }: Usher, { id }: Chat, count: number): Promise<void> {
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
