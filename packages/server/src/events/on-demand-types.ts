import { media } from '@usher/contract/media';
import { endedTicketStates } from '@usher/contract/states';
import Type from 'typebox';
import { body, nullable, oneOf } from '../platform/schema.ts';
import { event } from './declaration.ts';
import * as sample from './sample-values.ts';
import { id, instant } from './vocabulary.ts';

/** The declarations of the event types that are made on demand. `catalogue.ts` includes them. */

const ticket = {
  id,
  kind: Type.Unsafe<'visitor' | 'transfer'>({
    ...oneOf(['visitor', 'transfer'] as const),
    description: 'transfer: an operator transfers the visitor to a queue',
  }),
  site_id: id,
  visitor_id: id,
  media: oneOf(media),
  queue_ids: Type.Array(id, { description: 'The queues that the ticket is in, or was in last' }),
  engagement_id: nullable(
    Type.String({ description: 'The engagement to transfer, or the one that the ticket became' }),
  ),
  enqueued_at: instant('When the ticket was created'),
};

const sampleTicket = {
  id: sample.ids.ticket,
  kind: 'visitor',
  site_id: sample.ids.site,
  visitor_id: sample.ids.visitor,
  media: 'text',
  queue_ids: [sample.ids.queue],
  engagement_id: null,
  enqueued_at: sample.timestamp,
} as const;

export const onDemandDeclarations = {
  'ticket.created': event({
    title: 'TicketCreatedEvent',
    trigger: 'A ticket enters a queue',
    fields: { ticket: body(ticket) },
    sample: { ticket: { ...sampleTicket, queue_ids: [sample.ids.queue] } },
    onDemand: true,
    hiddenFromVisitors: true,
  }),
  'ticket.offered': event({
    title: 'TicketOfferedEvent',
    trigger: 'A ticket is offered to an operator',
    fields: { ticket: body({ ...ticket, engagement_request_id: id, queue_id: id, operator_id: id }) },
    sample: {
      ticket: {
        ...sampleTicket,
        queue_ids: [sample.ids.queue],
        engagement_request_id: sample.ids.request,
        queue_id: sample.ids.queue,
        operator_id: sample.ids.operator,
      },
    },
    onDemand: true,
    hiddenFromVisitors: true,
  }),
  'ticket.ended': event({
    title: 'TicketEndedEvent',
    trigger: 'A ticket ends: it becomes an engagement, or leaves its queues without one',
    fields: {
      ticket: body({
        ...ticket,
        state: oneOf(endedTicketStates),
        queue_id: nullable(
          Type.String({ description: 'The queue that made the match; null: the ticket is not engaged' }),
        ),
      }),
    },
    sample: {
      ticket: {
        ...sampleTicket,
        queue_ids: [sample.ids.queue],
        engagement_id: sample.ids.engagement,
        state: 'engaged',
        queue_id: sample.ids.queue,
      },
    },
    onDemand: true,
    hiddenFromVisitors: true,
  }),
};
