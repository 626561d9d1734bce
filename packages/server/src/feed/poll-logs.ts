import { isDatabaseUnavailable, type Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Follower } from './follower.ts';
import { readQuietAccounts } from './log.ts';
import type { Position } from './position.ts';

/** One statement asks for up to this many accounts. */
const batchSize = 500;

/**
 * Looks for news that no hint has announced. Most accounts are quiet, so one statement asks for many of them, and only the logs of
 * the others are read. If a statement fails, every follower reads its log itself and decides when its readers have waited too long.
 */
export async function pollLogs(
  { sql, log }: { readonly sql: Sql; readonly log: Log },
  followers: readonly Follower[],
): Promise<void> {
  for (let from = 0; from < followers.length; from += batchSize) {
    const batch = followers.slice(from, from + batchSize);
    const positions = batch.map(({ accountId, position }) => ({ accountId, position }));
    const quiet = await readQuietAccounts(sql, positions).catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'could not poll the event log for the live feed');
      return new Map<AccountId, Position>();
    });
    for (const [n, follower] of batch.entries()) {
      const [before, now] = [positions[n]?.position, quiet.get(follower.accountId)];
      if (before === undefined || now === undefined) follower.readLog();
      else follower.advance(before, now);
    }
  }
}
