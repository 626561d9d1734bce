import { piece, type Sql } from '../platform/database.ts';
import type { AccountId, EngagementId, OperatorId, SiteId, TeamId, VisitorId } from '../platform/ids.ts';
import type { VisitorFacts } from './board/rules/enqueue.ts';
import type { MediaUpgrade } from './board/rules/upgrading.ts';
import type { BoardMove } from './board-moves.ts';

export interface LockedAccount {
  readonly accountId: AccountId;
  readonly version: number;
  /** What the version is raised to if the turn moves something. In a new epoch of the log it jumps: see `board-moves.ts`. */
  readonly nextVersion: number;
  /** The number of the last ticket. */
  readonly seq: number;
  readonly turnedAt: number | null;
  readonly nextDueAt: number | null;
  /** The database's clock. */
  readonly now: number;
  /** The steps of the clock that are recorded, and those that the times of the account's board include. */
  readonly shiftMs: number;
  readonly boardShiftMs: number;
}

/** The account's board is by another clock. The last turn may look younger than now by as long as a lock is waited for. */
const isOutOfTime = piece(
  (sql) =>
    sql`(clock_shift_ms <> (SELECT shift_ms FROM clock WHERE only_row) OR turned_at > clock_timestamp() + interval '30 seconds')`,
);

/**
 * The account's row, held until the turn is written. With `onlyIfDue` it is left to others where nothing is due, or where
 * somebody has it: they will do what is due. Says to the triggers that this is a turn.
 */
export async function lockForTurn(sql: Sql, accountId: AccountId, onlyIfDue: boolean): Promise<LockedAccount | null> {
  const [row] = await sql<LockedAccount[]>`
    SELECT id AS "accountId", board_version::float8 AS version,
           next_board_version(board_version, board_tag)::float8 AS "nextVersion", last_seq::float8 AS seq,
           extract(epoch FROM turned_at)::float8 * 1000 AS "turnedAt",
           extract(epoch FROM next_due_at)::float8 * 1000 AS "nextDueAt",
           extract(epoch FROM clock_timestamp())::float8 * 1000 AS now,
           (SELECT shift_ms::float8 FROM clock WHERE only_row) AS "shiftMs", clock_shift_ms::float8 AS "boardShiftMs",
           set_config('usher.turn', 'on', true)
      FROM accounts
     WHERE id = ${accountId}
       ${onlyIfDue ? sql`AND (next_due_at <= clock_timestamp() OR ${isOutOfTime(sql)})` : sql``}
       FOR NO KEY UPDATE ${onlyIfDue ? sql`SKIP LOCKED` : sql``}`;
  return row ?? null;
}

/** Served by engagements_by_visitor. Not asked where nobody is concerned. */
export async function visitorFacts(
  sql: Sql,
  accountId: AccountId,
  ids: readonly VisitorId[],
): Promise<ReadonlyMap<VisitorId, VisitorFacts>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<
    { id: VisitorId; siteId: SiteId; teams: TeamId[]; leaseUntil: number | null; lastOperatorId: OperatorId | null }[]
  >`SELECT v.id, v.site_id AS "siteId", v.team_ids AS teams,
           -- Nobody may say more than a day: what is further ahead was said before the clock was set back. Without a lease
           -- there is none: least() would pass over the null.
           CASE WHEN v.presence_expires_at IS NOT NULL
                THEN extract(epoch FROM least(v.presence_expires_at, clock_timestamp() + interval '1 day'))::float8 * 1000
           END AS "leaseUntil",
           (SELECT e.operator_id FROM engagements e WHERE e.visitor_id = v.id ORDER BY e.started_at DESC LIMIT 1)
             AS "lastOperatorId"
      FROM visitors v
     WHERE v.id = ANY(${[...ids]}::uuid[]) AND v.account_id = ${accountId}`;
  return new Map(rows.map(({ id, ...facts }) => [id, facts]));
}

/**
 * Those of the ids that are a ticket's or a request's already: of today, so that the request is the same again; or of a day
 * that is over (D7.7), so that the key was used anew and only its id is taken.
 */
export async function existingIds(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, 'same' | 'taken'>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; recent: boolean }[]>`
    SELECT id, enqueued_at > now() - interval '24 hours' OR clock_is_in_doubt() AS recent
      FROM queue_tickets WHERE id = ANY(${[...ids]}::uuid[])
    UNION ALL
    SELECT id, created_at > now() - interval '24 hours' OR clock_is_in_doubt()
      FROM engagement_requests WHERE id = ANY(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, recent }) => [id, recent ? 'same' : 'taken']));
}

/**
 * Media upgrades that somebody accepts. Their engagements' rows are ours from now on, which is what keeps anybody from
 * answering them otherwise.
 */
export async function mediaUpgrades(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, MediaUpgrade>> {
  if (ids.length === 0) return new Map();
  await sql`
    SELECT 1 FROM engagements
     WHERE id IN (SELECT engagement_id FROM media_upgrade_requests WHERE id = ANY(${[...ids]}::uuid[]))
     ORDER BY id
       FOR NO KEY UPDATE`;
  const rows = await sql<MediaUpgrade[]>`
    SELECT u.id, u.sub_engagement_id AS "subEngagementId", u.audio, u.video, u.target, u.state = 'pending' AS pending,
           e.undelivered_to_operator > 0 AS undelivered
      FROM media_upgrade_requests u
      JOIN engagements e ON e.id = u.engagement_id
     WHERE u.id = ANY(${[...ids]}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Locks the engagements in which somebody hangs up. The turn cancels their pending upgrade requests; the lock keeps new ones from
 * being added meanwhile.
 */
export async function lockEngagements(sql: Sql, ids: readonly EngagementId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`SELECT 1 FROM engagements WHERE id = ANY(${[...ids]}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
}

export async function movesSince(sql: Sql, accountId: AccountId, version: number): Promise<BoardMove[]> {
  return sql<BoardMove[]>`
    SELECT version::float8 AS version, previous::float8 AS previous, things
      FROM board_moves WHERE account_id = ${accountId} AND version > ${version} ORDER BY version`;
}

/** Accounts on whose boards something has fallen due. Served by accounts_due. */
export async function dueAccounts(sql: Sql, limit: number): Promise<AccountId[]> {
  const rows = await sql<{ id: AccountId }[]>`
    SELECT id FROM accounts WHERE next_due_at <= clock_timestamp() ORDER BY next_due_at LIMIT ${limit}`;
  return rows.map((row) => row.id);
}

/** Accounts whose boards wait for something and are by another clock. Few processes ask, and seldom. */
export async function accountsOutOfTime(sql: Sql, limit: number): Promise<AccountId[]> {
  const rows = await sql<{ id: AccountId }[]>`
    SELECT id FROM accounts WHERE next_due_at IS NOT NULL AND ${isOutOfTime(sql)} LIMIT ${limit}`;
  return rows.map((row) => row.id);
}

/** What processes that were away for longer read everything for. */
export async function dropOldMoves(sql: Sql): Promise<void> {
  await sql`DELETE FROM board_moves WHERE moved_at < now() - interval '1 hour'`;
}
