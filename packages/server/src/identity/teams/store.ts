import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, SiteId, TeamId } from '../../platform/ids.ts';
import type { TeamRow } from './team.ts';

export async function findTeam(sql: Sql, accountId: AccountId, id: TeamId): Promise<TeamRow | null> {
  const [row] = await sql<
    TeamRow[]
  >`SELECT id, account_id, site_id, name, description, version, created_at, updated_at FROM teams WHERE id = ${id} AND account_id = ${accountId}`;
  return row ?? null;
}

interface TeamQuery {
  readonly accountId: AccountId;
  readonly siteIds: readonly SiteId[];
  readonly limit: number | null;
  readonly offset: number;
}

export async function listTeams(sql: Sql, { accountId, siteIds, limit, offset }: TeamQuery): Promise<TeamRow[]> {
  // Served by teams_in_order.
  return sql<TeamRow[]>`
    SELECT id, account_id, site_id, name, description, version, created_at, updated_at
      FROM teams
     WHERE account_id = ${accountId} AND site_id = ANY(${[...siteIds]}::uuid[])
     ORDER BY created_at, id
     LIMIT ${limit} OFFSET ${offset}`;
}

type NewTeam = Pick<TeamRow, 'id' | 'account_id' | 'site_id' | 'name' | 'description'>;

export async function insertTeam(sql: Sql, { id, account_id, site_id, name, description }: NewTeam): Promise<TeamRow> {
  const [row] = await sql<TeamRow[]>`
    INSERT INTO teams (id, account_id, site_id, name, description)
    VALUES (${id}, ${account_id}, ${site_id}, ${name}, ${description})
    RETURNING id, account_id, site_id, name, description, version, created_at, updated_at`;
  if (row === undefined) throw new Error('INSERT returned no team');
  return row;
}

/** Requires the account's lock and an existing team. */
export async function updateTeam(
  sql: Sql,
  id: TeamId,
  changes: Partial<Pick<TeamRow, 'name' | 'description'>>,
): Promise<TeamRow> {
  const [row] = await sql<TeamRow[]>`
    UPDATE teams
       SET ${sql(changes)}, version = version + 1, updated_at = now()
     WHERE id = ${id}
    RETURNING id, account_id, site_id, name, description, version, created_at, updated_at`;
  if (row === undefined) throw new Error('the team to update does not exist');
  return row;
}

/**
 * Deletes the team and all memberships in it. The team is locked first, so that a concurrent join either commits before and is
 * removed here, or fails because the team no longer exists.
 */
export async function deleteTeam(sql: Sql, id: TeamId): Promise<void> {
  await sql`SELECT 1 FROM teams WHERE id = ${id} FOR UPDATE`;
  await sql`
    UPDATE visitors
       SET team_ids = array_remove(team_ids, ${id}), version = version + 1, updated_at = now()
     WHERE team_ids <> '{}' AND team_ids @> ARRAY[${id}]::uuid[]`;
  await sql`DELETE FROM teams WHERE id = ${id}`;
}

/** Those of the teams that belong to the site. They are locked against deletion until the transaction ends. */
export async function teamsOnSite(sql: Sql, siteId: SiteId, ids: readonly TeamId[]): Promise<ReadonlySet<TeamId>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<
    { id: TeamId }[]
  >`SELECT id FROM teams WHERE site_id = ${siteId} AND id = ANY(${[...ids]}::uuid[]) ORDER BY id FOR KEY SHARE`;
  return new Set(rows.map((row) => row.id));
}
