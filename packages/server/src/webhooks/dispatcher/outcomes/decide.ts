import type { Attempt } from '../../../channels/attempt.ts';
import type { Delivery } from '../delivery.ts';
import type { Outcome } from './outcomes.ts';
import { afterFailure, failuresBeforeParking } from './retry-schedule.ts';

type Decision = Pick<Outcome, 'state' | 'delayMs' | 'parked'>;

/** Decides the next state of a delivery after an attempt. */
export function decide({ type, attempts, parked }: Delivery, attempt: Attempt, random: number): Decision {
  const { verdict, retryAfterMs } = attempt;
  if (verdict === 'delivered') return { state: 'delivered', delayMs: null, parked };
  if (verdict === 'refused') return { state: 'exhausted', delayMs: null, parked };
  if (verdict === 'ended') return { state: 'held', delayMs: null, parked };
  const times = attempts + 1;
  const next = afterFailure({ type, times, retryAfterMs, random });
  if (typeof next === 'string') return { state: next, delayMs: null, parked };
  return { state: 'retrying', delayMs: next.delayMs, parked: parked || times >= failuresBeforeParking };
}
