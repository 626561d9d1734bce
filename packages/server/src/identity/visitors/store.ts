import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, SiteId, TeamId, VisitorId } from '../../platform/ids.ts';
import type { Trust } from '../caller.ts';
import { visitorFields, type VisitorRow, type VisitorSettings } from './visitor.ts';

const { columns } = visitorFields;

export interface NewVisitor {
  readonly id: VisitorId;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly name: string | null;
  readonly teamIds: readonly TeamId[];
  readonly phone?: string;
  /** Whether the visitor is created with a publishable token. Such a visitor is deleted later if they never do anything. */
  readonly isFromPage?: boolean;
}

export async function insertVisitor(sql: Sql, visitor: NewVisitor): Promise<void> {
  const { id, accountId, siteId, name, teamIds, phone = null, isFromPage = false } = visitor;
  await sql`
    INSERT INTO visitors (id, account_id, site_id, name, team_ids, phone, token_issued_at)
    VALUES (${id}, ${accountId}, ${siteId}, ${name}, ${[...teamIds]}::uuid[], ${phone},
            CASE WHEN ${isFromPage} THEN now() END)`;
}

/**
 * For a turn, which has locked the account: inserts the visitors that its tickets and requests created. A team that was deleted since
 * it was checked is left out, as its deletion would have removed it.
 */
export async function insertVisitors(sql: Sql, visitors: readonly NewVisitor[]): Promise<void> {
  const rows = visitors.map(({ id, accountId, siteId, name, teamIds }) => ({
    id,
    account_id: accountId,
    site_id: siteId,
    name,
    team_ids: [...teamIds],
  }));
  await sql`
    INSERT INTO visitors (id, account_id, site_id, name, team_ids)
    SELECT v.id, v.account_id, v.site_id, v.name,
           ARRAY(SELECT t.id FROM teams t WHERE t.site_id = v.site_id AND t.id = ANY(v.team_ids))
      FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS v (
             id uuid, account_id uuid, site_id uuid, name text, team_ids uuid[])`;
}

/** A visitor with a token of a secret application token is kept forever; for others the time until deletion starts again. */
export async function recordTokenIssue(sql: Sql, id: VisitorId, trust: Trust): Promise<void> {
  await sql`
    UPDATE visitors SET token_issued_at = CASE WHEN ${trust === 'publishable'} THEN now() END
     WHERE id = ${id} AND token_issued_at IS NOT NULL`;
}

export async function findVisitor(sql: Sql, accountId: AccountId, id: VisitorId): Promise<VisitorRow | null> {
  const [row] = await sql<VisitorRow[]>`
    SELECT ${sql(columns)} FROM visitors WHERE id = ${id} AND account_id = ${accountId}`;
  return row ?? null;
}

/** Leaves out visitors who are on other sites. */
export async function visitorsById(
  sql: Sql,
  ids: readonly VisitorId[],
  siteIds: readonly SiteId[],
): Promise<VisitorRow[]> {
  return sql<VisitorRow[]>`
    SELECT ${sql(columns)} FROM visitors WHERE id = ANY(${[...ids]}::uuid[]) AND site_id = ANY(${[...siteIds]}::uuid[])`;
}

/** Reads and locks the visitor until the transaction ends, because the update depends on the current values. */
export async function lockVisitor(sql: Sql, accountId: AccountId, id: VisitorId): Promise<VisitorRow | null> {
  const [row] = await sql<VisitorRow[]>`
    SELECT ${sql(columns)} FROM visitors WHERE id = ${id} AND account_id = ${accountId} FOR NO KEY UPDATE`;
  return row ?? null;
}

export async function updateVisitor(sql: Sql, id: VisitorId, changes: Partial<VisitorSettings>): Promise<VisitorRow> {
  const [row] = await sql<VisitorRow[]>`
    UPDATE visitors SET ${sql(visitorFields.values(sql, changes))}, version = version + 1, updated_at = now()
     WHERE id = ${id}
    RETURNING ${sql(columns)}`;
  if (row === undefined) throw new Error('the visitor to update does not exist');
  return row;
}

/** Moves the visitor to another site of the account and out of the old site's teams. Returns `null` if there is no such site. */
export async function moveVisitor(
  sql: Sql,
  accountId: AccountId,
  id: VisitorId,
  siteId: SiteId,
): Promise<VisitorRow | null> {
  const [row] = await sql<VisitorRow[]>`
    UPDATE visitors
       SET site_id = ${siteId},
           team_ids = CASE WHEN site_id = ${siteId} THEN team_ids ELSE '{}' END,
           version = version + 1,
           updated_at = now()
     WHERE id = ${id} AND account_id = ${accountId}
       AND EXISTS (SELECT 1 FROM sites WHERE id = ${siteId} AND account_id = ${accountId})
    RETURNING ${sql(columns)}`;
  return row ?? null;
}
