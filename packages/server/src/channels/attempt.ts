import { ForbiddenAddress } from '../platform/outbound/address-guard.ts';

/** The result of one attempt to deliver an event, by any channel. */
export interface Attempt {
  /**
   * `failed`: to be retried. `refused`: this event will never be accepted, others may be. `ended`: nothing will ever be accepted
   * there, so the webhook is disabled.
   */
  readonly verdict: 'delivered' | 'failed' | 'refused' | 'ended';
  /**
   * The receiver did not answer: this counts against the destination, whichever delivery it was. `null`: no request was
   * made, so the destination is not judged.
   */
  readonly unavailable: boolean | null;
  /** Status of the answer; `null`: there was no answer. */
  readonly status: number | null;
  /** The first `maxAnswerBytes` of the answer, as text that can be stored. */
  readonly answer: string | null;
  /** What went wrong, for the person who registered the webhook; shown in the delivery log. */
  readonly error: string | null;
  readonly durationMs: number;
  /** The receiver accepted the connection, but did not answer in time. */
  readonly timedOut?: boolean;
  /** How long the receiver asks us to wait (Retry-After). */
  readonly retryAfterMs: number | null;
}

/** Bytes of an answer that are stored. */
export const maxAnswerBytes = 4_096;

/** Replaces NUL, which PostgreSQL does not accept in a text. */
export function storable(answer: Buffer): string {
  return answer.subarray(0, maxAnswerBytes).toString('utf8').replaceAll('\0', '\uFFFD');
}

/** Describes the error for the person who registered the URL. Forbidden addresses are not named. */
export function describeFailure(error: unknown): string {
  if (error instanceof ForbiddenAddress) return 'the address is not allowed';
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? `${error.message} (${error.code})` : error.message;
}
