import { beginEpoch, isOfThisHistory, seenAt, unseenAt, type LogPoint } from '../events/log-point.ts';
import { piece, type Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { About } from '../events/append.ts';
import { movedBetween, type BoardMove } from '../routing/board-moves.ts';
import type { MovedIds } from '../routing/load-board.ts';
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
  readonly moved: readonly MovedIds[] | null;
  readonly position: Position;
}

/** Partitions of days long gone are not looked into. Longer than any transaction lasts, or a clock is wrong. */
const lookBack = '2 days';

/** Both ends of what is read count: between them the clock of the database may have been set forward or back. */
const isRecent = (sql: Sql, { at }: Pick<Position, 'at'>) => sql`
  occurred_at > least(now(), to_timestamp(${at}::float8 / 1000)) - ${lookBack}::interval`;

const about = (sql: Sql) => sql`
  json_build_object('siteId', site_id, 'ticketId', ticket_id, 'requestId', request_id, 'engagementId', engagement_id,
                    'visitorId', visitor_id, 'operatorId', operator_id)`;

/** Where the log of the account `a` is now. Without an epoch in force, that is not known yet. */
const position = piece(
  (sql) => sql`
    f.epoch, f.tag, pg_current_snapshot()::text AS snapshot, a.board_version::float8 AS version,
    floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`,
);

interface PositionRow extends Omit<LogPoint, 'last'> {
  readonly version: number;
  readonly at: number;
}

function positionIn({ epoch, tag, snapshot, version, at }: PositionRow, last: string | null): Position {
  return { seen: { epoch, tag, snapshot, last }, version, at };
}

/** Reads a row that has an epoch; where none is in force, begins one. */
async function withEpoch<Row extends PositionRow>(
  sql: Sql,
  accountId: AccountId,
  read: () => Promise<readonly (Row | (Omit<Row, 'epoch'> & { readonly epoch: null }))[]>,
): Promise<Row> {
  for (let tries = 0; tries < 2; tries += 1) {
    const [row] = await read();
    if (row === undefined) throw new Error(`there is no account ${accountId}`);
    if (row.epoch !== null) return row;
    await beginEpoch(sql);
  }
  throw new Error('an epoch of the log was begun, and is not in force');
}

/** Where the log is now: a reader that begins here misses nothing that commits later. */
export async function readPosition(sql: Sql, accountId: AccountId): Promise<Position> {
  const row = await withEpoch<PositionRow & { readonly last: string | null }>(
    sql,
    accountId,
    async () => sql`
      SELECT ${position(sql)},
             (SELECT xid::text || '.' || seq
                FROM events
               WHERE account_id = ${accountId} AND occurred_at > now() - ${lookBack}::interval AND xid IS NOT NULL
               ORDER BY events.xid DESC, seq DESC
               LIMIT 1) AS last
        FROM accounts a
        LEFT JOIN log_epoch_in_force AS f ON true
       WHERE a.id = ${accountId}`,
  );
  return positionIn(row, row.last);
}

/**
 * Everything that was committed since the position, in one statement and so in one snapshot. Events come in the order they
 * were written, which for one engagement is the order they happened. Served by events_by_transaction. `null`: the position
 * is none of this database's history.
 */
export async function readBatch(sql: Sql, accountId: AccountId, from: Position): Promise<Batch | null> {
  const row = await withEpoch<PositionRow & { events: (Logged & { xid: string })[]; moves: BoardMove[] }>(
    sql,
    accountId,
    async () => sql`
      SELECT ${position(sql)},
             (SELECT coalesce(json_agg(json_build_object('seq', seq, 'xid', xid::text, 'id', id, 'type', type,
                                                         'about', ${about(sql)}, 'payload', payload) ORDER BY seq), '[]')
                FROM events
               WHERE account_id = ${accountId} AND ${unseenAt(sql, from.seen)} AND ${isRecent(sql, from)}) AS events,
             (SELECT coalesce(json_agg(${moveIn(sql)} ORDER BY m.version), '[]')
                FROM board_moves m WHERE m.account_id = ${accountId} AND m.version > ${from.version}) AS moves
        FROM accounts a
        LEFT JOIN log_epoch_in_force AS f ON true
       WHERE a.id = ${accountId}`,
  );
  if (row.tag !== from.seen.tag && !(await isOfThisHistory(sql, accountId, from.seen))) return null;
  const { events, moves } = row;
  const newest = events.at(-1);
  const to = positionIn(row, newest === undefined ? from.seen.last : `${newest.xid}.${newest.seq}`);
  return { events, moved: movedBetween(moves, { from: from.version, to: to.version }), position: to };
}

/** A row `m` of `board_moves`, as JSON. */
const moveIn = piece((sql) => sql`json_build_object('version', version, 'previous', previous, 'things', things)`);

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
     WHERE account_id = ${accountId} AND ${unseenAt(sql, from.seen)} AND ${seenAt(sql, upTo.seen)}
       ${midway === undefined ? sql`` : sql`AND NOT (seq <= ${midway.seq} AND ${seenAt(sql, midway.upTo)})`}
       AND ${isRecent(sql, from)}
       AND (visitor_id = ANY(${[...wanted.visitors]}::uuid[]) OR operator_id = ANY(${[...wanted.operators]}::uuid[])
            OR site_id = ANY(${[...wanted.sites]}::uuid[])
            OR type = 'engagement.transfer' AND ${wanted.operators.length > 0})`;
  return row ?? { xids: [], seqs: [] };
}

/** Some of the missed, in the order of the log. Served by events_by_transaction. */
export async function eventsNamed(
  sql: Sql,
  accountId: AccountId,
  { from, xids, seqs }: { from: Position; xids: readonly string[]; seqs: readonly number[] },
): Promise<Logged[]> {
  return sql<Logged[]>`
    SELECT seq::float8 AS seq, id, type, ${about(sql)} AS about, payload
      FROM events
     WHERE account_id = ${accountId} AND xid = ANY(${[...new Set(xids)]}::text[]::xid8[]) AND seq = ANY(${[...seqs]}::bigint[])
       AND ${isRecent(sql, from)}
     ORDER BY seq`;
}

/** What turns have moved between two versions; `null` where that is no longer known. */
export async function movesBetween(
  sql: Sql,
  accountId: AccountId,
  from: number,
  to: number,
): Promise<readonly MovedIds[] | null> {
  const rows = await sql<{ move: BoardMove }[]>`
    SELECT ${moveIn(sql)} AS move
      FROM board_moves
     WHERE account_id = ${accountId} AND version > ${from} AND version <= ${to} ORDER BY version`;
  return movedBetween(
    rows.map(({ move }) => move),
    { from, to },
  );
}
