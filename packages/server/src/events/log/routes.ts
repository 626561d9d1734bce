import Type from 'typebox';
import { accountOf, operatorOf } from '../../identity/access.ts';
import { requestedSites } from '../../identity/requested-sites.ts';
import { inTransaction } from '../../platform/database/database.ts';
import type { App } from '../../platform/http/http.ts';
import { cursorQuery, nextPage, pageAddress } from '../../platform/http/paging.ts';
import { readByIndex } from '../../platform/database/read-by-index.ts';
import { list, oneOf, uuid } from '../../platform/schema.ts';
import { timeQuery, timeRange } from '../../platform/time-range.ts';
import { eventTypes } from '../catalogue.ts';
import { loggedTypes } from '../subscriptions/subscribers.ts';
import { loggedEventOutput, newestFirst } from './logged-event.ts';
import { dayMs, dayOf, readLogCursor, writeCursor, type LogPosition } from './position.ts';
import { readLog } from './read-log.ts';
import type { LogFilter } from './store.ts';

const description = `The events of all sites where the caller is super_manager, newest first. Events without a site are shown
to callers who are super_manager of all sites. A page may have fewer than \`per_page\` events, even none, while \`next_page\` is
not null: each page scans a limited part of the log. Events that were written at the same moment may be split between two
pages in any order. Both names of the status of a message are accepted.`;

export function eventLogRoutes(app: App, retentionDays: number): void {
  app.get(
    '/events',
    {
      config: { access: { operator: 'super_manager', site: 'anywhere' } },
      schema: {
        tags: ['Events'],
        summary: 'List events, newest first',
        description,
        querystring: Type.Object({
          event_type: Type.Optional(list(oneOf(eventTypes), { minItems: 1 })),
          ...timeQuery,
          engagement_id: Type.Optional(uuid<'engagement'>()),
          visitor_id: Type.Optional(uuid<'visitor'>()),
          site_ids: Type.Optional(list(uuid<'site'>(), { minItems: 1 })),
          ...cursorQuery,
        }),
        response: { 200: Type.Object({ events: Type.Array(loggedEventOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { query } = request;
      const filter: LogFilter = {
        accountId: accountOf(request),
        sites: requestedSites(operatorOf(request), query.site_ids, 'super_manager'),
        siteless: query.site_ids === undefined,
        types: loggedTypes(query.event_type ?? eventTypes),
        engagementId: query.engagement_id ?? null,
        visitorId: query.visitor_id ?? null,
        ...times(query, retentionDays),
      };
      const from = startOf(filter, query.cursor);
      const { events, next } = await inTransaction(request.sql, async (sql) => {
        await readByIndex(sql);
        return readLog(sql, filter, from, query.per_page);
      });
      return {
        events: events.toSorted(newestFirst),
        next_page: next === null ? null : pageAddress(request, { cursor: writeCursor(next) }),
      };
    },
  );
}

/** Limits the range to the days that are kept, so that no other days are scanned. */
function times(query: Parameters<typeof timeRange>[0], retentionDays: number): Pick<LogFilter, 'since' | 'until'> {
  const today = dayOf(Date.now());
  const first = today - retentionDays * dayMs;
  // The clock of the process that wrote an event may be ahead of ours.
  const end = today + 2 * dayMs;
  const { since, until } = timeRange(query);
  return {
    since: new Date(Math.max(since?.getTime() ?? first, first)),
    until: new Date(Math.min(until?.getTime() ?? end, end)),
  };
}

function startOf({ until }: LogFilter, cursor: string | undefined): LogPosition {
  const latest = { day: dayOf(until.getTime() - 1), before: null };
  const start = cursor === undefined ? latest : readLogCursor(cursor);
  return start.day > latest.day ? latest : start;
}
