import { media } from '@usher/contract/media';
import { endedTicketStates, queueStatuses } from '@usher/contract/states';
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
  'operator.presence': event({
    title: 'OperatorPresenceEvent',
    trigger: 'An operator becomes available or unavailable, or takes other media',
    fields: {
      operator: body({
        id,
        available: Type.Boolean({ description: 'Whether tickets can be offered to the operator, busy or not' }),
        media: Type.Array(oneOf(media), { description: 'What the operator takes; empty if not available' }),
        because: Type.Unsafe<'set' | 'expired' | 'disabled'>({
          ...oneOf(['set', 'expired', 'disabled'] as const),
          description:
            'set: the presence was set, also after a missed offer; expired: it was not renewed in time; disabled: the operator was disabled',
        }),
        reason: nullable(
          Type.String({ description: 'The reason that was given with the presence; missed_call after a missed offer' }),
        ),
      }),
    },
    sample: {
      operator: { id: sample.ids.operator, available: false, media: [], because: 'set', reason: 'lunch' },
    },
    onDemand: true,
    hiddenFromVisitors: true,
  }),
  'queue.status': event({
    title: 'QueueStatusEvent',
    trigger: 'The status of a queue changes',
    fields: {
      queue: body({
        id,
        site_id: id,
        status: Type.Unsafe<(typeof queueStatuses)[number]>({
          ...oneOf(queueStatuses),
          description: 'opened: a visitor may enter the queue or one of its fallbacks',
        }),
        self_status: Type.Unsafe<(typeof queueStatuses)[number]>({
          ...oneOf(queueStatuses),
          description: 'The status without fallback queues',
        }),
        previous_status: oneOf(queueStatuses),
        previous_self_status: oneOf(queueStatuses),
        reason: Type.Unsafe<'hours' | 'staff' | 'capacity' | 'fallback'>({
          ...oneOf(['hours', 'staff', 'capacity', 'fallback'] as const),
          description:
            'What changed: the hours, whether an operator is available, whether there is room, or only the status of a fallback queue',
        }),
      }),
    },
    sample: {
      queue: {
        id: sample.ids.queue,
        site_id: sample.ids.site,
        status: 'full',
        self_status: 'full',
        previous_status: 'opened',
        previous_self_status: 'opened',
        reason: 'capacity',
      },
    },
    onDemand: true,
    hiddenFromVisitors: true,
  }),
};
