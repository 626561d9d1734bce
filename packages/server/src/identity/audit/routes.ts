import Type from 'typebox';
import { inTransaction } from '../../platform/database.ts';
import type { App } from '../../platform/http.ts';
import { instantOf } from '../../platform/instant.ts';
import { cursorQuery, nextPage, pageAfter, readSequenceCursor } from '../../platform/paging.ts';
import { readByIndex } from '../../platform/read-by-index.ts';
import { list, uuid } from '../../platform/schema.ts';
import { operatorOf } from '../access.ts';
import { requestedSites } from '../requested-sites.ts';
import { auditEntryOutput, showEntry } from './entry.ts';
import { listEntries, type AuditFilter } from './store.ts';

const description = `Every change that operators have made by the API, but for the traffic of conversations and their own
availability: those are events. An entry is shown to super_managers of the site it concerns; of an operator, of any of its
sites; of a webhook, of all the sites it hears of. Secrets, and what is known of visitors, are in no entry. Entries are kept as
long as events are.`;

const dayMs = 86_400_000;
const instant = (what: string) => Type.Optional(Type.String({ format: 'date-time', description: what }));
const word = (what: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: what }));

export function auditRoutes(app: App, retentionDays: number): void {
  app.get(
    '/audit_log',
    {
      config: { access: { operator: 'super_manager', site: 'anywhere' } },
      schema: {
        tags: ['Audit log'],
        summary: 'Who has changed what, newest first',
        description,
        querystring: Type.Object({
          site_ids: Type.Optional(list(uuid<'site'>(), { minItems: 1 })),
          actor_id: Type.Optional(uuid<'operator'>()),
          action: word('Such as queue.update'),
          target_type: word('Such as queue'),
          target_id: word('The id of what was changed'),
          since: instant('At or after this'),
          until: instant('Before this'),
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
        ...times(query, retentionDays),
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

/** Days that are no longer kept need not be looked at, nor those to come: whose clock is ahead is so by less than a day. */
function times(asked: { since?: string; until?: string }, retentionDays: number): { since: Date; until: Date } {
  const now = Date.now();
  const first = Math.floor(now / dayMs - retentionDays) * dayMs;
  const since = asked.since === undefined ? first : instantOf(asked.since, '/since').getTime();
  const until = asked.until === undefined ? now + dayMs : instantOf(asked.until, '/until').getTime();
  return { since: new Date(Math.max(since, first)), until: new Date(until) };
}
