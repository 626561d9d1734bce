import { media, type Medium } from '@usher/contract/media';
import { ticketStates } from '@usher/contract/states';
import Type from 'typebox';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';
import type { RequestView } from '../../routing/board/views/views.ts';
import { message, noteFields } from '../../routing/notes.ts';
import type { TicketOutput } from '../../routing/tickets/ticket.ts';
import { requestFields, showFields } from '../requests/request.ts';

const { webhooks } = noteFields;

export const transferRequestInput = body({
  engagement_id: uuid<'engagement'>(),
  operator_id: uuid<'operator'>(),
  media: Type.Optional(Type.Unsafe<Medium>({ ...oneOf(media), description: 'Default: the current media' })),
  message: Type.Optional(nullable(message)),
  webhooks,
});

export const transferTicketInput = body({
  engagement_id: uuid<'engagement'>(),
  queue_id: uuid<'queue'>(),
  media: oneOf(media),
  message: Type.Optional(nullable(message)),
  webhooks,
});

const { queue_ticket_id: _, ...shared } = requestFields;

export const transferRequestOutput = output('TransferRequest', {
  id: uuid<'engagement_request'>(),
  transfer_ticket_id: nullable(uuid<'ticket'>()),
  message: nullable(message),
  ...shared,
});

export type TransferRequestOutput = Type.Static<typeof transferRequestOutput>;

export function showTransferRequest(request: RequestView): TransferRequestOutput {
  const { queue_ticket_id: _ticket, ...fields } = showFields(request);
  return { id: request.id, transfer_ticket_id: request.ticketId, message: request.notes.message, ...fields };
}

export const transferTicketOutput = output('TransferTicket', {
  id: uuid<'ticket'>(),
  engagement_id: nullable(uuid<'engagement'>()),
  site_id: uuid<'site'>(),
  visitor_id: uuid<'visitor'>(),
  media: oneOf(media),
  queue_ids: Type.Array(uuid<'queue'>()),
  state: oneOf(ticketStates),
  position: nullable(Type.Integer()),
  estimated_wait_sec: nullable(Type.Integer()),
  created_at: timestamp,
  updated_at: timestamp,
});

export function showTransferTicket(ticket: TicketOutput): Type.Static<typeof transferTicketOutput> {
  return ticket;
}
