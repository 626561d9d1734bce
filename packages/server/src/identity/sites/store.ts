import type { Sql } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { AccountId, OperatorId, SiteId } from '../../platform/ids.ts';
import { siteFields, type SiteRow, type SiteSettings } from './site.ts';

const { columns } = siteFields;

export async function findSite(sql: Sql, id: string): Promise<SiteRow | null> {
  const [row] = await sql<SiteRow[]>`SELECT ${sql(columns)} FROM sites WHERE id = ${id}`;
  return row ?? null;
}

/**
 * Locks the site's row until the transaction ends, so that the site is not deleted meanwhile and no limit of rows per site is exceeded.
 * Whoever adds a row to a site takes this lock or, as turns do, the account's: the deletion takes both, the account's first, before it
 * looks at the rows of the site. A site that has been deleted is refused with 404.
 */
export async function lockSite(sql: Sql, id: SiteId): Promise<void> {
  const [row] = await sql`SELECT 1 FROM sites WHERE id = ${id} FOR NO KEY UPDATE`;
  if (row === undefined) throw notFound('site', id);
}

interface SiteFilter {
  readonly ids: readonly SiteId[];
  /** Only sites with one of these hosts among their addresses or allowed origins; `null`: all sites. */
  readonly hostnames: readonly string[] | null;
}

/** Matches the host of an address that may have a scheme, user, port and path. */
const hostInAddress = String.raw`^\s*(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/:?#\s]+)`;

export async function listSites(
  sql: Sql,
  { ids, hostnames }: SiteFilter,
  window: { limit: number | null; offset: number },
): Promise<SiteRow[]> {
  const hasHost = sql`
       AND EXISTS (SELECT 1 FROM unnest(addresses || allowed_origins) AS known (address)
                    WHERE lower(substring(address FROM ${hostInAddress}::text)) = ANY(${[...(hostnames ?? [])]}::text[]))`;
  return sql<SiteRow[]>`
    SELECT ${sql(columns)}
      FROM sites
     WHERE id = ANY(${[...ids]}::uuid[])
       ${hostnames === null ? sql`` : hasHost}
     ORDER BY created_at, id
     LIMIT ${window.limit} OFFSET ${window.offset}`;
}

interface NewSite {
  readonly id: SiteId;
  readonly accountId: AccountId;
  readonly settings: SiteSettings;
  /** Becomes the first super_manager of the site. */
  readonly creator: OperatorId;
}

export async function insertSite(sql: Sql, { id, accountId, settings, creator }: NewSite): Promise<SiteRow> {
  const values = { id, account_id: accountId, ...siteFields.values(sql, settings) };
  const [row] = await sql<SiteRow[]>`
    WITH site AS (INSERT INTO sites ${sql(values)} RETURNING ${sql(columns)}),
         super_manager AS (
           INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
           SELECT account_id, ${creator}, id, 'super_manager' FROM site)
    SELECT * FROM site`;
  if (row === undefined) throw new Error('INSERT returned no site');
  return row;
}

/** Requires the account's lock, so that the site is still as the caller read it. */
export async function updateSite(sql: Sql, id: SiteId, changes: Partial<SiteSettings>): Promise<SiteRow> {
  const [row] = await sql<SiteRow[]>`
    UPDATE sites
       SET ${sql(siteFields.values(sql, changes))}, version = version + 1, updated_at = now()
     WHERE id = ${id}
    RETURNING ${sql(columns)}`;
  if (row === undefined) throw new Error('the site to update does not exist');
  return row;
}
