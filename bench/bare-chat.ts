import fastify from 'fastify';
import { connectPublished } from './published-driver.ts';

/** The peer for chat messages: Fastify with one route that inserts a message and returns its row, with the driver as published. */
export interface BareChat {
  readonly url: string;
  readonly poolSize: number;
  readonly accountId: string;
}

process.once('message', (chat) => void serve(chat as BareChat));
process.once('disconnect', () => process.exit());

interface MessageRoute {
  readonly Params: { readonly engagement_id: string; readonly message_id: string };
  readonly Body: { readonly content: string };
}

async function serve({ url, poolSize, accountId }: BareChat): Promise<void> {
  const sql = connectPublished(url, poolSize);
  const app = fastify();
  app.put<MessageRoute>('/engagements/:engagement_id/chat_messages/:message_id', async ({ params, body }) => {
    const { engagement_id, message_id } = params;
    const [row] = await sql`
      INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target, type,
                                 content, status, created_at)
      VALUES (${accountId}, ${engagement_id}, ${engagement_id}, ${message_id}, 'visitor', ${engagement_id}, 'operator',
              'chat', ${body.content}, 'sent', now())
      RETURNING id, engagement_id, sub_engagement_id, sender_type, sender_id, target, type, content, attachment, metadata,
                status, created_at`;
    return row;
  });
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
}
