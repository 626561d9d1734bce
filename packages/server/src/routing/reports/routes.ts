import { defaultServiceLevelSec, maxServiceLevelSec } from '@usher/contract/limits';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { list, nullable, output, timestamp, uuid } from '../../platform/schema.ts';
import { permittedQueue, queueParams } from '../../queues/permitted-queue.ts';
import { instantOf } from '../../platform/instant.ts';
import { averageWait, groupInMemory, queueIdsOf, queueStats, statsByInterval } from './store.ts';

const count = (description: string) => Type.Integer({ description });

const figures = {
  arrivals: count('Visitors who entered the queue in the interval'),
  waiting: count('Of these visitors, still in the queue'),
  engaged: count('Engaged from this queue'),
  engaged_elsewhere: count('Engaged from another of their queues, or by a direct request'),
  abandoned: count('Canceled their ticket, or left the site'),
  expired: count('Waited longer than the ticket time-out of the site'),
  unstaffed: count('Removed because the queue became unstaffed'),
  rerouted: count('Moved to a fallback queue'),
  average_wait_sec: nullable(Type.Number({ description: 'Of visitors engaged from this queue; null if none' })),
  longest_wait_sec: nullable(Type.Number()),
  within_service_level: nullable(
    Type.Number({
      description: 'Share of the engaged and abandoned visitors who were engaged within service_level_sec',
    }),
  ),
};

const statsOutput = output('QueueStats', {
  queue_id: uuid<'queue'>(),
  from: timestamp,
  to: timestamp,
  service_level_sec: Type.Number(),
  ...figures,
});

const seriesOutput = Type.Object({
  from: timestamp,
  to: timestamp,
  interval_sec: Type.Integer(),
  service_level_sec: Type.Number(),
  intervals: Type.Array(output('QueueStatsInterval', { from: timestamp, to: timestamp, ...figures })),
});

const maxRangeMs = 366 * 86_400_000;
/** One per minute of a day with 25 hours. */
const maxIntervals = 1_500;

const rangeFields = {
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  service_level_sec: Type.Number({ minimum: 0, maximum: maxServiceLevelSec, default: defaultServiceLevelSec }),
};

/** The range is half-open. */
function rangeOf(query: { readonly from: string; readonly to: string }): { from: Date; to: Date } {
  const from = instantOf(query.from, '/from');
  const to = instantOf(query.to, '/to');
  if (from > to || to.getTime() - from.getTime() > maxRangeMs)
    throw invalid([{ attribute: '/to', detail: 'must be between from and 366 days after it' }]);
  return { from, to };
}

export function reportRoutes(app: App): void {
  seriesRoute(app);

  app.get(
    '/queues/:queue_id/stats',
    {
      config: { access: { operator: 'manager', site: 'resource' } },
      schema: {
        tags: ['Queues'],
        summary: 'Outcomes of the visitors who entered a queue in a range of at most 366 days',
        description:
          'How many were engaged, gave up, or went to another queue, how long they waited, and the share within the service level.',
        params: queueParams,
        querystring: Type.Object(rangeFields),
        response: { 200: statsOutput },
      },
    },
    async (request) => {
      const queue = await permittedQueue(request, request.params.queue_id);
      const { from, to } = rangeOf(request.query);
      const { service_level_sec: serviceLevelSec } = request.query;
      const stats = await queueStats(request.sql, { queueId: queue.id, from, to, serviceLevelSec });
      return { queue_id: queue.id, from, to, service_level_sec: serviceLevelSec, ...stats };
    },
  );

  app.get(
    '/engagements/queue/wait_duration',
    {
      config: { access: { visitor: true, site: 'none' } },
      schema: {
        tags: ['Queue tickets'],
        summary: "Average recent wait in the site's queues",
        description: 'In seconds, for showing it to visitors before they wait. 0 if nobody has waited lately.',
        response: { 200: Type.Object({ average_duration_in_seconds: Type.Number() }) },
      },
    },
    async (request) => {
      if (request.caller.kind !== 'visitor') throw new Error('the route is for visitors only');
      return { average_duration_in_seconds: await averageWait(request.sql, request.caller.siteId) };
    },
  );
}

/** The data for a chart of the day. The client sends the start and end of its day, so no time zone is needed. */
function seriesRoute(app: App): void {
  app.get(
    '/queues/stats',
    {
      config: { access: { operator: 'manager', site: 'query.site_ids' } },
      schema: {
        tags: ['Queues'],
        summary: 'Outcomes of the visitors who entered the queues of the sites, per interval',
        description: `The sum over all queues of the sites, or over \`queue_ids\`. The first interval starts at \`from\`, and the last
one ends at \`to\`; there may be at most ${maxIntervals}. A visitor who enters two of the queues is counted in both.`,
        querystring: Type.Object({
          site_ids: list(uuid<'site'>(), { minItems: 1 }),
          queue_ids: Type.Optional(list(uuid<'queue'>(), { minItems: 1 })),
          ...rangeFields,
          interval_sec: Type.Integer({ minimum: 60, maximum: 86_400, default: 1_800 }),
        }),
        response: { 200: seriesOutput },
      },
    },
    async (request) => {
      const { site_ids, queue_ids, interval_sec: intervalSec, service_level_sec: serviceLevelSec } = request.query;
      const { from, to } = rangeOf(request.query);
      if ((to.getTime() - from.getTime()) / 1_000 > maxIntervals * intervalSec)
        throw invalid([
          { attribute: '/interval_sec', detail: `must divide the range into at most ${maxIntervals} intervals` },
        ]);
      const known = await queueIdsOf(request.sql, site_ids);
      const unknown = (queue_ids ?? []).findIndex((id) => !known.includes(id));
      if (unknown >= 0) throw invalid([{ attribute: `/queue_ids/${unknown}`, detail: 'is not a queue of the sites' }]);
      const query = {
        accountId: accountOf(request),
        queueIds: queue_ids ?? known,
        from,
        to,
        intervalSec,
        serviceLevelSec,
      };
      const intervals = await inTransaction(request.sql, async (sql) => {
        await groupInMemory(sql);
        return statsByInterval(sql, query);
      });
      return { from, to, interval_sec: intervalSec, service_level_sec: serviceLevelSec, intervals };
    },
  );
}
