import type { Config } from './config.ts';
import { FileDisk } from './engagements/files/disk.ts';
import { sweepFiles } from './engagements/files/sweep.ts';
import { dropOldAuthentications } from './engagements/visitor-authentication/requests/store.ts';
import { dropExpiredSecrets } from './events/event-secrets.ts';
import { auditLog, deliveryLog, dropDays, eventLog, makeDays } from './events/store.ts';
import { dropExpiredRevocations, dropExpiredSignIns } from './identity/sign-in/store.ts';
import { dropRetiredKeys } from './identity/signing-keys.ts';
import { dropUnusedVisitors } from './identity/visitors/sweep.ts';
import type { ClockWatch } from './platform/clock-watch.ts';
import type { Sql } from './platform/database.ts';
import { dropOldIdempotencyKeys } from './platform/idempotency.ts';
import type { Log } from './platform/log.ts';
import { dropOldIntervals } from './routing/presence/intervals-store.ts';
import { dropOldMoves } from './routing/turn-store.ts';
import { removeRemains } from './site-deletion/remove-remains.ts';
import { dropOldWebhooks } from './webhooks/retention.ts';

const everyMs = 10 * 60_000;
/** What deleted sites have left is removed for so long in each sweep; the rest waits for the next. */
const mostRemovalMs = 60_000;

interface HousekeepingParts {
  readonly sql: Sql;
  readonly clock: Pick<ClockWatch, 'sweepTime' | 'onStep'>;
  readonly config: Pick<Config, 'eventRetentionDays' | 'presenceRetentionDays' | 'dataDir'>;
  readonly log: Log;
}

type Task = () => Promise<void>;

/**
 * Makes room for what comes and removes what has expired: at the start, every ten minutes, and after a step of the clock.
 * Every process does it.
 *
 * What is deleted does not come back, so a wrong clock must not decide it. Before each sweep the clock is checked
 * (`sweepTime`), and the instant that passed the check is what every deletion goes by: a step during the sweep changes nothing.
 */
export function startHousekeeping({ sql, clock, config, log }: HousekeepingParts): () => void {
  const disk = new FileDisk(config.dataDir, log);
  let stopped = false;
  let refusal: string | null = null;
  // One that fails does not keep the others from being done.
  const run = async (tasks: readonly Task[]): Promise<void> => {
    for (const task of tasks) {
      try {
        if (!stopped) await task();
      } catch (error) {
        // Stopping takes the connection away from a sweep under way; the next start does it again.
        if (!stopped) log.warn({ err: error }, 'housekeeping failed; it is tried again');
      }
    }
  };
  const removeExpired = async (): Promise<void> => {
    const time = await clock.sweepTime();
    const why = time.mayDelete ? null : time.why;
    // Said once, not every ten minutes.
    if (why !== null && why !== refusal) log.warn({ why }, 'nothing is deleted while the clock is in doubt');
    refusal = why;
    if (!time.mayDelete) return;
    const { now, steadyNow } = time;
    const kept = { now, days: config.eventRetentionDays };
    await run([
      async () => dropDays(sql, eventLog, kept),
      async () => dropDays(sql, auditLog, kept),
      async () => dropOldIntervals(sql, { now, days: config.presenceRetentionDays }),
      async () => dropOldIdempotencyKeys(sql, now),
      async () => dropExpiredRevocations(sql, steadyNow),
      async () => dropExpiredSignIns(sql, now),
      async () => dropRetiredKeys(sql, now),
      async () => dropUnusedVisitors(sql, now),
      async () => sweepFiles(sql, disk, now),
      async () => dropExpiredSecrets(sql, now),
      async () => dropOldAuthentications(sql, now),
      async () => dropOldWebhooks(sql, kept),
    ]);
  };
  const removeDeletedSites = async (): Promise<void> => {
    const end = performance.now() + mostRemovalMs;
    await removeRemains(sql, disk, () => stopped || performance.now() > end);
  };
  const sweep = async (): Promise<void> =>
    run([
      async () => makeDays(sql, eventLog),
      async () => makeDays(sql, auditLog),
      async () => makeDays(sql, deliveryLog),
      // Losing one too many costs a board that is read again.
      async () => dropOldMoves(sql),
      // Deleted sites are recorded by a request, so a wrong clock cannot delete anything here.
      removeDeletedSites,
      removeExpired,
    ]);
  void sweep();
  clock.onStep(() => void sweep());
  const timer = setInterval(() => void sweep(), everyMs).unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
