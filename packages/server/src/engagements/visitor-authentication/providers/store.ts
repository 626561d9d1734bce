import { lockSite } from '../../../identity/sites/store.ts';
import { inTransaction, type Sql } from '../../../platform/database/database.ts';
import type { SiteId } from '../../../platform/ids.ts';
import type { ProviderId, ProviderRow } from './provider.ts';

const select = (sql: Sql) => sql`
  SELECT id, account_id, site_id, name, type, issuer, client_id, client_secret, client_secret IS NOT NULL AS has_client_secret,
         redirect_uris, created_at
    FROM visitor_authentication_providers`;

/** A provider of the site. The caller has checked access to the site. */
export async function findProvider(sql: Sql, siteId: SiteId, id: ProviderId): Promise<ProviderRow | null> {
  const [row] = await sql<ProviderRow[]>`${select(sql)} WHERE id = ${id} AND site_id = ${siteId}`;
  return row ?? null;
}

export async function listProviders(sql: Sql, siteId: SiteId): Promise<ProviderRow[]> {
  return sql<ProviderRow[]>`${select(sql)} WHERE site_id = ${siteId} ORDER BY created_at, id`;
}

/** `null`: the site has `max` providers already. The lock on the site's row makes the limit exact under concurrency. */
export async function insertProvider(
  pool: Sql,
  provider: Omit<ProviderRow, 'has_client_secret' | 'created_at'>,
  max: number,
): Promise<ProviderRow | null> {
  const { id, account_id, site_id, name, type, issuer, client_id, client_secret, redirect_uris } = provider;
  return inTransaction(pool, async (sql) => {
    await lockSite(sql, site_id);
    const [row] = await sql`
      INSERT INTO visitor_authentication_providers
             (id, account_id, site_id, name, type, issuer, client_id, client_secret, redirect_uris)
      SELECT ${id}, ${account_id}, ${site_id}, ${name}, ${type}, ${issuer}, ${client_id}, ${client_secret},
             ${[...redirect_uris]}::text[]
       WHERE (SELECT count(*) FROM visitor_authentication_providers WHERE site_id = ${site_id}) < ${max}
      RETURNING id`;
    return row === undefined ? null : findProvider(sql, site_id, id);
  });
}

/** Whether the provider exists. If so, it cannot be deleted until the transaction ends. */
export async function lockProvider(sql: Sql, id: ProviderId): Promise<boolean> {
  const [row] = await sql`SELECT 1 FROM visitor_authentication_providers WHERE id = ${id} FOR KEY SHARE`;
  return row !== undefined;
}

export async function deleteProvider(sql: Sql, siteId: SiteId, id: ProviderId): Promise<boolean> {
  const [row] = await sql`
    DELETE FROM visitor_authentication_providers WHERE id = ${id} AND site_id = ${siteId} RETURNING id`;
  return row !== undefined;
}
