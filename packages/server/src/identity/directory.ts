import type { Role } from '@usher/contract/roles';
import type { ChangeFeed } from '../platform/change-feed.ts';
import type { Sql } from '../platform/database.ts';
import type { AccountId, SiteId } from '../platform/ids.ts';
import { RowCache } from '../platform/row-cache.ts';
import { findAccessToken, type KnownAccessToken } from './access-tokens/store.ts';
import { findSite } from './sites/store.ts';
import { renderSite, type SiteRow } from './sites/site.ts';

/** An operator as far as permission goes. */
export interface KnownOperator {
  readonly accountId: AccountId;
  readonly enabled: boolean;
  readonly roles: ReadonlyMap<SiteId, Role>;
  readonly keyIds: ReadonlySet<string>;
  readonly sessionIds: ReadonlySet<string>;
}

interface KnownVisitor {
  readonly accountId: AccountId;
  readonly siteId: SiteId;
}

interface KnownApplicationToken {
  readonly id: string;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly kind: 'secret' | 'publishable';
  readonly secretHash: string;
  /** The digest of the secret once it has stood the slow check, so that it need not stand it with every request. */
  proven: Buffer | null;
}

export interface KnownSite {
  readonly site: SiteRow;
  /** As the API shows it. */
  readonly json: string;
}

/** Who is who, kept in memory and dropped as it changes: what each request asks without asking the database. */
export interface Directory {
  readonly operators: RowCache<KnownOperator | null>;
  readonly visitors: RowCache<KnownVisitor | null>;
  readonly applicationTokens: RowCache<KnownApplicationToken | null>;
  readonly accessTokens: RowCache<KnownAccessToken | null>;
  readonly revokedTokens: RowCache<boolean>;
  readonly sites: RowCache<KnownSite | null>;
  /** Whether any site lets this origin in. */
  readonly origins: RowCache<boolean>;
}

export function createDirectory(sql: Sql, feed: ChangeFeed): Directory {
  const cache = <Value>(
    tables: readonly string[],
    limit: number,
    load: (key: string) => Promise<Value>,
  ): RowCache<Value> => new RowCache({ feed, tables, limit, load });
  const origins = cache([], 10_000, async (origin) => isAnySitesOrigin(sql, origin));
  feed.on('sites', () => origins.clear());
  const visitors = cache(['visitors'], 50_000, async (id) => findVisitor(sql, id));
  // Any of them may be a visitor of the site. Sites are deleted too rarely for it to matter.
  feed.on('deleted_sites', () => visitors.clear());
  return {
    operators: cache(['operators'], 20_000, async (id) => findOperator(sql, id)),
    visitors,
    applicationTokens: cache(['application_tokens'], 10_000, async (id) => findApplicationToken(sql, id)),
    accessTokens: cache(['operator_access_tokens'], 10_000, async (id) => findAccessToken(sql, id)),
    revokedTokens: cache(['revoked_tokens'], 100_000, async (id) => isRevoked(sql, id)),
    sites: cache(['sites'], 10_000, async (id) => findKnownSite(sql, id)),
    origins,
  };
}

interface OperatorRow {
  readonly accountId: AccountId;
  readonly enabled: boolean;
  readonly roles: [SiteId, Role][];
  readonly keyIds: string[];
  readonly sessionIds: string[];
}

async function findOperator(sql: Sql, id: string): Promise<KnownOperator | null> {
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
async function findVisitor(sql: Sql, id: string): Promise<KnownVisitor | null> {
  const [row] = await sql<KnownVisitor[]>`
    SELECT v.account_id AS "accountId", v.site_id AS "siteId"
      FROM visitors v
      JOIN sites s ON s.id = v.site_id
     WHERE v.id = ${id}`;
  return row ?? null;
}

async function findApplicationToken(sql: Sql, id: string): Promise<KnownApplicationToken | null> {
  const [row] = await sql<Omit<KnownApplicationToken, 'proven'>[]>`
    SELECT id, account_id AS "accountId", site_id AS "siteId", kind, secret_hash AS "secretHash"
      FROM application_tokens
     WHERE id = ${id}`;
  return row === undefined ? null : { ...row, proven: null };
}

async function findKnownSite(sql: Sql, id: string): Promise<KnownSite | null> {
  const site = await findSite(sql, id);
  return site === null ? null : { site, json: renderSite(site) };
}

async function isRevoked(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql`SELECT 1 FROM revoked_tokens WHERE id = ${id}`;
  return row !== undefined;
}

async function isAnySitesOrigin(sql: Sql, origin: string): Promise<boolean> {
  // Served by sites_allowed_origins.
  const [row] = await sql`SELECT 1 FROM sites WHERE allowed_origins @> ARRAY[${origin}] LIMIT 1`;
  return row !== undefined;
}
