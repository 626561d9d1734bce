import { defaultServiceLevelSec, maxServiceLevelSec } from '@usher/contract/limits';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { list, nullable, output, timestamp, uuid } from '../../platform/schema.ts';
import { permittedQueue, queueParams } from '../../queues/permitted-queue.ts';
import { instantOf } from '../../platform/instant.ts';
import { averageWait, queueIdsOf, queueStats, statsByInterval } from './store.ts';

const count = (description: string) => Type.Integer({ description });

const figures = {
  arrivals: count('Visitors who entered the queue in the interval'),
  waiting: count('Of these, still in it'),
  engaged: count('Engaged from it'),
  engaged_elsewhere: count('Engaged from another of their queues, or by a direct request'),
  abandoned: count('Canceled, or left'),
  expired: count('Waited longer than the site lets them'),
  unstaffed: count('Sent away because nobody staffed it any more'),
  rerouted: count('Handed on to a fallback queue'),
  average_wait_sec: nullable(Type.Number({ description: 'Of those engaged from it; null if none' })),
  longest_wait_sec: nullable(Type.Number()),
  within_service_level: nullable(
    Type.Number({ description: 'Share of those engaged or abandoned who were engaged within service_level_sec' }),
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

const longestMs = 366 * 86_400_000;
/** A day of 25 hours by the minute. */
const mostIntervals = 1_500;

const between = {
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  service_level_sec: Type.Number({ minimum: 0, maximum: maxServiceLevelSec, default: defaultServiceLevelSec }),
};

/** Half-open, as every interval. */
function periodOf(given: { readonly from: string; readonly to: string }): { from: Date; to: Date } {
  const from = instantOf(given.from, '/from');
  const to = instantOf(given.to, '/to');
  if (from > to || to.getTime() - from.getTime() > longestMs)
    throw invalid([{ attribute: '/to', detail: 'must not be before from, nor more than 366 days after it' }]);
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
        summary: 'What became of those who entered a queue in an interval of at most 366 days',
        params: queueParams,
        querystring: Type.Object(between),
        response: { 200: statsOutput },
      },
    },
    async (request) => {
      const queue = await permittedQueue(request, request.params.queue_id);
      const { from, to } = periodOf(request.query);
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
        summary: "How long the last visitors of the site's queues had waited",
        response: { 200: Type.Object({ average_duration_in_seconds: Type.Number() }) },
      },
    },
    async (request) => {
      if (request.caller.kind !== 'visitor') throw new Error('the route is for visitors alone');
      return { average_duration_in_seconds: await averageWait(request.sql, request.caller.siteId) };
    },
  );
}

/** What a chart of a day is drawn from. Whoever asks knows when their day begins and ends, so no time zone is needed here. */
function seriesRoute(app: App): void {
  app.get(
    '/queues/stats',
    {
      config: { access: { operator: 'manager', site: 'query.site_ids' } },
      schema: {
        tags: ['Queues'],
        summary: 'What became of those who entered the queues of the sites, interval by interval',
        description: `The queues together, or those that are named. Intervals follow one another from \`from\` on, and the last
ends with \`to\`; there may be ${mostIntervals} of them. One who enters two of the queues has arrived in both.`,
        querystring: Type.Object({
          site_ids: list(uuid<'site'>(), { minItems: 1 }),
          queue_ids: Type.Optional(list(uuid<'queue'>(), { minItems: 1 })),
          ...between,
          interval_sec: Type.Integer({ minimum: 60, maximum: 86_400, default: 1_800 }),
        }),
        response: { 200: seriesOutput },
      },
    },
    async (request) => {
      const { site_ids, queue_ids, interval_sec: intervalSec, service_level_sec: serviceLevelSec } = request.query;
      const { from, to } = periodOf(request.query);
      if ((to.getTime() - from.getTime()) / 1_000 > mostIntervals * intervalSec)
        throw invalid([{ attribute: '/interval_sec', detail: `must not make more than ${mostIntervals} intervals` }]);
      const known = await queueIdsOf(request.sql, site_ids);
      const strange = (queue_ids ?? []).findIndex((id) => !known.includes(id));
      if (strange >= 0) throw invalid([{ attribute: `/queue_ids/${strange}`, detail: 'is not a queue of the sites' }]);
      const intervals = await statsByInterval(request.sql, {
        accountId: accountOf(request),
        queueIds: queue_ids ?? known,
        from,
        to,
        intervalSec,
        serviceLevelSec,
      });
      return { from, to, interval_sec: intervalSec, service_level_sec: serviceLevelSec, intervals };
    },
  );
}
