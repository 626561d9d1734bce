import type { DestinationId } from '../../../events/subscriptions/destination.ts';
import { isGone } from '../../../platform/database/database-session.ts';
import type { SqlFragment, Sql } from '../../../platform/database/database.ts';
import { isNotMoving } from '../../../identity/moving.ts';
import { hasCome } from '../../../platform/clock/due-time.ts';
import type { AccountId } from '../../../platform/ids.ts';

/** Duration of a lease that is not renewed. */
export const leaseSec = 15;
/** A lease expires by time only if the database's clock differs from the expected time by less than this. */
const clockMarginSec = 5;

export interface Lease {
  readonly id: DestinationId;
  readonly accountId: AccountId;
  readonly origin: string;
  readonly epoch: number;
  /** The destination did not answer the previous owner in time. */
  readonly isUnresponsive: boolean;
}

/** The process that leases, and what it knows about the leases of others. */
export interface Claimant {
  readonly owner: string;
  /** The number of its database session, by which others see whether it is alive; `null`: it has none. */
  readonly session: number | null;
  /** Sessions that have been gone long enough for their owners to have stopped sending. */
  readonly gone: readonly number[];
  /** The expected time of the database's clock (epoch milliseconds); `null`: the clock was just stepped, so no lease expires by time. */
  readonly expectedNow: number | null;
}

const leaseColumns = (sql: Sql) => sql`d.id, d.account_id AS "accountId", d.origin, d.epoch::float8 AS epoch,
  d.is_unresponsive AS "isUnresponsive"`;

/**
 * Whether the destination `d` is free: its lease was released, or its owner's session is gone, or the lease has expired. Expiry
 * counts only while the clock shows the expected time. Otherwise a step of the clock would take destinations away from owners
 * that are alive and sending, and that notice only when they renew.
 */
function isFree(sql: Sql, { gone, expectedNow }: Claimant): SqlFragment {
  const byTime =
    expectedNow === null
      ? sql`false`
      : sql`(abs(extract(epoch FROM clock_timestamp()) - ${expectedNow / 1000}::float8) < ${clockMarginSec}
             AND ${hasCome(sql, sql`d.leased_until`, leaseSec)})`;
  return sql`(d.leased_until = '-infinity'
              OR (d.owner_session = ANY(${[...gone]}::integer[]) AND d.session_epoch = d.epoch)
              OR ${byTime})`;
}

function takeLease(sql: Sql, { owner, session }: Claimant): SqlFragment {
  return sql`
    UPDATE destinations d
       SET owner = ${owner}, epoch = d.epoch + 1, leased_until = now() + make_interval(secs => ${leaseSec}),
           owner_session = ${session}, session_epoch = d.epoch + 1
      FROM free
     WHERE d.id = free.id
    RETURNING ${leaseColumns(sql)}`;
}

/** Leases free destinations of these accounts that have something due. */
export async function leaseOf(
  sql: Sql,
  claimant: Claimant,
  accounts: readonly AccountId[],
  limit: number,
): Promise<Lease[]> {
  return sql<Lease[]>`
    WITH free AS (
           SELECT d.id
             FROM destinations d
            WHERE d.account_id = ANY(${[...accounts]}::uuid[]) AND ${isFree(sql, claimant)}
              AND ${isNotMoving(sql, sql`d.account_id`)}
              AND (EXISTS (SELECT 1 FROM deliveries w
                            WHERE w.destination_id = d.id AND w.state = 'pending' AND w.due_at IS NULL)
                   OR EXISTS (SELECT 1 FROM deliveries w WHERE w.destination_id = d.id AND w.due_at <= now()))
            ORDER BY d.id
            LIMIT ${limit}
              FOR NO KEY UPDATE SKIP LOCKED)
    ${takeLease(sql, claimant)}`;
}

/**
 * As `leaseOf`, for all accounts; also returns how long the oldest due delivery has been due. The recursion visits each
 * destination with waiting deliveries once, not each delivery.
 */
export async function leaseAny(
  sql: Sql,
  claimant: Claimant,
  limit: number,
): Promise<{ readonly leases: Lease[]; readonly oldestDueSec: number }> {
  const rows = await sql<((Lease | { readonly id: null }) & { oldestDueSec: number })[]>`
    WITH RECURSIVE
         fresh AS (
           (SELECT destination_id, created_at AS since
              FROM deliveries
             WHERE state = 'pending' AND due_at IS NULL
             ORDER BY destination_id, event_seq
             LIMIT 1)
           UNION ALL
           SELECT later.destination_id, later.since
             FROM fresh
            CROSS JOIN LATERAL (
                    SELECT w.destination_id, w.created_at AS since
                      FROM deliveries w
                     WHERE w.state = 'pending' AND w.due_at IS NULL AND w.destination_id > fresh.destination_id
                     ORDER BY w.destination_id, w.event_seq
                     LIMIT 1) AS later),
         delayed AS (
           (SELECT destination_id, due_at AS since
              FROM deliveries
             WHERE due_at IS NOT NULL
             ORDER BY destination_id, due_at
             LIMIT 1)
           UNION ALL
           SELECT later.destination_id, later.since
             FROM delayed
            CROSS JOIN LATERAL (
                    SELECT w.destination_id, w.due_at AS since
                      FROM deliveries w
                     WHERE w.due_at IS NOT NULL AND w.destination_id > delayed.destination_id
                     ORDER BY w.destination_id, w.due_at
                     LIMIT 1) AS later),
         due AS (
           SELECT destination_id, since FROM fresh
           UNION ALL
           SELECT destination_id, since FROM delayed WHERE since <= now()),
         free AS (
           SELECT d.id
             FROM destinations d
            WHERE d.id IN (SELECT destination_id FROM due) AND ${isFree(sql, claimant)}
              AND ${isNotMoving(sql, sql`d.account_id`)}
            ORDER BY d.id
            LIMIT ${limit}
              FOR NO KEY UPDATE SKIP LOCKED),
         leased AS (${takeLease(sql, claimant)})
    SELECT leased.*, oldest.sec AS "oldestDueSec"
      FROM (SELECT coalesce(extract(epoch FROM now() - min(since)), 0)::float8 AS sec FROM due) AS oldest
      LEFT JOIN leased ON true`;
  const leases = rows.filter((row): row is Lease & { oldestDueSec: number } => row.id !== null);
  return { leases, oldestDueSec: rows[0]?.oldestDueSec ?? 0 };
}

interface LeaseKey {
  readonly id: DestinationId;
  readonly epoch: number;
}

/**
 * Renews leases with the current session of the owner; returns those that are still ours. An expired lease that no other process has taken
 * continues. Rows are locked in the same order as by outcomes, which run concurrently.
 */
export async function renewLeases(
  sql: Sql,
  { owner, session }: Pick<Claimant, 'owner' | 'session'>,
  leases: readonly LeaseKey[],
): Promise<Set<DestinationId>> {
  const rows = await sql<{ id: DestinationId }[]>`
    WITH ours AS (
           SELECT d.id
             FROM destinations d
             JOIN unnest(${leases.map(({ id }) => id)}::uuid[], ${leases.map(({ epoch }) => epoch)}::bigint[]) AS h (id, epoch)
               ON d.id = h.id AND d.epoch = h.epoch
            WHERE d.owner = ${owner}
            ORDER BY d.id
              FOR NO KEY UPDATE OF d)
    UPDATE destinations d
       SET leased_until = now() + make_interval(secs => ${leaseSec}), owner_session = ${session}, session_epoch = d.epoch
      FROM ours
     WHERE d.id = ours.id
    RETURNING d.id`;
  return new Set(rows.map(({ id }) => id));
}

export async function releaseLeases(sql: Sql, owner: string, leases: readonly LeaseKey[]): Promise<void> {
  await sql`
    UPDATE destinations d
       SET owner = NULL, leased_until = '-infinity', owner_session = NULL, session_epoch = NULL
      FROM unnest(${leases.map(({ id }) => id)}::uuid[], ${leases.map(({ epoch }) => epoch)}::bigint[]) AS h (id, epoch)
     WHERE d.id = h.id AND d.epoch = h.epoch AND d.owner = ${owner}`;
}

/** Sessions that own leases and are gone. Served by destinations_owned. */
export async function findGoneSessions(sql: Sql): Promise<number[]> {
  const rows = await sql<{ session: number }[]>`
    SELECT owner_session AS session
      FROM (SELECT DISTINCT owner_session FROM destinations WHERE owner_session IS NOT NULL AND session_epoch = epoch) AS owners
     WHERE ${isGone(sql, sql`owner_session`)}`;
  return rows.map(({ session }) => session);
}
