import { piece, type Piece, type Sql } from '../platform/database.ts';

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
}

/** The epoch in force, one row: `epoch` and `tag`. No row: none has begun since the server started; see `beginEpoch`. */
export const epochInForce = piece(
  (sql) => sql`(SELECT epoch, tag FROM log_epoch_in_force WHERE server_started_at = pg_postmaster_start_time())`,
);

/** Begins an epoch if none is in force. Whoever writes an event does so too; a reader need not wait for one. */
export async function beginEpoch(sql: Sql): Promise<void> {
  await sql`SELECT log_epoch()`;
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

/** The point is one of this database's history. */
export function isKnown(sql: Sql, { epoch, tag }: LogPoint): Piece {
  return sql`EXISTS (SELECT 1 FROM log_epochs WHERE epoch = ${epoch} AND tag = ${tag})`;
}
