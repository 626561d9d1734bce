import type { RowChanges } from '../platform/row-changes.ts';
import type { Sql } from '../platform/database.ts';
import { RowCache } from '../platform/row-cache.ts';
import { findAccessToken, type KnownAccessToken } from './access-tokens/store.ts';
import {
  findKnownApplicationToken,
  findKnownOperator,
  findKnownVisitor,
  isAnySitesOrigin,
  isRevoked,
  type KnownApplicationToken,
  type KnownOperator,
  type KnownVisitor,
} from './directory-store.ts';
import { findSite } from './sites/store.ts';
import { renderSite, type SiteRow } from './sites/site.ts';

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

export function createDirectory(sql: Sql, changes: RowChanges): Directory {
  const cache = <Value>(
    tables: readonly string[],
    limit: number,
    load: (key: string) => Promise<Value>,
  ): RowCache<Value> => new RowCache({ changes, tables, limit, load });
  const origins = cache([], 10_000, async (origin) => isAnySitesOrigin(sql, origin));
  changes.on('sites', () => origins.clear());
  const visitors = cache(['visitors'], 50_000, async (id) => findKnownVisitor(sql, id));
  // Any of them may be a visitor of the site. Sites are deleted too rarely for it to matter.
  changes.on('deleted_sites', () => visitors.clear());
  return {
    operators: cache(['operators'], 20_000, async (id) => findKnownOperator(sql, id)),
    visitors,
    applicationTokens: cache(['application_tokens'], 10_000, async (id) => findKnownApplicationToken(sql, id)),
    accessTokens: cache(['operator_access_tokens'], 10_000, async (id) => findAccessToken(sql, id)),
    revokedTokens: cache(['revoked_tokens'], 100_000, async (id) => isRevoked(sql, id)),
    sites: cache(['sites'], 10_000, async (id) => findKnownSite(sql, id)),
    origins,
  };
}

async function findKnownSite(sql: Sql, id: string): Promise<KnownSite | null> {
  const site = await findSite(sql, id);
  return site === null ? null : { site, json: renderSite(site) };
}
