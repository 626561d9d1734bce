import type { Sql } from '../../platform/database/database.ts';
import { newId, type AccountId, type OperatorId, type SiteId, type VisitorId } from '../../platform/ids.ts';
import type { ConcernedSites } from './audit.ts';
import type { Change } from './changes.ts';
import type { AuditEntryRow } from './entry.ts';

export interface NewEntry {
  readonly accountId: AccountId;
  readonly actor:
    { readonly type: 'operator'; readonly id: OperatorId } | { readonly type: 'visitor'; readonly id: VisitorId };
  readonly via: string;
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string; readonly name: string | null };
  readonly concerned: ConcernedSites;
  readonly changes: readonly Change[];
  readonly requestId: string;
}

/** Fails if the actor does not exist any more: its id would be NULL. */
export async function insertEntry(sql: Sql, entry: NewEntry): Promise<void> {
  const { accountId, actor, via, action, target, concerned, changes, requestId } = entry;
  const ofEach = 'each' in concerned;
  const sites = ofEach ? concerned.each : concerned.any;
  await sql`
    INSERT INTO audit_log (account_id, id, site_ids, of_each, actor_type, actor_id, actor_name, via, action, target_type,
                           target_id, target_name, changes, request_id)
    SELECT ${accountId}, ${newId<string>()}, ${sites === null ? null : [...new Set(sites)]}::uuid[], ${ofEach}, ${actor.type},
           who.id, who.name, ${via}, ${action}, ${target.type}, ${target.id}, ${target.name},
           ${JSON.stringify(changes)}::text::json, ${requestId}
      FROM (SELECT ${actor.id}::uuid AS id) AS actor
           LEFT JOIN ${actor.type === 'operator' ? sql`operators` : sql`(SELECT id, '' AS name FROM visitors)`} AS who ON who.id = actor.id`;
}

export interface AuditFilter {
  readonly accountId: AccountId;
  /** The sites that the caller is super_manager of. */
  readonly reach: readonly SiteId[];
  /** Only entries that concern one of these sites; `null`: all entries that the caller may see. */
  readonly siteIds: readonly SiteId[] | null;
  readonly actorId: OperatorId | null;
  readonly action: string | null;
  readonly targetType: string | null;
  readonly targetId: string | null;
  /** `since` is inclusive, `until` exclusive. */
  readonly since: Date;
  readonly until: Date;
  /** The `seq` of an entry: only older entries are listed. */
  readonly before: number | null;
  readonly limit: number;
}

/**
 * Newest first. In each day's partition the query is served by audit_log_in_order or, with a filter, by audit_log_of_target,
 * _of_actor or _of_action. A deleted site has no super_manager, so entries that concern only deleted sites are visible to those
 * who are super_manager of all remaining sites.
 */
export async function listEntries(sql: Sql, filter: AuditFilter): Promise<AuditEntryRow[]> {
  const { accountId, siteIds, actorId, action, targetType, targetId, since, until, before, limit } = filter;
  const reach = sql`${[...filter.reach]}::uuid[]`;
  // Unused filters are left out of the statement, so that each combination has its own plan.
  const nothing = sql``;
  return sql<AuditEntryRow[]>`
    SELECT id, seq::double precision AS seq, at, site_ids, actor_type, actor_id, actor_name, via, action, target_type, target_id,
           target_name, changes, request_id
      FROM audit_log l
     WHERE account_id = ${accountId} AND at >= ${since} AND at < ${until}
       ${before === null ? nothing : sql`AND seq < ${before}`}
       ${siteIds === null ? nothing : sql`AND site_ids && ${[...siteIds]}::uuid[]`}
       ${actorId === null ? nothing : sql`AND actor_id = ${actorId}`}
       ${action === null ? nothing : sql`AND action = ${action}`}
       ${targetType === null ? nothing : sql`AND target_type = ${targetType}`}
       ${targetId === null ? nothing : sql`AND target_id = ${targetId}`}
       AND CASE
             WHEN site_ids = '{}' THEN true
             WHEN NOT of_each AND site_ids && ${reach} THEN true
             WHEN of_each AND EXISTS (SELECT FROM sites WHERE id = ANY(l.site_ids))
             THEN NOT EXISTS (SELECT FROM sites WHERE id = ANY(l.site_ids) AND id <> ALL(${reach}))
             WHEN EXISTS (SELECT FROM sites WHERE id = ANY(l.site_ids)) THEN false
             -- A site on which nobody has a role is being deleted.
             ELSE NOT EXISTS (SELECT FROM sites s
                               WHERE s.account_id = ${accountId} AND s.id <> ALL(${reach})
                                 AND EXISTS (SELECT FROM operator_assignments a WHERE a.site_id = s.id))
           END
     ORDER BY l.seq DESC
     LIMIT ${limit}`;
}
