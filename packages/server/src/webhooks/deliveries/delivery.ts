import { attemptStates } from '@usher/contract/states';
import Type from 'typebox';
import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import { eventTypes } from '../../events/catalogue.ts';
import type { EngagementId, Id } from '../../platform/ids.ts';
import { latest } from '../../platform/instant.ts';
import { nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

export type DeliveryId = Id<'delivery'>;

/** Waiting deliveries are rows of `deliveries`; finished ones are in the delivery log. */
const waitingStates = ['pending', 'retrying', 'held'] as const;
const finishedStates = ['delivered', 'exhausted', 'discarded'] as const;
export const deliveryStates = [...waitingStates, ...finishedStates] as const;
export type DeliveryState = (typeof deliveryStates)[number];
export type FinishedState = (typeof finishedStates)[number];

/** A delivery: one event for one webhook. */
const fields = {
  id: uuid<'delivery'>(),
  webhook_id: uuid<'webhook'>(),
  engagement_id: nullable(
    Type.Unsafe<EngagementId>({
      ...uuid(),
      description: 'Events of this engagement arrive in order; null: of no engagement, or unordered',
    }),
  ),
  event_id: uuid<'event'>(),
  event_type: Type.Unsafe<string>({ ...oneOf(eventTypes), description: 'In the spelling that the webhook subscribed' }),
  state: oneOf(deliveryStates),
  parked: Type.Boolean({ description: 'The delivery is no longer ordered with the others of its engagement' }),
  next_attempt_at: nullable(
    Type.Unsafe<Date>({
      ...timestamp,
      description:
        'Null while pending: as soon as the earlier ones are done. Null in other states: there is no further attempt',
    }),
  ),
  occurred_at: timestamp,
  created_at: timestamp,
  finished_at: nullable(timestamp),
};

export const deliveryOutput = output('Delivery', {
  ...fields,
  last_status: nullable(Type.Integer({ description: 'Status of the answer to the last attempt; null: no answer' })),
  last_error: nullable(Type.String({ description: 'Why the last attempt failed, or why there was none' })),
});
type DeliveryOutput = Type.Static<typeof deliveryOutput>;

const attemptOutput = output('DeliveryAttempt', {
  at: timestamp,
  state: oneOf(attemptStates),
  status: nullable(Type.Integer({ description: 'Null: there was no answer' })),
  duration_ms: nullable(Type.Integer({ description: 'Null: no request was made' })),
  answer: nullable(Type.String({ description: 'The first 4 KiB of the answer' })),
  error: nullable(Type.String()),
});

export const deliveryDetails = output('DeliveryDetails', {
  ...fields,
  event: output('DeliveredEvent', {
    id: uuid<'event'>(),
    type: Type.String(),
    payload: nullable(
      Type.Unsafe<object>({
        type: 'object',
        additionalProperties: true,
        description: 'The payload as it is in the log, without its secrets; null: the log no longer has the event',
      }),
    ),
  }),
  attempts: Type.Array(attemptOutput, { description: 'The newest 200 attempts, oldest first' }),
});
export type DeliveryDetails = Type.Static<typeof deliveryDetails>;

export interface DeliveryRow extends Omit<DeliveryOutput, 'webhook_id' | 'id'> {
  readonly id: DeliveryId;
  readonly webhook_id: WebhookId;
  /** `seq` of the event in the log. */
  readonly event_seq: number;
}

/** Maximum skew between the clocks of processes: a log row of a delivery is not older than the delivery by more than this. */
export const maxClockSkewMs = 60 * 60_000;

/** When the delivery was created, read from its id (UUID version 7); `null`: not an id of a delivery. */
export function createdAtOf(id: DeliveryId): Date | null {
  if (id[14] !== '7') return null;
  const ms = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
  return ms <= latest ? new Date(ms) : null;
}
