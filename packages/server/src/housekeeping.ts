import { dropExpiredRevocations } from './identity/sign-in/store.ts';
import { dropRetiredKeys } from './identity/signing-keys.ts';
import type { Sql } from './platform/database.ts';
import { dropOldIdempotencyKeys } from './platform/idempotency.ts';
import type { Log } from './platform/log.ts';

const everyMs = 10 * 60_000;

/** Removes what has expired, now and then. Every process does; removing twice does no harm. */
export function startHousekeeping(sql: Sql, log: Log): () => void {
  const sweep = async (): Promise<void> => {
    try {
      await dropOldIdempotencyKeys(sql);
      await dropExpiredRevocations(sql);
      await dropRetiredKeys(sql);
    } catch (error) {
      log.warn({ err: error }, 'housekeeping failed; it is tried again');
    }
  };
  const timer = setInterval(() => void sweep(), everyMs).unref();
  return () => clearInterval(timer);
}
