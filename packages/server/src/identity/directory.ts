import type { RowChanges } from '../platform/database/row-changes.ts';
import type { Sql } from '../platform/database/database.ts';
import { RowCache } from '../platform/database/row-cache.ts';
import { loadAccessToken, type CachedAccessToken } from './access-tokens/store.ts';
import {
  loadApplicationToken,
  loadOperator,
  loadVisitor,
  isAnySitesOrigin,
  isRevoked,
  type CachedApplicationToken,
  type CachedOperator,
  type CachedVisitor,
} from './directory-store.ts';
import { findSite } from './sites/store.ts';
import { renderSite, type SiteRow } from './sites/site.ts';

export interface CachedSite {
  readonly site: SiteRow;
  /** The response body of `GET /sites/{site_id}`. */
  readonly json: string;
}

/** Caches of the rows that almost every request needs. A row is dropped from its cache when it changes in the database. */
export interface Directory {
  readonly operators: RowCache<CachedOperator | null>;
  readonly visitors: RowCache<CachedVisitor | null>;
  readonly applicationTokens: RowCache<CachedApplicationToken | null>;
  readonly accessTokens: RowCache<CachedAccessToken | null>;
  readonly revokedTokens: RowCache<boolean>;
  readonly sites: RowCache<CachedSite | null>;
  /** Whether any site allows the origin. */
  readonly origins: RowCache<boolean>;
}

export function createDirectory(sql: Sql, changes: RowChanges): Directory {
  const cache = <Value>(
    tables: readonly string[],
    limit: number,
    load: (key: string) => Promise<Value>,
  ): RowCache<Value> => new RowCache({ changes, tables, limit, load });
  const origins = cache([], 10_000, async (origin) => isAnySitesOrigin(sql, origin));
  changes.on('sites', () => origins.clear());
  const visitors = cache(['visitors'], 50_000, async (id) => loadVisitor(sql, id));
  // Any cached visitor may belong to the site. Sites are deleted too rarely for the cost to matter.
  changes.on('deleted_sites', () => visitors.clear());
  const operators = cache(['operators'], 20_000, async (id) => loadOperator(sql, id));
  const applicationTokens = cache(['application_tokens'], 10_000, async (id) => loadApplicationToken(sql, id));
  // An account was disabled or enabled, which is as rare.
  changes.on('accounts', () => {
    for (const each of [operators, visitors, applicationTokens]) each.clear();
  });
  return {
    operators,
    visitors,
    applicationTokens,
    accessTokens: cache(['operator_access_tokens'], 10_000, async (id) => loadAccessToken(sql, id)),
    revokedTokens: cache(['revoked_tokens'], 100_000, async (id) => isRevoked(sql, id)),
    sites: cache(['sites'], 10_000, async (id) => loadSite(sql, id)),
    origins,
  };
}

async function loadSite(sql: Sql, id: string): Promise<CachedSite | null> {
  const site = await findSite(sql, id);
  return site === null ? null : { site, json: renderSite(site) };
}
