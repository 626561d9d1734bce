import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { instantOf } from '../../platform/instant.ts';
import { cursorQuery, nextPage, pageAfter, readSequenceCursor } from '../../platform/paging.ts';
import { list, mediumList, nullable, output, timestamp, uuid } from '../../platform/schema.ts';
import { listIntervals } from './intervals-store.ts';

const longestMs = 31 * 86_400_000;

const intervalOutput = output('PresenceInterval', {
  operator_id: uuid<'operator'>(),
  type: Type.String({ description: 'As in the statistics: engaged, video, audio, chat, away or the reason for it' }),
  media: mediumList,
  reason: nullable(Type.String({ description: 'Why the operator was away, in their own words' })),
  started_at: timestamp,
  ended_at: nullable(Type.Unsafe<Date>({ ...timestamp, description: 'Null while it goes on' })),
});

/** What a timeline of the day is drawn from. */
export function intervalRoutes(app: App): void {
  app.get(
    '/operators/presence_intervals',
    {
      config: { access: { operator: 'manager', site: 'query.site_ids' } },
      schema: {
        tags: ['Statistics'],
        summary: 'What operators of the sites were doing, from when to when',
        description: `Intervals that overlap the range. The range may be at most 31 days. They are in the order in which they were
recorded. Time offline is in no interval.`,
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
      if (from > to || to.getTime() - from.getTime() > longestMs)
        throw invalid([{ attribute: '/to', detail: 'must not be before from, nor more than 31 days after it' }]);
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
