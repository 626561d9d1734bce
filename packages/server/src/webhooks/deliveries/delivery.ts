import { attemptStates } from '@usher/contract/states';
import Type from 'typebox';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import { eventTypes } from '../../events/catalogue.ts';
import type { EngagementId, Id } from '../../platform/ids.ts';
import { latest } from '../../platform/instant.ts';
import { nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

export type DeliveryId = Id<'delivery'>;

/** Those that wait are rows of `deliveries`; what became of the others is in the log. */
const waitingStates = ['pending', 'retrying', 'held'] as const;
const finishedStates = ['delivered', 'exhausted', 'discarded'] as const;
export const deliveryStates = [...waitingStates, ...finishedStates] as const;
export type DeliveryState = (typeof deliveryStates)[number];
export type FinishedState = (typeof finishedStates)[number];

/** An event and a webhook that is told of it. */
const fields = {
  id: uuid<'delivery'>(),
  webhook_id: uuid<'webhook'>(),
  engagement_id: nullable(
    Type.Unsafe<EngagementId>({ ...uuid(), description: 'Events of it arrive in order; null: no order is kept' }),
  ),
  event_id: uuid<'event'>(),
  event_type: Type.Unsafe<string>({ ...oneOf(eventTypes), description: 'As the webhook spells it' }),
  state: oneOf(deliveryStates),
  parked: Type.Boolean({ description: 'It is sent on its own, no longer in order with others of its engagement' }),
  next_attempt_at: nullable(
    Type.Unsafe<Date>({
      ...timestamp,
      description: 'Null while pending: at once, after those before it. Null otherwise: there will be none',
    }),
  ),
  occurred_at: timestamp,
  created_at: timestamp,
  finished_at: nullable(timestamp),
};

export const deliveryOutput = output('Delivery', {
  ...fields,
  last_status: nullable(Type.Integer({ description: 'Status answered to the last attempt; null: no answer' })),
  last_error: nullable(Type.String({ description: 'Why it was not delivered, or why the last attempt failed' })),
});
type DeliveryOutput = Type.Static<typeof deliveryOutput>;

const attemptOutput = output('DeliveryAttempt', {
  at: timestamp,
  state: oneOf(attemptStates),
  status: nullable(Type.Integer({ description: 'Null: there was no answer' })),
  duration_ms: nullable(Type.Integer({ description: 'Null: nothing was sent, only decided' })),
  answer: nullable(Type.String({ description: 'The first 4 KiB of it' })),
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
        description: 'As it is in the log, without what is secret; null: it is no longer there',
      }),
    ),
  }),
  attempts: Type.Array(attemptOutput, { description: 'What became of it so far, oldest first; the newest 200' }),
});
export type DeliveryDetails = Type.Static<typeof deliveryDetails>;

export interface DeliveryRow extends Omit<DeliveryOutput, 'webhook_id' | 'id'> {
  readonly id: DeliveryId;
  readonly webhook_id: WebhookId;
  /** The place of its event in the log. */
  readonly event_seq: number;
}

/** Clocks of processes are not further apart: what is written about a delivery is not older than it by more than this. */
export const clocksApartMs = 60 * 60_000;

/** When it was made, which its id begins with (UUID version 7); `null`: it is no id of a delivery. */
export function madeAt(id: DeliveryId): Date | null {
  if (id[14] !== '7') return null;
  const ms = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
  return ms <= latest ? new Date(ms) : null;
}
