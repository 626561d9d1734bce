import { lockSite } from '../../identity/sites/store.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import type { SipDomainId, SipDomainRow } from './sip-domain.ts';

const columns = ['id', 'account_id', 'site_id', 'domain', 'created_at'] as const;

export async function findSipDomain(sql: Sql, accountId: AccountId, id: SipDomainId): Promise<SipDomainRow | null> {
  const [row] = await sql<SipDomainRow[]>`
    SELECT ${sql(columns)} FROM sip_domains WHERE id = ${id} AND account_id = ${accountId}`;
  return row ?? null;
}

export async function listSipDomains(
  sql: Sql,
  siteIds: readonly SiteId[],
  window: { limit: number | null; offset: number },
): Promise<SipDomainRow[]> {
  return sql<SipDomainRow[]>`
    SELECT ${sql(columns)} FROM sip_domains
     WHERE site_id = ANY(${[...siteIds]}::uuid[])
     ORDER BY created_at, id
     LIMIT ${window.limit} OFFSET ${window.offset}`;
}

/** `null`: the site has `max` domains already. The lock on the site's row makes the limit exact under concurrency. */
export async function insertSipDomain(
  pool: Sql,
  { id, account_id, site_id, domain }: Omit<SipDomainRow, 'created_at'>,
  max: number,
): Promise<SipDomainRow | null> {
  return inTransaction(pool, async (sql) => {
    await lockSite(sql, site_id);
    const [row] = await sql<SipDomainRow[]>`
      INSERT INTO sip_domains (id, account_id, site_id, domain)
      SELECT ${id}, ${account_id}, ${site_id}, ${domain}
       WHERE (SELECT count(*) FROM sip_domains WHERE site_id = ${site_id}) < ${max}
      RETURNING ${sql(columns)}`;
    return row ?? null;
  });
}

/** Whether this call deleted the domain. */
export async function deleteSipDomain(sql: Sql, id: SipDomainId): Promise<boolean> {
  const [row] = await sql`DELETE FROM sip_domains WHERE id = ${id} RETURNING id`;
  return row !== undefined;
}
