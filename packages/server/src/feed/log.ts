import type { Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { About } from '../events/write-event.ts';
import type { Things } from '../routing/load-board.ts';
import type { Position } from './position.ts';

/** An event in the log. */
export interface Logged {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly about: About;
  readonly payload: unknown;
}

export interface Batch {
  readonly events: readonly Logged[];
  /** What turns have moved since; `null` where that is no longer known. */
  readonly moved: readonly Things[] | null;
  readonly position: Position;
}

/** Partitions of days long gone are not looked into. Longer than any transaction lasts, or a clock is wrong. */
const lookBack = '2 days';

const about = (sql: Sql) => sql`
  json_build_object('siteId', site_id, 'ticketId', ticket_id, 'requestId', request_id, 'engagementId', engagement_id,
                    'visitorId', visitor_id, 'operatorId', operator_id)`;

/** Where the log is now: a reader that begins here misses nothing that commits later. */
export async function readPosition(sql: Sql, accountId: AccountId): Promise<Position> {
  const [row] = await sql<Position[]>`
    SELECT pg_current_snapshot()::text AS seen, board_version::float8 AS version,
           floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at
      FROM accounts WHERE id = ${accountId}`;
  if (row === undefined) throw new Error(`there is no account ${accountId}`);
  return row;
}

/**
 * Everything that was committed since the position, in one statement and so in one snapshot. Events come in the order they
 * were written, which for one engagement is the order they happened. Served by events_by_transaction.
 */
export async function readBatch(sql: Sql, accountId: AccountId, { seen, version }: Position): Promise<Batch> {
  const [row] = await sql<(Position & { events: Logged[]; moves: Things[] })[]>`
    SELECT pg_current_snapshot()::text AS seen, a.board_version::float8 AS version,
           floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at,
           (SELECT coalesce(json_agg(json_build_object('seq', seq, 'id', id, 'type', type, 'about', ${about(sql)},
                                                       'payload', payload) ORDER BY seq), '[]')
              FROM events
             WHERE account_id = ${accountId} AND xid >= pg_snapshot_xmin(${seen}::pg_snapshot)
               AND NOT pg_visible_in_snapshot(xid, ${seen}::pg_snapshot)
               AND occurred_at > now() - ${lookBack}::interval) AS events,
           (SELECT coalesce(json_agg(things ORDER BY m.version), '[]')
              FROM board_moves m WHERE m.account_id = ${accountId} AND m.version > ${version}) AS moves
      FROM accounts a
     WHERE a.id = ${accountId}`;
  if (row === undefined) throw new Error(`there is no account ${accountId}`);
  const { events, moves, ...position } = row;
  return { events, moved: moves.length === position.version - version ? moves : null, position };
}

/** Whose events are wanted; more may come, and are left out where items are made of them. */
export interface Wanted {
  readonly visitors: readonly string[];
  readonly operators: readonly string[];
  /** All of these sites. */
  readonly sites: readonly string[];
}

/** Events of one position that another has not: those that a reader has missed. First only which, however many. */
export async function missedEvents(
  sql: Sql,
  accountId: AccountId,
  { from, upTo, wanted }: { from: Position; upTo: Position; wanted: Wanted },
): Promise<{ readonly xids: readonly string[]; readonly seqs: readonly number[] }> {
  const { midway } = from;
  const [row] = await sql<{ xids: string[]; seqs: number[] }[]>`
    SELECT coalesce(array_agg(xid::text ORDER BY seq), '{}') AS xids, coalesce(array_agg(seq::float8 ORDER BY seq), '{}') AS seqs
      FROM events
     WHERE account_id = ${accountId} AND xid >= pg_snapshot_xmin(${from.seen}::pg_snapshot)
       AND NOT pg_visible_in_snapshot(xid, ${from.seen}::pg_snapshot)
       AND pg_visible_in_snapshot(xid, ${upTo.seen}::pg_snapshot)
       ${midway === undefined ? sql`` : sql`AND NOT (seq <= ${midway.seq} AND pg_visible_in_snapshot(xid, ${midway.upTo}::pg_snapshot))`}
       AND occurred_at > now() - ${lookBack}::interval
       AND (visitor_id = ANY(${[...wanted.visitors]}::uuid[]) OR operator_id = ANY(${[...wanted.operators]}::uuid[])
            OR site_id = ANY(${[...wanted.sites]}::uuid[])
            OR type = 'engagement.transfer' AND ${wanted.operators.length > 0})`;
  return row ?? { xids: [], seqs: [] };
}

/** Some of the missed, in the order of the log. Served by events_by_transaction. */
export async function eventsNamed(
  sql: Sql,
  accountId: AccountId,
  xids: readonly string[],
  seqs: readonly number[],
): Promise<Logged[]> {
  return sql<Logged[]>`
    SELECT seq::float8 AS seq, id, type, ${about(sql)} AS about, payload
      FROM events
     WHERE account_id = ${accountId} AND xid = ANY(${[...new Set(xids)]}::text[]::xid8[]) AND seq = ANY(${[...seqs]}::bigint[])
       AND occurred_at > now() - ${lookBack}::interval
     ORDER BY seq`;
}

/** What turns have moved between two versions; `null` where that is no longer known. */
export async function movesBetween(
  sql: Sql,
  accountId: AccountId,
  from: number,
  upTo: number,
): Promise<readonly Things[] | null> {
  if (upTo <= from) return [];
  const rows = await sql<{ things: Things }[]>`
    SELECT things FROM board_moves
     WHERE account_id = ${accountId} AND version > ${from} AND version <= ${upTo} ORDER BY version`;
  return rows.length === upTo - from ? rows.map((row) => row.things) : null;
}
