import { traitsOf } from '../../../events/catalogue.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** D8.6: the delay after each failure, about three days in total. */
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
/** Each delay varies by this fraction, so that deliveries that failed together are not retried together. */
const jitter = 0.2;

/** Retry-After is honoured up to this multiple of the step. */
const maxRetryAfterFactor = 2;
/** The longest delay after 0, 1, 2 … failures. A delivery without failures is due at once. */
export const maxDelaysMs: readonly number[] = [0, ...steps.map((step) => step * maxRetryAfterFactor)];

/** D8.7: after this many failures, the others of the lane no longer wait for a delivery. */
export const failuresBeforeParking = 3;
/** D8.11: a typing indicator is out of date by then. */
const failuresOfShortLived = 2;

interface Failed {
  readonly type: string;
  /** Number of failures so far. */
  readonly times: number;
  /** How long the receiver asks us to wait (Retry-After). */
  readonly retryAfterMs: number | null;
  /** From 0 to 1. */
  readonly random: number;
}

/** The delay until the retry of a failed delivery, or its final state. */
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

  return { delayMs: Math.round(Math.max(delay, Math.min(retryAfterMs ?? 0, maxRetryAfterFactor * step))) };
}
