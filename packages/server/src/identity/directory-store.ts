import type { Role } from '@usher/contract/roles';
import type { Sql } from '../platform/database.ts';
import type { AccountId, SiteId } from '../platform/ids.ts';

/** An operator as far as permission goes. */
export interface KnownOperator {
  readonly accountId: AccountId;
  readonly enabled: boolean;
  readonly roles: ReadonlyMap<SiteId, Role>;
  readonly keyIds: ReadonlySet<string>;
  readonly sessionIds: ReadonlySet<string>;
}

export interface KnownVisitor {
  readonly accountId: AccountId;
  readonly siteId: SiteId;
}

export interface KnownApplicationToken {
  readonly id: string;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly kind: 'secret' | 'publishable';
  readonly secretHash: string;
  /** The digest of the secret once it has stood the slow check, so that it need not stand it with every request. */
  proven: Buffer | null;
}

interface OperatorRow {
  readonly accountId: AccountId;
  readonly enabled: boolean;
  readonly roles: [SiteId, Role][];
  readonly keyIds: string[];
  readonly sessionIds: string[];
}

export async function findKnownOperator(sql: Sql, id: string): Promise<KnownOperator | null> {
  const [row] = await sql<OperatorRow[]>`
    SELECT account_id AS "accountId", enabled,
           ARRAY(SELECT jsonb_build_array(site_id, role) FROM operator_assignments WHERE operator_id = o.id) AS roles,
           ARRAY(SELECT k.id FROM api_keys k WHERE k.operator_id = o.id) AS "keyIds",
           ARRAY(SELECT s.id FROM operator_sessions s WHERE s.operator_id = o.id AND s.expires_at > now()) AS "sessionIds"
      FROM operators o
     WHERE id = ${id}`;
  if (row === undefined) return null;
  const { accountId, enabled, roles, keyIds, sessionIds } = row;
  return { accountId, enabled, roles: new Map(roles), keyIds: new Set(keyIds), sessionIds: new Set(sessionIds) };
}

/** `null` also where the site has been deleted: visitors outlive it for a while. */
export async function findKnownVisitor(sql: Sql, id: string): Promise<KnownVisitor | null> {
  const [row] = await sql<KnownVisitor[]>`
    SELECT v.account_id AS "accountId", v.site_id AS "siteId"
      FROM visitors v
      JOIN sites s ON s.id = v.site_id
     WHERE v.id = ${id}`;
  return row ?? null;
}

export async function findKnownApplicationToken(sql: Sql, id: string): Promise<KnownApplicationToken | null> {
  const [row] = await sql<Omit<KnownApplicationToken, 'proven'>[]>`
    SELECT id, account_id AS "accountId", site_id AS "siteId", kind, secret_hash AS "secretHash"
      FROM application_tokens
     WHERE id = ${id}`;
  return row === undefined ? null : { ...row, proven: null };
}

export async function isRevoked(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql`SELECT 1 FROM revoked_tokens WHERE id = ${id}`;
  return row !== undefined;
}

export async function isAnySitesOrigin(sql: Sql, origin: string): Promise<boolean> {
  // Served by sites_allowed_origins.
  const [row] = await sql`SELECT 1 FROM sites WHERE allowed_origins @> ARRAY[${origin}] LIMIT 1`;
  return row !== undefined;
}
