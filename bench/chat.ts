import { connect } from '../packages/server/src/platform/database.ts';
import { socketOf } from './api.ts';
import type { BareChat } from './bare-chat.ts';
import { messageMs, messagesPerSecond, openChats, type Chat } from './chat-load.ts';
import { startCounting, statementsDuring } from './counting.ts';
import type { Comparison, Entry, Limit } from './harness.ts';
import { ask, startPeer } from './processes.ts';
import type { Usher } from './usher.ts';

const chatters = 50;
const loadSeconds = 4;
const poolSize = 10;

/** What a message costs: over HTTP with its event, against the INSERT of a row. */
export const chat: Entry = {
  name: 'chat',
  async prepare(scope) {
    const { usher, session, siteId } = await startCounting(scope);
    const { chats } = await openChats(session, siteId, chatters + 2);
    const [short, long, ...talking] = chats;
    if (short === undefined || long === undefined) throw new Error('there are no chats');
    await lengthen(usher, long, 50_000);
    return [
      await againstInsert(scope, usher, talking),
      statementsPerMessage(usher, talking),
      grows(usher, { short, long }),
    ];
  },
};

async function againstInsert(scope: AsyncDisposableStack, usher: Usher, chats: readonly Chat[]): Promise<Comparison> {
  const peer = startPeer(scope, new URL('./bare-chat.ts', import.meta.url));
  const database: BareChat = { ...socketOf(usher), poolSize, accountId: chats[0]?.id ?? '' };
  const url = await ask<string>(peer, { ...database });
  return {
    name: 'messages over HTTP, a webhook subscribed, against a bare route with the INSERT alone',
    unit: 'messages/s',
    ours: async () => messagesPerSecond(usher.url, chats, loadSeconds),
    peer: async () => messagesPerSecond(url, chats.map(elsewhere), loadSeconds),
    atLeast: 0.5,
  };
}

/** The bare route writes under ids of its own, so that neither's engagements grow by the other's messages. */
function elsewhere(chat: Chat): Chat {
  return { ...chat, id: chat.id.replace(/^./, (digit) => (Number.parseInt(digit, 16) ^ 1).toString(16)) };
}

function statementsPerMessage(usher: Usher, chats: readonly Chat[]): Limit {
  return {
    name: 'SQL statements for a message at full load',
    unit: 'statements',
    measure: async () =>
      statementsDuring(usher, async () => messagesPerSecond(usher.url, chats, loadSeconds), {
        count: 'chat_messages',
        seconds: loadSeconds,
      }),
    // Hints to other processes are statements too, gathered into few.
    atMost: 1.05,
  };
}

function grows(usher: Usher, { short, long }: { readonly short: Chat; readonly long: Chat }): Limit {
  return {
    name: 'the next message after 50,000 against the next after a few',
    unit: '×',
    async measure() {
      const few = [await messageMs(usher.url, short, 150), await messageMs(usher.url, short, 150)];
      const many = [await messageMs(usher.url, long, 150), await messageMs(usher.url, long, 150)];
      return Math.min(...many) / Math.min(...few);
    },
    atMost: 1.3,
  };
}

/** As if so many had been sent. */
async function lengthen(usher: Usher, { id }: Chat, count: number): Promise<void> {
  const { socketDirectory: directory, user, database } = socketOf(usher);
  const sql = connect(
    { kind: 'socket', directory, user, database },
    { max: 1, connection: { statement_timeout: 60_000 } },
  );
  try {
    await sql`
      INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target, type,
                                 content, status, created_at)
      SELECT account_id, id, sub_engagement_id, gen_random_uuid(), 'visitor', visitor_id, 'operator', 'chat',
             'Message ' || n, 'sent', now()
        FROM engagements, generate_series(1, ${count}::integer) AS n
       WHERE id = ${id}`;
    await sql`UPDATE engagements SET undelivered_to_operator = ${count} WHERE id = ${id}`;
  } finally {
    await sql.end();
  }
}
