import type { OnDemandType } from '../events/catalogue.ts';
import { deleteOld, type ShouldContinue } from '../platform/database/batches.ts';
import { fragment, type Sql } from '../platform/database/database.ts';
import type { AccountId, EngagementId, OperatorId, SiteId, TeamId, VisitorId } from '../platform/ids.ts';
import type { VisitorFacts } from './board/rules/enqueue.ts';
import type { MediaUpgrade } from './board/rules/upgrading.ts';
import type { BoardChange } from './board-changes.ts';

export interface LockedAccount {
  readonly accountId: AccountId;
  readonly version: number;
  /** The version after this turn, if it changes something. In a new epoch of the log it jumps: see `board-changes.ts`. */
  readonly nextVersion: number;
  /** The sequence number of the newest ticket. */
  readonly seq: number;
  readonly turnedAt: number | null;
  readonly nextDueAt: number | null;
  /** The database's clock. */
  readonly now: number;
  /** The sum of the recorded clock steps, and the sum that the times of the account's board include. */
  readonly shiftMs: number;
  readonly boardShiftMs: number;
  /** When a process last reached the database. */
  readonly seenAt: number;
  /** The sum of the recorded outages, and the sum that the leases and offers of the board include. */
  readonly outageMs: number;
  readonly boardOutageMs: number;
  /** The types of events on demand that registered webhooks of the account subscribe. */
  readonly onDemand: readonly OnDemandType[];
}

/**
 * The times of the account's board do not include all clock steps. Waiting for a lock can make the last turn seem later than now, so
 * some seconds are tolerated.
 */
const isOutOfTime = fragment(
  (sql) =>
    sql`(clock_shift_ms <> (SELECT shift_ms FROM clock WHERE only_row) OR turned_at > clock_timestamp() + interval '30 seconds')`,
);

/**
 * Locks the account's row until the turn is written. With `onlyIfDue`, returns `null` if nothing is due, or if another process
 * has the lock and will handle what is due. Nothing is due while the account is disabled. Sets `usher.turn`, by which the triggers
 * recognise a turn.
 */
export async function lockForTurn(sql: Sql, accountId: AccountId, onlyIfDue: boolean): Promise<LockedAccount | null> {
  const [row] = await sql<LockedAccount[]>`
    SELECT id AS "accountId", board_version::float8 AS version,
           next_board_version(board_version, board_tag)::float8 AS "nextVersion", last_seq::float8 AS seq,
           extract(epoch FROM turned_at)::float8 * 1000 AS "turnedAt",
           extract(epoch FROM next_due_at)::float8 * 1000 AS "nextDueAt",
           extract(epoch FROM clock_timestamp())::float8 * 1000 AS now,
           (SELECT shift_ms::float8 FROM clock WHERE only_row) AS "shiftMs", clock_shift_ms::float8 AS "boardShiftMs",
           (SELECT extract(epoch FROM seen_at)::float8 * 1000 FROM clock WHERE only_row) AS "seenAt",
           (SELECT outage_ms::float8 FROM clock WHERE only_row) AS "outageMs", clock_outage_ms::float8 AS "boardOutageMs",
           on_demand AS "onDemand", set_config('usher.turn', 'on', true)
      FROM accounts
     WHERE id = ${accountId}
       ${onlyIfDue ? sql`AND disabled_at IS NULL AND (next_due_at <= clock_timestamp() OR ${isOutOfTime(sql)})` : sql``}
       FOR NO KEY UPDATE ${onlyIfDue ? sql`SKIP LOCKED` : sql``}`;
  return row ?? null;
}

/** Served by engagements_by_visitor. */
export async function visitorFacts(
  sql: Sql,
  accountId: AccountId,
  ids: readonly VisitorId[],
): Promise<ReadonlyMap<VisitorId, VisitorFacts>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<
    { id: VisitorId; siteId: SiteId; teams: TeamId[]; leaseUntil: number | null; lastOperatorId: OperatorId | null }[]
  >`SELECT v.id, v.site_id AS "siteId", v.team_ids AS teams,
           -- A lease lasts at most a day, so a later end was set before the clock was set back. The CASE keeps NULL, which
           -- least() would ignore.
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
 * The ids that a ticket or request already has. `same`: it was made within 24 hours, so this is a repeated request (D7.7).
 * `taken`: it is older, so the key was reused and the new ticket or request needs another id.
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
 * Reads the media upgrades that are being accepted, and locks the rows of their engagements, so that nobody else answers them
 * meanwhile.
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
 * Locks the engagements in which one side hangs up. The turn cancels their pending upgrade requests; the lock keeps new ones
 * from being added meanwhile.
 */
export async function lockEngagements(sql: Sql, ids: readonly EngagementId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`SELECT 1 FROM engagements WHERE id = ANY(${[...ids]}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
}

export async function changesSince(sql: Sql, accountId: AccountId, version: number): Promise<BoardChange[]> {
  return sql<BoardChange[]>`
    SELECT version::float8 AS version, previous::float8 AS previous, things
      FROM board_moves WHERE account_id = ${accountId} AND version > ${version} ORDER BY version`;
}

/** A poll chooses from this many times as many accounts as it takes. */
const dueChoice = 10;

/**
 * Enabled accounts with a deadline that has passed. Each process polls, so they are chosen at random from those that are due for the
 * longest time: processes that choose the same accounts would wait for each other's turns. Served by accounts_due.
 */
export async function dueAccounts(sql: Sql, limit: number): Promise<AccountId[]> {
  const rows = await sql<{ id: AccountId }[]>`
    SELECT id
      FROM (SELECT id FROM accounts
             WHERE next_due_at <= clock_timestamp() AND disabled_at IS NULL
             ORDER BY next_due_at
             LIMIT ${limit * dueChoice}) AS due
     ORDER BY random()
     LIMIT ${limit}`;
  return rows.map((row) => row.id);
}

/** Accounts with a deadline whose times do not include all clock steps. Not indexed: it is called about once a minute. */
export async function accountsOutOfTime(sql: Sql, limit: number): Promise<AccountId[]> {
  const rows = await sql<{ id: AccountId }[]>`
    SELECT id FROM accounts
     WHERE next_due_at IS NOT NULL AND disabled_at IS NULL AND ${isOutOfTime(sql)}
     LIMIT ${limit}`;
  return rows.map((row) => row.id);
}

/** Deletes old moves. A process that was offline for longer reloads its boards. */
export async function dropOldMoves(pool: Sql, shouldContinue: ShouldContinue): Promise<void> {
  const before = (sql: Sql) => sql`now() - interval '1 hour'`;
  await deleteOld(pool, { table: 'board_moves', column: 'moved_at', before }, shouldContinue);
}
