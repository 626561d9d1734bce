import type { RowChanges } from '../platform/row-changes.ts';
import { isDatabaseUnavailable, piece, type Piece, type Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';

/**
 * How much of the log a reader has seen: everything of older epochs, and of this epoch everything visible in the snapshot.
 *
 * A number is not enough. `seq` and the transaction id are assigned before the commit, so a transaction that began earlier may
 * commit later. And ids are unique within an epoch only (see 0018_log_epochs.sql): after a crash, a failover or a restore
 * PostgreSQL may assign ids again that an older snapshot shows as committed.
 */
export interface LogPoint {
  readonly epoch: number;
  /** Distinguishes the epoch from one with the same number in a history that a restored backup has replaced. */
  readonly tag: string;
  /** A `pg_snapshot`, as text. */
  readonly snapshot: string;
  /** One of the latest events that were seen, as `<xid>.<seq>`; `null`: no event was seen. */
  readonly last: string | null;
}

/** Begins an epoch if none is in force. Writers of events do so too; a reader calls this so as not to wait for a writer. */
export async function beginEpoch(sql: Sql): Promise<void> {
  await sql`SELECT log_epoch()`;
}

/**
 * Begins an epoch as soon as this process is connected to a server that has none. This uses its own short transaction, because
 * a writer that begins an epoch makes all other writers wait until it commits.
 */
export async function beginEpochs(sql: Sql, changes: RowChanges, log: Log): Promise<void> {
  changes.onReset(() => {
    beginEpoch(sql).catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'could not begin an epoch of the event log');
    });
  });
  await beginEpoch(sql);
}

/** A point as SQL: parameters, or columns of a row. */
interface PointInSql {
  readonly epoch: Piece;
  readonly nextEpoch: Piece;
  readonly snapshot: Piece;
}

function parametersOf(sql: Sql, { epoch, snapshot }: LogPoint): PointInSql {
  return { epoch: sql`${epoch}`, nextEpoch: sql`${epoch + 1}`, snapshot: sql`${snapshot}::pg_snapshot` };
}

/** A reader at the point has seen the event. */
export function seenAt(sql: Sql, point: LogPoint): Piece {
  return seen(sql, parametersOf(sql, point));
}

/** A reader at the point has not seen the event. Served by events_by_transaction. */
export function unseenAt(sql: Sql, point: LogPoint): Piece {
  return unseen(sql, parametersOf(sql, point));
}

/** The same for a point in the columns `epoch` and `snapshot` of the row `p`. */
export const unseenAtRow = piece((sql) =>
  unseen(sql, { epoch: sql`p.epoch`, nextEpoch: sql`p.epoch + 1`, snapshot: sql`p.snapshot` }),
);

function seen(sql: Sql, { epoch, nextEpoch, snapshot }: PointInSql): Piece {
  return sql`(xid < log_position(${epoch}, '0'::xid8)
              OR xid < log_position(${nextEpoch}, '0'::xid8)
                 AND pg_visible_in_snapshot(log_transaction(xid), ${snapshot}))`;
}

function unseen(sql: Sql, point: PointInSql): Piece {
  return sql`xid >= log_position(${point.epoch}, pg_snapshot_xmin(${point.snapshot}))
             AND NOT ${seen(sql, point)}`;
}

/**
 * Whether the point belongs to this database's history: its epoch exists, and so does the last event that the reader saw. A
 * promoted standby or a restored backup may have lost the latest events.
 */
export async function isOfThisHistory(sql: Sql, accountId: AccountId, point: LogPoint): Promise<boolean> {
  const { epoch, tag, last } = point;
  const [xid = '0', seq = '0'] = last?.split('.') ?? [];
  const [row] = await sql<{ exists: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM log_epochs WHERE epoch = ${epoch} AND tag = ${tag})
           AND (${last === null}
                OR EXISTS (SELECT 1 FROM events
                            WHERE account_id = ${accountId} AND xid = ${xid}::text::xid8 AND seq = ${seq}::text::bigint))
           AS "exists"`;
  return row?.exists === true;
}
