import { randomUUID } from 'node:crypto';
import { createUsher, UsherError } from '@usher/sdk';

/**
 * A bot that works as an operator: it accepts each offer, greets, answers, and hands over to a person when asked for one.
 * USHER_URL, USHER_KEY_ID and USHER_KEY_SECRET name the server and the bot's API key, USHER_PEOPLE_QUEUE the queue of the people.
 */
const { USHER_URL: url = 'http://localhost:8080', USHER_KEY_ID: id = '', USHER_KEY_SECRET: secret = '' } = process.env;
const { USHER_PEOPLE_QUEUE: queueId = '' } = process.env;
const usher = createUsher({ url, key: { id, secret } });
const { operator_id: operatorId } = await usher.sessions.current();

async function say(engagementId: string, content: string): Promise<void> {
  await usher.messages.send({ engagementId, messageId: randomUUID(), body: { content } });
}

async function accept(requestId: string): Promise<void> {
  const { engagement_id: engagementId } = await usher.engagementRequests.update({
    requestId,
    body: { action: 'accept' },
  });
  if (engagementId !== null) await say(engagementId, 'Hello, I am a bot. Ask me, or write "person".');
}

async function answer(engagementId: string, content: string): Promise<void> {
  if (!/\bperson\b/i.test(content)) return say(engagementId, `You wrote: ${content}`);
  await say(engagementId, 'I am looking for a person.');
  await usher.transferTickets.create({ body: { engagement_id: engagementId, queue_id: queueId, media: 'text' } });
}

/** The visitor may have left, or somebody else was faster: that ends an engagement, not the bot. */
async function attempt(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof UsherError)) throw error;
    console.error(error.message);
  });
}

for await (const item of usher.feed.subscribe({ holdPresence: true })) {
  if (item.type === 'feed.open' || item.type === 'feed.reset') {
    await usher.operators.setPresence({ operatorId, body: { available: true } });
    for await (const { id: pending } of usher.engagementRequests.list({ state: 'pending' }))
      await attempt(accept(pending));
  }
  if (item.type === 'engagement_request.state' && item.data.state === 'pending') await attempt(accept(item.data.id));
  if (item.type === 'engagement.chat.message' && item.data.message.sender.type === 'visitor')
    await attempt(answer(item.data.message.engagement_id, item.data.message.content));
}
