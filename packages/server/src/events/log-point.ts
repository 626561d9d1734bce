import type { RowChanges } from '../platform/row-changes.ts';
import { isDatabaseUnavailable, type Piece, type Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';

/**
 * How much of the log a reader has seen: everything of older epochs, and of this epoch whatever the snapshot shows.
 *
 * A number cannot say that. `seq` is given before a transaction commits, and so is its id: a transaction that began earlier
 * may commit later. And ids last no longer than an epoch (see 0018_log_epochs.sql): after a crash, a failover or a restore
 * PostgreSQL gives out ids again that an older snapshot takes for done.
 */
export interface LogPoint {
  readonly epoch: number;
  /** Tells the epoch from one with the same number in a history that a restored backup has replaced. */
  readonly tag: string;
  /** Of PostgreSQL, as text. */
  readonly snapshot: string;
  /** An event that was seen and is among the last, as its transaction and number; `null`: there was none. */
  readonly last: string | null;
}

/** Begins an epoch if none is in force. Writers of events begin one as well; a reader does not have to wait for them. */
export async function beginEpoch(sql: Sql): Promise<void> {
  await sql`SELECT log_epoch()`;
}

/**
 * Begins an epoch as soon as this process has reached a server that has none, in a transaction of its own. A writer that
 * begins one makes all others wait until it commits.
 */
export async function beginEpochs(sql: Sql, changes: RowChanges, log: Log): Promise<void> {
  changes.onReset(() => {
    beginEpoch(sql).catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'could not begin an epoch of the log');
    });
  });
  await beginEpoch(sql);
}

/** The event was seen by a reader at the point. */
export function seenAt(sql: Sql, { epoch, snapshot }: LogPoint): Piece {
  return sql`(xid < log_position(${epoch}, '0'::xid8)
              OR xid < log_position(${epoch + 1}, '0'::xid8)
                 AND pg_visible_in_snapshot(log_transaction(xid), ${snapshot}::pg_snapshot))`;
}

/** The event was not seen at the point. Served by events_by_transaction. */
export function unseenAt(sql: Sql, point: LogPoint): Piece {
  return sql`xid >= log_position(${point.epoch}, pg_snapshot_xmin(${point.snapshot}::pg_snapshot))
             AND NOT ${seenAt(sql, point)}`;
}

/**
 * Whether a reader at the point has seen nothing but what is in this database's history: its epoch is one of that, and the
 * last event it saw is there. A standby or a backup may have lost what came last.
 */
export async function isOfThisHistory(sql: Sql, accountId: AccountId, point: LogPoint): Promise<boolean> {
  const { epoch, tag, last } = point;
  const [xid = '0', seq = '0'] = last?.split('.') ?? [];
  const [row] = await sql<{ isKnown: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM log_epochs WHERE epoch = ${epoch} AND tag = ${tag})
           AND (${last === null}
                OR EXISTS (SELECT 1 FROM events
                            WHERE account_id = ${accountId} AND xid = ${xid}::text::xid8 AND seq = ${seq}::text::bigint))
           AS "isKnown"`;
  return row?.isKnown === true;
}
