import type { Medium } from '@usher/contract/media';
import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId, SiteId, TeamId } from '../../platform/ids.ts';
import { lockAccount } from '../lock-account.ts';
import { operatorFields, type Assignment, type OperatorRow, type OperatorSettings } from './operator.ts';
import { pictureUrlOf } from './pictures/picture.ts';

const columns = operatorFields.columns.map((column) => `o.${column}`);

/** An operator with the computed fields. `available` is false once the presence lease has expired. */
const selectOperator = (sql: Sql) => sql`
  SELECT ${sql(columns)},
         coalesce(o.display_name, o.name) AS display_name, ${pictureUrlOf(sql)} AS picture_url,
         o.enabled AND o.available AND coalesce(o.presence_expires_at > now(), true) AS available,
         coalesce((SELECT jsonb_agg(jsonb_build_object(
                            'site_id', a.site_id, 'role', a.role,
                            'team_ids', coalesce((SELECT jsonb_agg(t.team_id ORDER BY t.team_id)
                                                    FROM operator_teams t
                                                   WHERE t.operator_id = o.id AND t.site_id = a.site_id), '[]'))
                          ORDER BY a.site_id)
                     FROM operator_assignments a
                    WHERE a.operator_id = o.id), '[]') AS assignments,
         jsonb_build_object(
           'password', EXISTS (SELECT 1 FROM operator_passwords p WHERE p.operator_id = o.id),
           'invited_until', (SELECT to_char(i.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                               FROM operator_invitations i
                              WHERE i.operator_id = o.id AND i.expires_at > now())) AS sign_in
    FROM operators o`;

export async function findOperator(sql: Sql, accountId: AccountId, id: OperatorId): Promise<OperatorRow | null> {
  const [row] = await sql<OperatorRow[]>`${selectOperator(sql)} WHERE o.id = ${id} AND o.account_id = ${accountId}`;
  return row ?? null;
}

export async function operatorsById(sql: Sql, accountId: AccountId, ids: readonly string[]): Promise<OperatorRow[]> {
  return sql<OperatorRow[]>`
    ${selectOperator(sql)} WHERE o.id = ANY(${[...ids]}::uuid[]) AND o.account_id = ${accountId}`;
}

interface OperatorFilter {
  readonly accountId: AccountId;
  readonly siteIds: readonly SiteId[];
  readonly teamIds: readonly TeamId[] | null;
  /** Text in the name or e-mail address, case-insensitive. */
  readonly contains: string | null;
  readonly includeOffline: boolean;
  readonly includeDisabled: boolean;
}

interface Window {
  readonly limit: number | null;
  readonly offset: number;
}

function matchesFilter(sql: Sql, filter: OperatorFilter) {
  const teams = filter.teamIds === null ? null : [...filter.teamIds];
  // `strpos` searches for plain text, so nothing needs to be escaped.
  return sql`
       o.account_id = ${filter.accountId}
       AND EXISTS (SELECT 1 FROM operator_assignments a
                    WHERE a.operator_id = o.id AND a.site_id = ANY(${[...filter.siteIds]}::uuid[]))
       AND (${teams === null} OR EXISTS (SELECT 1 FROM operator_teams t
                                          WHERE t.operator_id = o.id AND t.team_id = ANY(${teams ?? []}::uuid[])))
       AND (${filter.contains === null} OR strpos(lower(o.name), lower(${filter.contains ?? ''})) > 0
                                        OR strpos(lower(o.email), lower(${filter.contains ?? ''})) > 0)
       AND (${filter.includeDisabled} OR o.enabled)
       AND (${filter.includeOffline} OR (o.available AND coalesce(o.presence_expires_at > now(), true)))`;
}

export async function listOperators(
  sql: Sql,
  filter: OperatorFilter,
  { limit, offset }: Window,
): Promise<OperatorRow[]> {
  return sql<OperatorRow[]>`
    ${selectOperator(sql)}
     WHERE ${matchesFilter(sql, filter)}
     ORDER BY o.created_at, o.id
     LIMIT ${limit} OFFSET ${offset}`;
}

export async function countOperators(sql: Sql, filter: OperatorFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    SELECT count(*)::integer AS total FROM operators o WHERE ${matchesFilter(sql, filter)}`;
  return row?.total ?? 0;
}

interface ColleagueRow {
  readonly id: OperatorId;
  readonly name: string;
  readonly available: boolean;
  readonly media: Medium[];
  readonly site_ids: SiteId[];
  readonly teams: { readonly id: TeamId; readonly site_id: SiteId; readonly name: string }[];
}

/** Shows nothing of sites other than the requested ones. */
export async function listColleagues(
  sql: Sql,
  filter: Pick<OperatorFilter, 'accountId' | 'siteIds' | 'includeOffline'> & Window,
): Promise<ColleagueRow[]> {
  const sites = [...filter.siteIds];
  return sql<ColleagueRow[]>`
    SELECT o.id, o.name, o.available AND coalesce(o.presence_expires_at > now(), true) AS available, o.media,
           (SELECT array_agg(a.site_id ORDER BY a.site_id)
              FROM operator_assignments a
             WHERE a.operator_id = o.id AND a.site_id = ANY(${sites}::uuid[])) AS site_ids,
           coalesce((SELECT jsonb_agg(jsonb_build_object('id', t.id, 'site_id', t.site_id, 'name', t.name)
                                      ORDER BY t.name, t.id)
                       FROM operator_teams m
                       JOIN teams t ON t.id = m.team_id
                      WHERE m.operator_id = o.id AND m.site_id = ANY(${sites}::uuid[])), '[]') AS teams
      FROM operators o
     WHERE o.account_id = ${filter.accountId} AND o.enabled
       AND EXISTS (SELECT 1 FROM operator_assignments a
                    WHERE a.operator_id = o.id AND a.site_id = ANY(${sites}::uuid[]))
       AND (${filter.includeOffline} OR (o.available AND coalesce(o.presence_expires_at > now(), true)))
     ORDER BY o.name, o.id
     LIMIT ${filter.limit} OFFSET ${filter.offset}`;
}

export async function insertOperator(
  sql: Sql,
  id: OperatorId,
  accountId: AccountId,
  settings: OperatorSettings,
): Promise<void> {
  await sql`INSERT INTO operators ${sql({ id, account_id: accountId, ...storedValues(sql, settings) })}`;
}

/** Increments the version even if only the assignments change, because the ETag covers them too. */
export async function updateOperator(sql: Sql, id: OperatorId, settings: OperatorSettings): Promise<void> {
  const { enabled } = settings;
  await sql`
    UPDATE operators
       SET ${sql(storedValues(sql, settings))}, version = version + 1, updated_at = now(),
           -- A disabled operator becomes unavailable and stays so when enabled again.
           available = available AND ${enabled},
           presence_expires_at = CASE WHEN ${enabled} THEN presence_expires_at ELSE least(presence_expires_at, now()) END
     WHERE id = ${id}`;
}

function storedValues(sql: Sql, settings: OperatorSettings) {
  return { ...operatorFields.values(sql, settings), display_name: settings.display_name };
}

/** Locks the account and the operator's row until the transaction ends, so that checks stay true until the change is written. */
export async function lockOperator(sql: Sql, accountId: AccountId, id: OperatorId): Promise<void> {
  await lockAccount(sql, accountId);
  await sql`SELECT 1 FROM operators WHERE id = ${id} AND account_id = ${accountId} FOR NO KEY UPDATE`;
}

/** Replaces all assignments of the operator. */
export async function replaceAssignments(
  sql: Sql,
  accountId: AccountId,
  id: OperatorId,
  assignments: readonly Assignment[],
): Promise<void> {
  const rows = assignments.map(({ site_id, role, team_ids }) => ({ site_id, role, team_ids: [...team_ids] }));
  const given = sql`jsonb_to_recordset(${sql.json(rows)}) AS given (site_id uuid, role text, team_ids uuid[])`;
  // Locks the teams first, as deleting a team does: another order could deadlock.
  const teams = rows.flatMap((row) => row.team_ids);
  await sql`SELECT 1 FROM teams WHERE id = ANY(${teams}::uuid[]) ORDER BY id FOR KEY SHARE`;
  await sql`
    DELETE FROM operator_assignments
     WHERE operator_id = ${id} AND site_id NOT IN (SELECT given.site_id FROM ${given})`;
  await sql`
    INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
    SELECT ${accountId}, ${id}, given.site_id, given.role FROM ${given}
    ON CONFLICT (operator_id, site_id) DO UPDATE SET role = excluded.role
     WHERE operator_assignments.role <> excluded.role`;
  await sql`DELETE FROM operator_teams WHERE operator_id = ${id}`;
  await sql`
    INSERT INTO operator_teams (account_id, operator_id, site_id, team_id)
    SELECT ${accountId}, ${id}, given.site_id, team_id FROM ${given}, unnest(given.team_ids) AS team_id`;
}

interface Presence {
  readonly available: boolean;
  /** `null` keeps the current media. */
  readonly media: readonly Medium[] | null;
  readonly expiresInSec: number | null;
  readonly reason: string | null;
}

export async function setPresence(sql: Sql, id: OperatorId, presence: Presence): Promise<void> {
  await sql`
    UPDATE operators
       SET available = ${presence.available},
           media = coalesce(${presence.media === null ? null : [...presence.media]}::text[], media),
           presence_reason = ${presence.reason},
           presence_set_at = now(),
           presence_expires_at = now() + make_interval(secs => ${presence.expiresInSec})
     WHERE id = ${id}`;
}

/** The sites that would have no enabled super_manager without operator `id`. Locks the sites, so that this stays true. */
export async function sitesWithoutSuperManager(sql: Sql, id: OperatorId, sites: readonly SiteId[]): Promise<SiteId[]> {
  if (sites.length === 0) return [];
  await sql`SELECT 1 FROM sites WHERE id = ANY(${[...sites]}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
  const rows = await sql<{ id: SiteId }[]>`
    SELECT s.id
      FROM sites s
     WHERE s.id = ANY(${[...sites]}::uuid[])
       AND NOT EXISTS (SELECT 1
                         FROM operator_assignments a
                         JOIN operators o ON o.id = a.operator_id
                        WHERE a.site_id = s.id AND a.role = 'super_manager' AND o.enabled AND o.id <> ${id})`;
  return rows.map((row) => row.id);
}
