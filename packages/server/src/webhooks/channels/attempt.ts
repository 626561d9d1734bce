import { ForbiddenAddress } from '../../platform/address-guard.ts';

/** One attempt to deliver, however it is sent. */
export interface Attempt {
  /**
   * `failed`: to be tried again. `refused`: it never will be taken, but the next may. `ended`: nothing will ever be taken
   * there, so that the webhook is disabled.
   */
  readonly verdict: 'delivered' | 'failed' | 'refused' | 'ended';
  /**
   * Nobody was there to take anything: that counts against the destination, whichever delivery it was. `null`: nobody was
   * asked, which says nothing of the destination.
   */
  readonly unavailable: boolean | null;
  /** What was answered; `null`: nothing was. */
  readonly status: number | null;
  /** The first of the answer, `longestAnswer` bytes at most, as text that can be stored. */
  readonly answer: string | null;
  /** What went wrong, in words for whoever registered the webhook. */
  readonly error: string | null;
  readonly durationMs: number;
  /** Somebody took what was sent and did not answer in time. */
  readonly timedOut?: boolean;
  /** How long the receiver asks to be left alone. */
  readonly retryAfterMs: number | null;
}

/** Bytes of an answer that are kept. */
export const longestAnswer = 4_096;

/** PostgreSQL takes no NUL in a text. */
export function storable(answer: Buffer): string {
  return answer.subarray(0, longestAnswer).toString('utf8').replaceAll('\0', '\uFFFD');
}

/** For whoever registered the URL: what they can do something about. Addresses it was forbidden to reach are not named. */
export function describeFailure(error: unknown): string {
  if (error instanceof ForbiddenAddress) return 'the address may not be called';
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? `${error.message} (${error.code})` : error.message;
}
