import { webhookEventTypes } from '../events/catalogue.ts';
import {
  beginEpoch,
  isOfThisHistory,
  hasUnseenAtRow,
  seenAt,
  unseenEvents,
  type LogPoint,
} from '../events/log-point.ts';
import { fragment, type Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { About } from '../events/append.ts';
import { changesBetween, type BoardChange } from '../routing/board-changes.ts';
import type { ChangedIds } from '../routing/board-changes.ts';
import type { Position } from './position.ts';

/** An event in the log. */
export interface LoggedEvent {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly about: About;
  readonly payload: unknown;
}

export interface Batch {
  readonly events: readonly LoggedEvent[];
  /** What turns have moved since the position; `null`: no longer known. */
  readonly changed: readonly ChangedIds[] | null;
  readonly position: Position;
}

/** Older partitions are not read. This is longer than any transaction lasts, and than any error of a clock. */
const lookBack = '2 days';

/** Looks back from the earlier of now and the position, because the clock of the database may have been set back or forward in between. */
const isRecent = (sql: Sql, { at }: Pick<Position, 'at'>) => sql`
  occurred_at > least(now(), to_timestamp(${at}::float8 / 1000)) - ${lookBack}::interval`;

const recentOf = (sql: Sql, accountId: AccountId, from: Position) => sql`
  account_id = ${accountId} AND ${isRecent(sql, from)}`;

const about = (sql: Sql) => sql`
  json_build_object('siteId', site_id, 'ticketId', ticket_id, 'requestId', request_id, 'engagementId', engagement_id,
                    'visitorId', visitor_id, 'operatorId', operator_id)`;

/** The current position of the log of the account `a`. `epoch` is null if no epoch is in force. */
const position = fragment(
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

/** Reads a row with an epoch; begins an epoch if none is in force. */
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
  throw new Error('an epoch of the event log was begun, but is not in force');
}

/** The current position of the log: a reader that begins here misses nothing that commits later. */
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
 * Everything committed since the position, read by one statement and so in one snapshot. Events are in the order in which they
 * were written, which within an engagement is the order in which they happened. Served by events_by_transaction. `null`: the
 * position does not belong to this database's history.
 */
export async function readBatch(sql: Sql, accountId: AccountId, from: Position): Promise<Batch | null> {
  const row = await withEpoch<PositionRow & { events: (LoggedEvent & { xid: string })[]; moves: BoardChange[] }>(
    sql,
    accountId,
    async () => sql`
      SELECT ${position(sql)},
             (SELECT coalesce(json_agg(json_build_object('seq', seq, 'xid', xid::text, 'id', id, 'type', type,
                                                         'about', ${about(sql)}, 'payload', payload) ORDER BY seq), '[]')
                FROM ${unseenEvents(sql, from.seen, recentOf(sql, accountId, from))} AS unseen) AS events,
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
  return { events, changed: changesBetween(moves, { from: from.version, to: to.version }), position: to };
}

/** How far one reader has read the log of one account. */
export interface AccountPosition {
  readonly accountId: AccountId;
  readonly position: Position;
}

/**
 * The accounts of which nothing was committed since their positions, with their positions as of now. One statement asks for all of
 * them: each costs a search in events_by_transaction.
 */
export async function readQuietAccounts(
  sql: Sql,
  accounts: readonly AccountPosition[],
): Promise<ReadonlyMap<AccountId, Position>> {
  const at = Math.min(...accounts.map(({ position: from }) => from.at));
  const rows = await sql<(Omit<PositionRow, 'version'> & { readonly ids: AccountId[] })[]>`
    SELECT f.epoch, f.tag, pg_current_snapshot()::text AS snapshot, floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at,
           ARRAY(SELECT a.id
                   FROM unnest(${accounts.map(({ accountId }) => accountId)}::uuid[],
                               ${accounts.map(({ position: { version } }) => version)}::bigint[],
                               ${accounts.map(({ position: { seen } }) => seen.epoch)}::integer[],
                               ${accounts.map(({ position: { seen } }) => seen.snapshot)}::pg_snapshot[])
                        AS p (id, version, epoch, snapshot)
                   JOIN accounts a ON a.id = p.id AND a.board_version = p.version
                  WHERE NOT ${hasUnseenAtRow(sql, sql`account_id = p.id AND ${isRecent(sql, { at })}`)}) AS ids
      FROM log_epoch_in_force f`;
  const [row] = rows;
  const quiet = new Set(row?.ids);
  const found = new Map<AccountId, Position>();
  for (const { accountId, position: from } of accounts)
    // In another epoch it is uncertain whether the position belongs to this history: `readBatch` finds out.
    if (row !== undefined && quiet.has(accountId) && row.tag === from.seen.tag)
      found.set(accountId, positionIn({ ...row, version: from.version }, from.seen.last));
  return found;
}

/** A row `m` of `board_moves`, as JSON. */
const moveIn = fragment((sql) => sql`json_build_object('version', version, 'previous', previous, 'things', things)`);

/** Whose events the readers may see. Reads may return more; `audience.ts` decides exactly. */
export interface ReaderScope {
  readonly visitors: readonly string[];
  readonly operators: readonly string[];
  /** All events of these sites. */
  readonly sites: readonly string[];
}

/** The events between two positions, which a reader has missed. Only their keys are read, as there may be many. */
export async function missedEvents(
  sql: Sql,
  accountId: AccountId,
  { from, upTo, scope }: { from: Position; upTo: Position; scope: ReaderScope },
): Promise<{ readonly xids: readonly string[]; readonly seqs: readonly number[] }> {
  const { midway } = from;
  const [row] = await sql<{ xids: string[]; seqs: number[] }[]>`
    SELECT coalesce(array_agg(xid::text ORDER BY seq), '{}') AS xids, coalesce(array_agg(seq::float8 ORDER BY seq), '{}') AS seqs
      FROM ${unseenEvents(sql, from.seen, recentOf(sql, accountId, from))} AS unseen
     WHERE ${seenAt(sql, upTo.seen)}
       ${midway === undefined ? sql`` : sql`AND NOT (seq <= ${midway.seq} AND ${seenAt(sql, midway.upTo)})`}
       AND (visitor_id = ANY(${[...scope.visitors]}::uuid[]) OR operator_id = ANY(${[...scope.operators]}::uuid[])
            OR site_id = ANY(${[...scope.sites]}::uuid[])
            OR type = ANY(${['engagement.transfer', ...webhookEventTypes]}) AND ${scope.operators.length > 0})`;
  return row ?? { xids: [], seqs: [] };
}

/** The events with these keys, in the order of the log. Served by events_by_transaction. */
export async function eventsByKey(
  sql: Sql,
  accountId: AccountId,
  { from, xids, seqs }: { from: Position; xids: readonly string[]; seqs: readonly number[] },
): Promise<LoggedEvent[]> {
  return sql<LoggedEvent[]>`
    SELECT seq::float8 AS seq, id, type, ${about(sql)} AS about, payload
      FROM events
     WHERE account_id = ${accountId} AND xid = ANY(${[...new Set(xids)]}::text[]::xid8[]) AND seq = ANY(${[...seqs]}::bigint[])
       AND ${isRecent(sql, from)}
     ORDER BY seq`;
}

/** What turns have moved between two versions; `null`: no longer known. */
export async function storedChangesBetween(
  sql: Sql,
  accountId: AccountId,
  from: number,
  to: number,
): Promise<readonly ChangedIds[] | null> {
  const rows = await sql<{ move: BoardChange }[]>`
    SELECT ${moveIn(sql)} AS move
      FROM board_moves
     WHERE account_id = ${accountId} AND version > ${from} AND version <= ${to} ORDER BY version`;
  return changesBetween(
    rows.map(({ move }) => move),
    { from, to },
  );
}
