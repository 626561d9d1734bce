/**
 * D8.13: the time in which a webhook counts as failing (`failing_since`). All times are Unix milliseconds of the database's clock.
 *
 *   none        —failure→ failing
 *   failing     —success→ none within the first minute, because it was a short fault; otherwise recovering
 *   recovering  —failure→ failing
 *   recovering  —ten minutes without a failure→ none
 *
 * Without `recovering`, the status of a receiver that succeeds now and then would change with every success.
 */
export interface Outage {
  readonly since: number;
  /** The last failure, to the minute. */
  readonly failedAt: number;
  /** Recovering: since when it has delivered. Failing: nothing was delivered after this time; `null`: nothing since `since`. */
  readonly succeededAt: number | null;
}

/** A success ends an outage that is shorter than this. */
const shortFaultMs = 60_000;
/** A webhook that has delivered for this long without a failure has recovered. */
export const steadyMs = 600_000;
/** Further failures are noted this often, because each note is stored. */
const noteEveryMs = 60_000;

export function afterFailure(outage: Outage | null, now: number): Outage {
  if (outage === null || hasEnded(outage, now)) return { since: now, failedAt: now, succeededAt: null };
  if (isRecovering(outage)) return { ...outage, failedAt: now, succeededAt: now };
  return now - outage.failedAt < noteEveryMs ? outage : { ...outage, failedAt: now };
}

/** `null`: the webhook works. */
export function afterSuccess(outage: Outage, now: number): Outage | null {
  if (now - outage.since < shortFaultMs || hasEnded(outage, now)) return null;
  return isRecovering(outage) ? outage : { ...outage, succeededAt: Math.max(now, outage.failedAt + 1) };
}

/** For how long nothing has been delivered. */
export function silentMs({ since, succeededAt }: Outage, now: number): number {
  return now - Math.max(since, succeededAt ?? since);
}

function isRecovering({ failedAt, succeededAt }: Outage): boolean {
  return succeededAt !== null && succeededAt > failedAt;
}

function hasEnded(outage: Outage, now: number): boolean {
  return isRecovering(outage) && now - (outage.succeededAt ?? now) >= steadyMs;
}
