import { maxCountedDeliveries } from '@usher/contract/limits';
import { attemptStates } from '@usher/contract/states';
import Type from 'typebox';
import { nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

/** How a webhook fares: its attempts by when they were made, and what waits for it now. */

const dayMs = 86_400_000;
export const longestMs = 7 * dayMs;
export const mostSteps = 400;

const count = (description: string) => Type.Integer({ description });
const ms = (description: string) => nullable(Type.Integer({ description }));

const counted = {
  delivered: count('Attempts that arrived'),
  failed: count('Attempts that did not, and were to be made again'),
  given_up: count('Attempts that did not, and were the last'),
  median_ms: ms('How long half of the attempts took at most; null: there were none'),
  p95_ms: ms('How long 95 of 100 took at most'),
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
    description: 'false: there were so many attempts that only those of the newest events count',
  }),
  steps: Type.Array(stepOutput, { description: 'Every one of the interval, those without attempts too' }),
  last_attempt: lastAttempt,
  waiting: output('WebhookWaiting', {
    pending: count(`About to be sent; ${maxCountedDeliveries.toLocaleString('en')} at most are counted of each`),
    retrying: count('Failed, and to be sent again'),
    held: count('Kept back while the webhook was disabled, until they are recovered'),
  }),
});

/** The steps between, each with what was counted in it or with nothing. */
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
