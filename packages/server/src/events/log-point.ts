import type { RowChanges } from '../platform/database/row-changes.ts';
import { isDatabaseUnavailable, type SqlFragment, type Sql } from '../platform/database/database.ts';
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
  readonly epoch: SqlFragment;
  readonly nextEpoch: SqlFragment;
  readonly snapshot: SqlFragment;
}

function parametersOf(sql: Sql, { epoch, snapshot }: LogPoint): PointInSql {
  return { epoch: sql`${epoch}`, nextEpoch: sql`${epoch + 1}`, snapshot: sql`${snapshot}::pg_snapshot` };
}

/** A reader at the point has seen the event. */
export function seenAt(sql: Sql, point: LogPoint): SqlFragment {
  return seen(sql, parametersOf(sql, point));
}

/**
 * The events with these conditions, which include the account, that a reader at the point has not seen; a subquery for FROM. Served by
 * events_by_transaction.
 *
 * Everything from the oldest running transaction on would be correct as well. But one that was forgotten, in any database of the server,
 * would make each read longer than the last. So only the latest transactions are read as one range, and of the older ones only those that
 * were running: each is found by its id.
 */
export function unseenEvents(sql: Sql, point: LogPoint, conditions: SqlFragment): SqlFragment {
  const given = parametersOf(sql, point);
  return sql`
    (SELECT * FROM events WHERE ${conditions} AND ${isUnseenInRange(sql, given)}
      UNION ALL
     SELECT * FROM events WHERE ${conditions} AND xid = ANY(ARRAY(${longRunning(sql, given)})))`;
}

/** Whether there is an unseen event with these conditions, for a point in the columns `epoch` and `snapshot` of the row `p`. */
export function hasUnseenAtRow(sql: Sql, conditions: SqlFragment): SqlFragment {
  const ofRow = { epoch: sql`p.epoch`, nextEpoch: sql`p.epoch + 1`, snapshot: sql`p.snapshot` };
  // Sorted, so that the planner searches the index and does not scan the events.
  return sql`
    ((SELECT seq FROM events WHERE ${conditions} AND ${isUnseenInRange(sql, ofRow)} ORDER BY xid LIMIT 1) IS NOT NULL
     OR EXISTS (SELECT
                  FROM (${longRunning(sql, ofRow)}) AS running (id)
                 WHERE (SELECT seq FROM events WHERE ${conditions} AND xid = running.id ORDER BY xid LIMIT 1) IS NOT NULL))`;
}

function seen(sql: Sql, { epoch, nextEpoch, snapshot }: PointInSql): SqlFragment {
  return sql`(xid < log_position(${epoch}, '0'::xid8)
              OR xid < log_position(${nextEpoch}, '0'::xid8)
                 AND pg_visible_in_snapshot(log_transaction(xid), ${snapshot}))`;
}

/** The ids below the end of a snapshot that are read as one range: more than transactions run at a time, so this is usually all. */
const rangeSize = 1_000;

/** The first id of the range. */
const rangeOf = (sql: Sql, snapshot: SqlFragment) => sql`
  greatest(pg_snapshot_xmin(${snapshot})::text::bigint, pg_snapshot_xmax(${snapshot})::text::bigint - ${rangeSize}::bigint)`;

function isUnseenInRange(sql: Sql, point: PointInSql): SqlFragment {
  return sql`xid >= log_position(${point.epoch}, ${rangeOf(sql, point.snapshot)}::text::xid8) AND NOT ${seen(sql, point)}`;
}

/** The positions of transactions that were running when the snapshot was taken, and began before the range. */
function longRunning(sql: Sql, { epoch, snapshot }: PointInSql): SqlFragment {
  return sql`
    SELECT log_position(${epoch}, running)
      FROM pg_snapshot_xip(${snapshot}) AS running
     WHERE running::text::bigint < ${rangeOf(sql, snapshot)}`;
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
