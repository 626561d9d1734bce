import { UsherError, UsherUnreachable } from './errors.ts';

/** The delay before the first retry; it doubles with each attempt. */
const firstDelayMs = 250;
/** The caller learns of a refusal that asks for a longer delay, instead of waiting. */
const longestRetryAfterSec = 60;
/** The server or a proxy is overloaded or restarting. */
const temporary: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Refusals with status 503 that last until somebody changes the settings of the server. */
const permanent: ReadonlySet<string> = new Set(['no_carrier', 'no_scanner', 'file_elsewhere']);

interface RetryQuery {
  readonly error: unknown;
  /** Whether a second request does no harm if the first one had an effect. */
  readonly isRepeatable: boolean;
  /** Retries so far. */
  readonly retries: number;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * How long to wait before the request is sent again; `null`: do not send it again. After a 429 the request had no effect, so it
 * is always repeated. After another failure the effect is unknown.
 */
export function retryDelayMs({ error, isRepeatable, retries, random }: RetryQuery): number | null {
  const backoffMs = firstDelayMs * 2 ** retries * (0.5 + random / 2);
  if (error instanceof UsherUnreachable) return isRepeatable ? backoffMs : null;
  if (!(error instanceof UsherError) || !temporary.has(error.status) || permanent.has(error.code)) return null;
  if (!isRepeatable && error.status !== 429) return null;
  const retryAfterSec = error.retryAfterSec ?? 0;
  return retryAfterSec > longestRetryAfterSec ? null : Math.max(backoffMs, retryAfterSec * 1000);
}

/** PATCH, and whatever names a version, gets another answer the second time. A POST has an `Idempotency-Key`. */
export function isRepeatable(method: string, namesVersion: boolean): boolean {
  return method !== 'PATCH' && !namesVersion;
}
