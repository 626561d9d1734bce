import type { Config } from './config.ts';
import { FileDisk } from './engagements/files/disk.ts';
import { sweepFiles } from './engagements/files/sweep.ts';
import { dropOldAuthentications } from './engagements/visitor-authentication/requests/store.ts';
import { dropExpiredSecrets } from './events/event-secrets.ts';
import { keepDays, keepEventPartitions } from './events/store.ts';
import { dropExpiredRevocations, dropExpiredSignIns } from './identity/sign-in/store.ts';
import { dropRetiredKeys } from './identity/signing-keys.ts';
import type { Sql } from './platform/database.ts';
import { dropOldIdempotencyKeys } from './platform/idempotency.ts';
import type { Log } from './platform/log.ts';
import { dropOldMoves } from './routing/turn-store.ts';
import { dropOldWebhooks } from './webhooks/retention.ts';

const everyMs = 10 * 60_000;

/** Makes room for what comes and removes what has expired, at once and then now and then. Every process may. */
export function startHousekeeping(sql: Sql, { eventRetentionDays, dataDir }: Config, log: Log): () => void {
  const disk = new FileDisk(dataDir, log);
  const tasks = [
    async () => keepEventPartitions(sql, eventRetentionDays),
    async () => keepDays(sql, { log: 'audit_log', key: 'at', retentionDays: eventRetentionDays }),
    async () => dropOldIdempotencyKeys(sql),
    async () => dropExpiredRevocations(sql),
    async () => dropExpiredSignIns(sql),
    async () => dropRetiredKeys(sql),
    async () => dropOldMoves(sql),
    async () => sweepFiles(sql, disk),
    async () => dropExpiredSecrets(sql),
    async () => dropOldAuthentications(sql),
    async () => dropOldWebhooks(sql, eventRetentionDays),
  ];
  let stopped = false;
  // One that fails does not keep the others from being done.
  const sweep = async (): Promise<void> => {
    for (const task of tasks) {
      try {
        if (!stopped) await task();
      } catch (error) {
        // Stopping takes the connection away from a sweep under way; the next start does it again.
        if (!stopped) log.warn({ err: error }, 'housekeeping failed; it is tried again');
      }
    }
  };
  void sweep();
  const timer = setInterval(() => void sweep(), everyMs).unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
