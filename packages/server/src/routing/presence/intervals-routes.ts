import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { instantOf } from '../../platform/instant.ts';
import { cursorQuery, nextPage, pageAfter, readSequenceCursor } from '../../platform/http/paging.ts';
import { list, mediumList, nullable, output, timestamp, uuid } from '../../platform/schema.ts';
import { listIntervals } from './intervals-store.ts';

const maxRangeMs = 31 * 86_400_000;

const intervalOutput = output('PresenceInterval', {
  operator_id: uuid<'operator'>(),
  type: Type.String({ description: 'As in the statistics: engaged, video, audio, chat, away or the away reason' }),
  media: mediumList,
  reason: nullable(Type.String({ description: 'The away reason that the operator gave' })),
  started_at: timestamp,
  ended_at: nullable(Type.Unsafe<Date>({ ...timestamp, description: 'Null for the current interval' })),
});

/** The data for a timeline of the day. */
export function intervalRoutes(app: App): void {
  app.get(
    '/operators/presence_intervals',
    {
      config: { access: { operator: 'manager', site: 'query.site_ids' } },
      schema: {
        tags: ['Statistics'],
        summary: 'Presence intervals of the operators of the sites',
        description: `Intervals that overlap the range, which may be at most 31 days, in the order in which they were recorded. Time
offline is in no interval.`,
        querystring: Type.Object({
          site_ids: list(uuid<'site'>(), { minItems: 1 }),
          operator_ids: Type.Optional(list(uuid<'operator'>(), { minItems: 1 })),
          from: Type.String({ format: 'date-time' }),
          to: Type.String({ format: 'date-time' }),
          ...cursorQuery,
        }),
        response: {
          200: Type.Object({ presence_intervals: Type.Array(intervalOutput), next_page: nextPage }),
        },
      },
    },
    async (request) => {
      const { site_ids: siteIds, operator_ids: operatorIds = null, cursor, per_page: perPage } = request.query;
      const from = instantOf(request.query.from, '/from');
      const to = instantOf(request.query.to, '/to');
      if (from > to || to.getTime() - from.getTime() > maxRangeMs)
        throw invalid([{ attribute: '/to', detail: 'must be between from and 31 days after it' }]);
      const accountId = accountOf(request);
      const after = readSequenceCursor(cursor)?.seq ?? 0;
      const filter = { accountId, siteIds, operatorIds, from, to, after, limit: perPage + 1 };
      const found = await listIntervals(request.sql, filter);
      const page = found.slice(0, perPage);
      const last = found.length > perPage ? page.at(-1) : undefined;
      return {
        presence_intervals: page,
        next_page: last === undefined ? null : pageAfter(request, { seq: last.number, id: last.operator_id }),
      };
    },
  );
}
