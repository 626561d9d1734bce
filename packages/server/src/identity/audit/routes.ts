import Type from 'typebox';
import { inTransaction } from '../../platform/database/database.ts';
import type { App } from '../../platform/http/http.ts';
import { cursorQuery, nextPage, pageAfter, readSequenceCursor } from '../../platform/http/paging.ts';
import { readByIndex } from '../../platform/database/read-by-index.ts';
import { list, uuid } from '../../platform/schema.ts';
import { timeQuery, timeRange } from '../../platform/time-range.ts';
import { operatorOf } from '../access.ts';
import { requestedSites } from '../requested-sites.ts';
import { auditEntryOutput, showEntry } from './entry.ts';
import { listEntries, type AuditFilter } from './store.ts';

const description = `Every change that operators made by the API, except the traffic of conversations and their own availability,
which are events. An entry is visible to super_managers of the site it concerns; for an operator, of any of the operator's sites;
for a webhook, of all the webhook's sites. Entries contain no secrets and no personal data of visitors. They are kept as long as
events.`;

const dayMs = 86_400_000;
const word = (meaning: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: meaning }));

export function auditRoutes(app: App, retentionDays: number): void {
  app.get(
    '/audit_log',
    {
      config: { access: { operator: 'super_manager', site: 'anywhere' } },
      schema: {
        tags: ['Audit log'],
        summary: 'List who changed what, newest first',
        description,
        querystring: Type.Object({
          site_ids: Type.Optional(list(uuid<'site'>(), { minItems: 1 })),
          actor_id: Type.Optional(uuid<'operator'>()),
          action: word('For example queue.update'),
          target_type: word('For example queue'),
          target_id: word('The id of the changed resource'),
          ...timeQuery,
          ...cursorQuery,
        }),
        response: { 200: Type.Object({ audit_log: Type.Array(auditEntryOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { query } = request;
      const caller = operatorOf(request);
      const filter: AuditFilter = {
        accountId: caller.accountId,
        reach: requestedSites(caller, undefined, 'super_manager'),
        siteIds: query.site_ids === undefined ? null : requestedSites(caller, query.site_ids, 'super_manager'),
        actorId: query.actor_id ?? null,
        action: query.action ?? null,
        targetType: query.target_type ?? null,
        targetId: query.target_id ?? null,
        ...keptRange(query, retentionDays),
        before: readSequenceCursor(query.cursor)?.seq ?? null,
        limit: query.per_page + 1,
      };
      const found = await inTransaction(request.sql, async (sql) => {
        await readByIndex(sql);
        return listEntries(sql, filter);
      });
      const page = found.slice(0, query.per_page);
      const last = found.length > query.per_page ? page.at(-1) : undefined;
      return { audit_log: page.map(showEntry), next_page: last === undefined ? null : pageAfter(request, last) };
    },
  );
}

/** Limits the range to the days that are kept, and to one day ahead in case the clock of another process is ahead. */
function keptRange(
  query: Parameters<typeof timeRange>[0],
  retentionDays: number,
): Pick<AuditFilter, 'since' | 'until'> {
  const now = Date.now();
  const first = Math.floor(now / dayMs - retentionDays) * dayMs;
  const { since, until } = timeRange(query);
  return { since: new Date(Math.max(since?.getTime() ?? first, first)), until: until ?? new Date(now + dayMs) };
}
