import { randomUUID } from 'node:crypto';
import { call, type Answer, type Json } from './server.ts';
import {
  acceptOffer,
  askIn,
  expectStatus,
  makeAccount,
  makePresent,
  makeQueue,
  type Reached,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from './world.ts';

export interface Engaged {
  readonly server: Reached;
  readonly own: TestAccount;
  readonly operator: TestOperator;
  readonly visitor: TestVisitor;
  readonly id: string;
  readonly queue: string;
}

/** A visitor engaged with an operator, in an account of their own. */
export async function engage(server: Reached, queueFields: Json = {}, wanted: Json = {}): Promise<Engaged> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, queueFields);
  const operator = await makePresent(server, own);
  const asked = await askIn(server, own, { queue_ids: [queue], ...wanted });
  expectStatus(asked, 201);
  return { server, own, operator, visitor: asked.visitor, id: await acceptOffer(server, operator), queue };
}

export interface Who {
  readonly token: string;
}

/** Text, or everything that a message may have. */
export async function say(chat: Engaged, who: Who, body: Json, messageId: string = randomUUID()): Promise<Answer> {
  const sent = typeof body === 'string' ? { content: body } : body;
  const path = `/engagements/${chat.id}/chat_messages/${messageId}`;
  return call(chat.server, `PUT ${path}`, { token: who.token, body: sent });
}

export async function acknowledge(chat: Engaged, who: Who, messageId: string): Promise<Answer> {
  const path = `/engagements/${chat.id}/chat_messages/${messageId}`;
  return call(chat.server, `PATCH ${path}`, { token: who.token, body: { status: 'delivered' } });
}

export async function end({ server, id, operator }: Engaged): Promise<void> {
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${id}`, { token: operator.token, body }), 200);
}

export async function transcript({ server, id }: Engaged, who: Who): Promise<Json[]> {
  return expectStatus(await call(server, `GET /engagements/${id}/chat_transcript`, { token: who.token }), 200).body;
}

export function ofType(events: readonly Json[], type: string): Json[] {
  return events.filter(({ event_type }) => event_type === type);
}

/** Says it, and answers its id. */
export async function said(chat: Engaged, who: Who, content: string): Promise<string> {
  return expectStatus(await say(chat, who, content), 200).body.id;
}
