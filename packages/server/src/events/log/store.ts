import type { Sql } from '../../platform/database.ts';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import type { EventType } from '../catalogue.ts';
import type { LoggedEvent } from './logged-event.ts';
import { dayMs, type LogPosition } from './position.ts';

export interface LogFilter {
  readonly accountId: AccountId;
  readonly sites: readonly SiteId[];
  /** Also what has no site, if the sites are all there are. */
  readonly siteless: boolean;
  readonly types: readonly EventType[];
  readonly engagementId: string | null;
  readonly visitorId: string | null;
  /** Half-open. */
  readonly since: Date;
  readonly until: Date;
}

/** The last that were looked at are these many, the oldest of them this one; where it is `null` there were none. */
interface Looked {
  readonly count: number;
  readonly oldest: NonNullable<LogPosition['before']>;
}

interface Window {
  readonly from: { readonly day: number; readonly before: NonNullable<LogPosition['before']> };
  /** Events of smaller or equal transactions are not looked at. */
  readonly after: bigint;
  /** Whether they fit or not. */
  readonly looks: number;
  readonly limit: number;
}

/**
 * Those that fit among the `looks` events of the day before a position, newest first; and, where they are fewer than the
 * limit, how far was looked. One statement, so that what commits meanwhile is in neither. Served by events_by_transaction.
 */
export async function readWindow(
  sql: Sql,
  filter: LogFilter,
  { from, after, looks, limit }: Window,
): Promise<{ readonly events: LoggedEvent[]; readonly looked: Looked | null }> {
  const { accountId, sites, siteless, types, engagementId, visitorId, since, until } = filter;
  const { day, before } = from;
  const looked = (columns: ReturnType<Sql>) => sql`
             SELECT ${columns}
               FROM events
              WHERE account_id = ${accountId} AND occurred_at >= ${new Date(day)} AND occurred_at < ${new Date(day + dayMs)}
                AND (xid, seq) < (${String(before.xid)}::text::xid8, ${String(before.seq)}::bigint)
                AND xid > ${String(after)}::text::xid8
              ORDER BY xid DESC, seq DESC
              LIMIT ${looks}`;
  const [row] = await sql<{ events: LoggedEvent[]; count: string | null; xid: string; seq: string }[]>`
    WITH page AS MATERIALIZED (
           SELECT l.*
             FROM (${looked(sql`*`)}) l
            WHERE type = ANY(${[...types]})
              AND occurred_at >= ${since} AND occurred_at < ${until}
              AND (${engagementId}::uuid IS NULL OR engagement_id = ${engagementId})
              AND (${visitorId}::uuid IS NULL OR visitor_id = ${visitorId})
              AND (site_id = ANY(${[...sites]}::uuid[])
                   OR ${siteless} AND site_id IS NULL AND NOT EXISTS (
                        SELECT FROM sites WHERE account_id = ${accountId} AND id <> ALL(${[...sites]}::uuid[])))
            ORDER BY xid DESC, seq DESC
            LIMIT ${limit}),
         far AS (
           SELECT count(*) OVER () AS count, xid, seq
             FROM (${looked(sql`xid, seq`)}) l
            WHERE (SELECT count(*) FROM page) < ${limit}
            ORDER BY xid, seq
            LIMIT 1)
    SELECT far.count, far.xid::text AS xid, far.seq,
           (SELECT coalesce(json_agg(json_build_object(
                     'xid', xid::text, 'seq', seq::text, 'id', id, 'type', type, 'occurred_at', occurred_at,
                     'site_id', site_id, 'engagement_id', engagement_id, 'visitor_id', visitor_id,
                     'operator_id', operator_id, 'event', payload) ORDER BY xid DESC, seq DESC), '[]')
              FROM page) AS events
      FROM (SELECT) one LEFT JOIN far ON true`;
  if (row === undefined) throw new Error('the log gave no answer');
  const { events, count } = row;
  return {
    events: events.map((event) => ({ ...event, occurred_at: new Date(event.occurred_at) })),
    looked: count === null ? null : { count: Number(count), oldest: { xid: BigInt(row.xid), seq: BigInt(row.seq) } },
  };
}

interface Written {
  readonly xid: bigint;
  readonly at: number;
}

/** The account's first event of the day, in the order of the log. */
export async function firstIn(sql: Sql, accountId: AccountId, day: number): Promise<Written | null> {
  const [row] = await sql<{ xid: string; at: Date }[]>`
    SELECT xid::text AS xid, occurred_at AS at
      FROM events
     WHERE account_id = ${accountId} AND occurred_at >= ${new Date(day)} AND occurred_at < ${new Date(day + dayMs)}
       AND xid IS NOT NULL
     ORDER BY events.xid, events.seq
     LIMIT 1`;
  return row === undefined ? null : { xid: BigInt(row.xid), at: row.at.getTime() };
}

/** The account's last event of the day that was written by this transaction or one before. */
export async function lastUpTo(sql: Sql, accountId: AccountId, day: number, xid: bigint): Promise<Written | null> {
  const [row] = await sql<{ xid: string; at: Date }[]>`
    SELECT xid::text AS xid, occurred_at AS at
      FROM events
     WHERE account_id = ${accountId} AND occurred_at >= ${new Date(day)} AND occurred_at < ${new Date(day + dayMs)}
       AND xid <= ${String(xid)}::text::xid8
     ORDER BY events.xid DESC
     LIMIT 1`;
  return row === undefined ? null : { xid: BigInt(row.xid), at: row.at.getTime() };
}
