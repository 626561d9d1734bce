import { maxCountedDeliveries } from '@usher/contract/limits';
import { attemptStates } from '@usher/contract/states';
import Type from 'typebox';
import { nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

/** Delivery stats of a webhook: its attempts by time, and its current backlog. */

const dayMs = 86_400_000;
export const longestMs = 7 * dayMs;
export const maxSteps = 400;

const count = (description: string) => Type.Integer({ description });
const ms = (description: string) => nullable(Type.Integer({ description }));

const counted = {
  delivered: count('Successful attempts'),
  failed: count('Failed attempts that were to be retried'),
  given_up: count('Failed attempts that were the last of their delivery'),
  median_ms: ms('Median duration of the attempts; null: there were none'),
  p95_ms: ms('95th percentile of the durations; null: there were none'),
};

const stepOutput = output('WebhookStatsStep', { at: timestamp, ...counted });
export type Step = Type.Static<typeof stepOutput>;

const lastAttempt = nullable(
  output('WebhookLastAttempt', {
    at: timestamp,
    state: oneOf(attemptStates),
    status: nullable(Type.Integer({ description: 'Null: there was no answer' })),
    error: nullable(Type.String()),
  }),
);
export type LastAttempt = Type.Static<typeof lastAttempt>;

export const statsOutput = output('WebhookStats', {
  webhook_id: uuid<'webhook'>(),
  from: timestamp,
  to: timestamp,
  interval: Type.Integer({ description: 'Seconds' }),
  complete: Type.Boolean({
    description: 'false: there were too many attempts; only those of the newest events are counted',
  }),
  steps: Type.Array(stepOutput, { description: 'All steps of the time range, including those without attempts' }),
  last_attempt: lastAttempt,
  waiting: output('WebhookWaiting', {
    pending: count(
      `Waiting for the first attempt; each number is counted up to ${maxCountedDeliveries.toLocaleString('en')}`,
    ),
    retrying: count('Failed, waiting for a retry'),
    held: count('Held while the webhook was disabled; can be recovered'),
  }),
});

/** All steps of the time range, with zeros for those without attempts. */
export function everyStep(
  { from, to, intervalMs }: { readonly from: Date; readonly to: Date; readonly intervalMs: number },
  found: readonly (Omit<Step, 'at'> & { readonly step: number })[],
): Step[] {
  const byStep = new Map(found.map(({ step, ...numbers }) => [step, numbers]));
  const none = { delivered: 0, failed: 0, given_up: 0, median_ms: null, p95_ms: null };
  const length = Math.ceil((to.getTime() - from.getTime()) / intervalMs);
  return Array.from({ length }, (_, step) => ({
    at: new Date(from.getTime() + step * intervalMs),
    ...(byStep.get(step) ?? none),
  }));
}
