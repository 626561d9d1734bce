import { traitsOf } from '../../events/catalogue.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** D8.6: what is waited after each failure, about three days in all. */
const steps = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  20 * hour,
] as const;
/** A step is up to so much shorter or longer, so that what failed together does not come back together. */
const jitter = 0.2;

/** What the receiver asks for may be twice the step. */
const longestRetryAfter = 2;
/** The longest delay after 0, 1, 2 … failures. One that has not failed is due at once. */
export const longestDelaysMs: readonly number[] = [0, ...steps.map((step) => step * longestRetryAfter)];

/** D8.7: one that has failed so often no longer keeps back what follows. */
export const failuresBeforeParking = 3;
/** D8.11: typing is old by then. */
const failuresOfShortLived = 2;

interface Failed {
  readonly type: string;
  /** How often by now. */
  readonly times: number;
  /** How long the receiver asks to be left alone. */
  readonly retryAfterMs: number | null;
  /** From 0 to 1. */
  readonly random: number;
}

/** What becomes of a delivery that has failed. */
export function afterFailure({
  type,
  times,
  retryAfterMs,
  random,
}: Failed): { readonly delayMs: number } | 'exhausted' | 'discarded' {
  if (traitsOf(type).shortLived === true && times >= failuresOfShortLived) return 'discarded';
  const step = steps[times - 1];
  if (step === undefined) return 'exhausted';
  const delay = step * (1 + jitter * (2 * random - 1));
  // The receiver may ask for more than the step, up to twice of it.
  return { delayMs: Math.round(Math.max(delay, Math.min(retryAfterMs ?? 0, longestRetryAfter * step))) };
}
