import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import type { EventType } from '../catalogue.ts';
import type { LoggedEvent } from './logged-event.ts';
import { dayMs, type LogPosition } from './position.ts';

export interface LogFilter {
  readonly accountId: AccountId;
  readonly sites: readonly SiteId[];
  /** Also events without a site, if `sites` are all sites of the account. */
  readonly siteless: boolean;
  readonly types: readonly EventType[];
  readonly engagementId: string | null;
  readonly visitorId: string | null;
  /** Half-open. */
  readonly since: Date;
  readonly until: Date;
}

/** How many events were scanned, and the oldest of them. */
interface Scanned {
  readonly count: number;
  readonly oldest: NonNullable<LogPosition['before']>;
}

interface Window {
  readonly from: { readonly day: number; readonly before: NonNullable<LogPosition['before']> };
  /** Only events of later transactions are scanned. */
  readonly after: bigint;
  /** How many events are scanned, matching or not. */
  readonly scanLimit: number;
  readonly limit: number;
}

/**
 * The matching events among the `scanLimit` events of the day before a position, newest first; and, if they are fewer than
 * `limit`, how far was scanned (`null`: there was nothing to scan). One statement reads both in one snapshot, so that an event
 * that commits meanwhile is not skipped. Served by events_by_transaction.
 *
 * PostgreSQL keeps the rows of `scan`, so `scanned` reads no event again. From version 17 on it knows their order: a full page
 * ends the scan. Of an event that does not match, only the position is kept.
 */
export async function readWindow(
  sql: Sql,
  filter: LogFilter,
  { from, after, scanLimit, limit }: Window,
): Promise<{ readonly events: LoggedEvent[]; readonly scanned: Scanned | null }> {
  const { accountId, sites, siteless, types, engagementId, visitorId, since, until } = filter;
  const { day, before } = from;
  const [row] = await sql<{ events: LoggedEvent[]; count: string; xid: string | null; seq: string | null }[]>`
    WITH scan AS MATERIALIZED (
           SELECT xid, seq,
                  CASE WHEN (${engagementId}::uuid IS NULL OR engagement_id = ${engagementId})
                        AND (${visitorId}::uuid IS NULL OR visitor_id = ${visitorId})
                        AND type = ANY(${[...types]})
                        AND occurred_at >= ${since} AND occurred_at < ${until}
                        AND (site_id = ANY(${[...sites]}::uuid[])
                             OR ${siteless} AND site_id IS NULL AND NOT EXISTS (
                                  SELECT FROM sites WHERE account_id = ${accountId} AND id <> ALL(${[...sites]}::uuid[])))
                       THEN json_build_object(
                              'xid', xid::text, 'seq', seq::text, 'id', id, 'type', type, 'occurred_at', occurred_at,
                              'site_id', site_id, 'engagement_id', engagement_id, 'visitor_id', visitor_id,
                              'operator_id', operator_id, 'event', payload) END AS event
             FROM events
            WHERE account_id = ${accountId} AND occurred_at >= ${new Date(day)} AND occurred_at < ${new Date(day + dayMs)}
              AND (xid, seq) < (${String(before.xid)}::text::xid8, ${String(before.seq)}::bigint)
              AND xid > ${String(after)}::text::xid8
            ORDER BY events.xid DESC, events.seq DESC
            LIMIT ${scanLimit}),
         page AS MATERIALIZED (
           SELECT xid, seq, event FROM scan WHERE event IS NOT NULL ORDER BY xid DESC, seq DESC LIMIT ${limit}),
         scanned AS (
           SELECT count(*) AS count, min(xid) AS xid FROM scan WHERE (SELECT count(*) FROM page) < ${limit})
    SELECT count, xid::text AS xid, CASE WHEN count > 0 THEN (SELECT min(seq) FROM scan WHERE scan.xid = scanned.xid) END AS seq,
           (SELECT coalesce(json_agg(event ORDER BY xid DESC, seq DESC), '[]') FROM page) AS events
      FROM scanned`;
  if (row === undefined) throw new Error('the statement returned no row');
  const { events, count, xid, seq } = row;
  const hasScanned = xid !== null && seq !== null;
  return {
    events: events.map((event) => ({ ...event, occurred_at: new Date(event.occurred_at) })),
    scanned: hasScanned ? { count: Number(count), oldest: { xid: BigInt(xid), seq: BigInt(seq) } } : null,
  };
}

interface WrittenEvent {
  readonly xid: bigint;
  readonly at: number;
}

/** The account's first event of the day, in the order of the log. */
export async function firstIn(sql: Sql, accountId: AccountId, day: number): Promise<WrittenEvent | null> {
  const [row] = await sql<{ xid: string; at: Date }[]>`
    SELECT xid::text AS xid, occurred_at AS at
      FROM events
     WHERE account_id = ${accountId} AND occurred_at >= ${new Date(day)} AND occurred_at < ${new Date(day + dayMs)}
       AND xid IS NOT NULL
     ORDER BY events.xid, events.seq
     LIMIT 1`;
  return row === undefined ? null : { xid: BigInt(row.xid), at: row.at.getTime() };
}

/** The account's last event of the day that was written by this transaction or an earlier one. */
export async function lastUpTo(sql: Sql, accountId: AccountId, day: number, xid: bigint): Promise<WrittenEvent | null> {
  const [row] = await sql<{ xid: string; at: Date }[]>`
    SELECT xid::text AS xid, occurred_at AS at
      FROM events
     WHERE account_id = ${accountId} AND occurred_at >= ${new Date(day)} AND occurred_at < ${new Date(day + dayMs)}
       AND xid <= ${String(xid)}::text::xid8
     ORDER BY events.xid DESC
     LIMIT 1`;
  return row === undefined ? null : { xid: BigInt(row.xid), at: row.at.getTime() };
}
