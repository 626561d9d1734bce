import type { Role } from '@usher/contract/roles';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId, SiteId } from '../platform/ids.ts';

interface OfAccount {
  readonly accountId: AccountId;
  readonly isAccountDisabled: boolean;
}

/** What permission checks need to know about an operator. */
export interface CachedOperator extends OfAccount {
  readonly enabled: boolean;
  readonly roles: ReadonlyMap<SiteId, Role>;
  readonly keyIds: ReadonlySet<string>;
  readonly sessionIds: ReadonlySet<string>;
}

export interface CachedVisitor extends OfAccount {
  readonly siteId: SiteId;
}

export interface CachedApplicationToken extends OfAccount {
  readonly id: string;
  readonly siteId: SiteId;
  readonly kind: 'secret' | 'publishable';
  readonly secretHash: string;
  /** The digest of the secret after the slow check has passed, so that later requests need no slow check. */
  verifiedDigest: Buffer | null;
}

interface OperatorRow extends OfAccount {
  readonly enabled: boolean;
  readonly roles: [SiteId, Role][];
  readonly keyIds: string[];
  readonly sessionIds: string[];
}

export async function loadOperator(sql: Sql, id: string): Promise<CachedOperator | null> {
  const [row] = await sql<OperatorRow[]>`
    SELECT o.account_id AS "accountId", a.disabled_at IS NOT NULL AS "isAccountDisabled", o.enabled,
           ARRAY(SELECT jsonb_build_array(site_id, role) FROM operator_assignments WHERE operator_id = o.id) AS roles,
           ARRAY(SELECT k.id FROM api_keys k WHERE k.operator_id = o.id) AS "keyIds",
           ARRAY(SELECT s.id FROM operator_sessions s WHERE s.operator_id = o.id AND s.expires_at > now()) AS "sessionIds"
      FROM operators o
      JOIN accounts a ON a.id = o.account_id
     WHERE o.id = ${id}`;
  if (row === undefined) return null;
  const { roles, keyIds, sessionIds } = row;
  return { ...row, roles: new Map(roles), keyIds: new Set(keyIds), sessionIds: new Set(sessionIds) };
}

/** Also `null` if the site has been deleted: its visitors are deleted later. */
export async function loadVisitor(sql: Sql, id: string): Promise<CachedVisitor | null> {
  const [row] = await sql<CachedVisitor[]>`
    SELECT v.account_id AS "accountId", a.disabled_at IS NOT NULL AS "isAccountDisabled", v.site_id AS "siteId"
      FROM visitors v
      JOIN sites s ON s.id = v.site_id
      JOIN accounts a ON a.id = v.account_id
     WHERE v.id = ${id}`;
  return row ?? null;
}

export async function loadApplicationToken(sql: Sql, id: string): Promise<CachedApplicationToken | null> {
  const [row] = await sql<Omit<CachedApplicationToken, 'verifiedDigest'>[]>`
    SELECT t.id, t.account_id AS "accountId", a.disabled_at IS NOT NULL AS "isAccountDisabled", t.site_id AS "siteId",
           t.kind, t.secret_hash AS "secretHash"
      FROM application_tokens t
      JOIN accounts a ON a.id = t.account_id
     WHERE t.id = ${id}`;
  return row === undefined ? null : { ...row, verifiedDigest: null };
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
