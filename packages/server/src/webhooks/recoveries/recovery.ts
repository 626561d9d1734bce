import Type from 'typebox';
import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import type { AccountId, Id } from '../../platform/ids.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

export type RecoveryId = Id<'recovery'>;

const states = ['running', 'finished', 'stopped'] as const;

const instant = Type.Unsafe<string>({ ...timestamp });

export const recoveryInput = body({
  since: Type.Unsafe<string>({
    ...instant,
    description: 'Recover events at or after this instant, which must not be in the future',
  }),
  until: Type.Optional(
    Type.Unsafe<string>({ ...instant, description: 'Recover events before this instant; default: no limit' }),
  ),
});

export const recoveryOutput = output('WebhookRecovery', {
  id: uuid<'recovery'>(),
  webhook_id: uuid<'webhook'>(),
  state: Type.Unsafe<(typeof states)[number]>({
    ...oneOf(states),
    description: 'stopped: the webhook was disabled or deleted before the recovery had finished',
  }),
  since: timestamp,
  until: nullable(timestamp),
  recovered: Type.Integer({ description: 'Deliveries requeued so far' }),
  created_at: timestamp,
  updated_at: timestamp,
  finished_at: nullable(timestamp),
});

export type RecoveryRow = Type.Static<typeof recoveryOutput> & { readonly id: RecoveryId };

/** A recovery claimed by this process, until another process claims it. */
export interface ClaimedRecovery {
  readonly id: RecoveryId;
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  readonly epoch: number;
}
