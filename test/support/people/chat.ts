import { randomUUID } from 'node:crypto';
import { call, type Answer, type Json } from '../server.ts';
import {
  acceptOffer,
  requestTicket,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  type ServerHandle,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from '../world.ts';

export interface Engaged {
  readonly server: ServerHandle;
  readonly own: TestAccount;
  readonly operator: TestOperator;
  readonly visitor: TestVisitor;
  readonly id: string;
  readonly queue: string;
}

/** A visitor engaged with an operator, in an account of their own. */
export async function engage(server: ServerHandle, queueFields: Json = {}, ticketFields: Json = {}): Promise<Engaged> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, queueFields);
  const operator = await makeAvailableOperator(server, own);
  const ticket = await requestTicket(server, own, { queue_ids: [queue], ...ticketFields });
  expectStatus(ticket, 201);
  return { server, own, operator, visitor: ticket.visitor, id: await acceptOffer(server, operator), queue };
}

export interface TokenHolder {
  readonly token: string;
}

/** Sends a message: a text, or all fields of a message. */
export async function say(
  chat: Engaged,
  who: TokenHolder,
  body: Json,
  messageId: string = randomUUID(),
): Promise<Answer> {
  const sent = typeof body === 'string' ? { content: body } : body;
  const path = `/engagements/${chat.id}/chat_messages/${messageId}`;
  return call(chat.server, `PUT ${path}`, { token: who.token, body: sent });
}

export async function acknowledge(chat: Engaged, who: TokenHolder, messageId: string): Promise<Answer> {
  const path = `/engagements/${chat.id}/chat_messages/${messageId}`;
  return call(chat.server, `PATCH ${path}`, { token: who.token, body: { status: 'delivered' } });
}

export async function end({ server, id, operator }: Engaged): Promise<void> {
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${id}`, { token: operator.token, body }), 200);
}

export async function transcript({ server, id }: Engaged, who: TokenHolder): Promise<Json[]> {
  return expectStatus(await call(server, `GET /engagements/${id}/chat_transcript`, { token: who.token }), 200).body;
}

export function ofType(events: readonly Json[], type: string): Json[] {
  return events.filter(({ event_type }) => event_type === type);
}

/** Sends a text message. Returns its id. */
export async function sendText(chat: Engaged, who: TokenHolder, content: string): Promise<string> {
  return expectStatus(await say(chat, who, content), 200).body.id;
}
