import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createUsher, type Usher } from '@usher/sdk';
import { verify, WebhookVerificationError, type WebhookEvent } from '@usher/sdk/webhooks';

/**
 * A bridge to another messenger. Its users wait in a queue of Usher, and the answers of operators are sent back to them.
 *
 *   POST /messenger  the messenger reports a message: { "id": "…", "user": "…", "text": "…" }
 *   POST /hook       a webhook of Usher with engagement.start, engagement.chat.message and engagement.end
 *   MESSENGER_URL    gets { "user": "…", "text": "…" } for each message of an operator
 *
 * What it knows of its users is in memory, so it forgets them when it ends. Keep it in a database for real use.
 */
const { USHER_URL: url = 'http://localhost:8080', USHER_APPLICATION_TOKEN: applicationToken = '' } = process.env;
const { USHER_SITE: siteId = '', USHER_QUEUE: queueId = '', USHER_WEBHOOK_SECRET: secret = '' } = process.env;
const { MESSENGER_URL: messengerUrl = '', PORT: port = '3000' } = process.env;
const application = createUsher({ url, applicationToken });

interface Incoming {
  readonly id: string;
  readonly user: string;
  readonly text: string;
}

interface Chat {
  readonly user: string;
  /** A client with the visitor's own token. */
  readonly visitor: Usher;
  engagementId: string | null;
  /** Messages that were written before an operator accepted. */
  readonly waiting: Incoming[];
}

const chats = new Map<string, Chat>();
const seenEvents = new Set<string>();

/** A UUID (version 4) that follows from the messenger's id: a message that is reported twice is stored once. */
function messageIdOf(id: string): string {
  const hex = createHash('sha256').update(id).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

async function deliver({ visitor, engagementId }: Chat, { id, text }: Incoming): Promise<void> {
  if (engagementId === null) return;
  await visitor.messages.send({ engagementId, messageId: messageIdOf(id), body: { content: text } });
}

async function open(user: string): Promise<[visitorId: string, chat: Chat]> {
  const { id: visitorId, ...first } = await application.visitors.create({ body: { site_id: siteId, name: user } });
  let token = { text: first.access_token, renewAt: Date.now() + first.expires_in * 900 };
  const authorization = async (): Promise<string> => {
    if (Date.now() >= token.renewAt) {
      const renewed = await application.visitors.renewToken({ visitorId });
      token = { text: renewed.access_token, renewAt: Date.now() + renewed.expires_in * 900 };
    }
    return `Bearer ${token.text}`;
  };
  return [visitorId, { user, visitor: createUsher({ url, authorization }), engagementId: null, waiting: [] }];
}

async function fromMessenger(message: Incoming): Promise<void> {
  const known = [...chats.values()].find(({ user }) => user === message.user);
  if (known !== undefined) {
    if (known.engagementId !== null) return deliver(known, message);
    known.waiting.push(message);
    return;
  }
  const [visitorId, chat] = await open(message.user);
  chat.waiting.push(message);
  chats.set(visitorId, chat);
  await chat.visitor.queueTickets.create({ body: { site_id: siteId, queue_ids: [queueId], media: 'text' } });
}

async function fromUsher(event: WebhookEvent): Promise<void> {
  if (seenEvents.has(event.event_id)) return;
  if (event.event_type === 'engagement.start') {
    const chat = chats.get(event.engagement.visitor_id ?? '');
    if (chat === undefined) return;
    chat.engagementId = event.engagement.id;
    // A message leaves the list when it has arrived. If one fails, Usher sends this event again.
    for (let next = chat.waiting[0]; next !== undefined; next = chat.waiting[0]) {
      await deliver(chat, next);
      chat.waiting.shift();
    }
  } else if (event.event_type === 'engagement.chat.message' && event.message.sender.type === 'operator') {
    const chat = [...chats.values()].find(({ engagementId }) => engagementId === event.message.engagement_id);
    if (chat !== undefined) await toMessenger(chat.user, event.message.content);
  } else if (event.event_type === 'engagement.end') {
    chats.delete(event.engagement.visitor_id ?? '');
  }
  // Last: an event that failed above is not done.
  seenEvents.add(event.event_id);
}

async function toMessenger(user: string, text: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(messengerUrl, { method: 'POST', headers, body: JSON.stringify({ user, text }) });
  if (!response.ok) throw new Error(`the messenger answered ${response.status}`);
}

let last: Promise<unknown> = Promise.resolve();
/** One after the other, so that messages stay in order and a user never has two visitors. */
async function inOrder(work: () => Promise<void>): Promise<void> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}

async function handle(request: IncomingMessage): Promise<void> {
  const body = await buffer(request);
  if (request.url !== '/hook') return inOrder(async () => fromMessenger(JSON.parse(body.toString()) as Incoming));
  const event = await verify({ headers: request.headers, body }, secret);
  return inOrder(async () => fromUsher(event));
}

const server = createServer((request, response) => {
  handle(request).then(
    () => response.writeHead(204).end(),
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
    },
  );
});
server.listen(Number(port), '127.0.0.1', () => console.log(`The bridge listens on port ${port}.`));
