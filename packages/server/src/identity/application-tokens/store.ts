import { inTransaction, type Sql } from '../../platform/database/database.ts';
import type { AccountId, ApplicationTokenId, SiteId } from '../../platform/ids.ts';
import { lockSite } from '../sites/store.ts';

export interface ApplicationTokenRow {
  readonly id: ApplicationTokenId;
  readonly kind: 'secret' | 'publishable';
  readonly created_at: Date;
  /** The text of a publishable token; `null` if the token is older than migration 28, which added the column. */
  readonly token: string | null;
}

interface NewApplicationToken {
  readonly id: ApplicationTokenId;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly kind: 'secret' | 'publishable';
  readonly secretHash: string;
  /** The text of a publishable token; `null` for a secret one. */
  readonly token: string | null;
}

/** Returns `null` if the site already has `max` tokens. The lock on the site's row makes the count exact. */
export async function insertApplicationToken(
  pool: Sql,
  token: NewApplicationToken,
  max: number,
): Promise<ApplicationTokenRow | null> {
  return inTransaction(pool, async (sql) => {
    await lockSite(sql, token.siteId);
    const [row] = await sql<ApplicationTokenRow[]>`
      INSERT INTO application_tokens (id, account_id, site_id, kind, secret_hash, token)
      SELECT ${token.id}, ${token.accountId}, ${token.siteId}, ${token.kind}, ${token.secretHash}, ${token.token}
       WHERE (SELECT count(*) FROM application_tokens WHERE site_id = ${token.siteId}) < ${max}
      RETURNING id, kind, created_at, token`;
    return row ?? null;
  });
}

export async function listApplicationTokens(sql: Sql, siteId: SiteId): Promise<ApplicationTokenRow[]> {
  return sql<ApplicationTokenRow[]>`
    SELECT id, kind, created_at, token FROM application_tokens WHERE site_id = ${siteId} ORDER BY created_at, id`;
}

/** Returns the deleted token; `null` if the site has no such token. */
export async function deleteApplicationToken(
  sql: Sql,
  siteId: SiteId,
  id: string,
): Promise<ApplicationTokenRow | null> {
  const [row] = await sql<ApplicationTokenRow[]>`
    DELETE FROM application_tokens WHERE id = ${id} AND site_id = ${siteId} RETURNING id, kind, created_at, token`;
  return row ?? null;
}
