import Type from 'typebox';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { nullable, output, timestamp, uuid } from '../../platform/schema.ts';
import { permittedQueue, queueParams } from '../../queues/routes.ts';
import { instantOf } from '../../platform/instant.ts';
import { averageWait, queueStats } from './store.ts';

const count = (description: string) => Type.Integer({ description });

const statsOutput = output('QueueStats', {
  queue_id: uuid<'queue'>(),
  from: timestamp,
  to: timestamp,
  service_level_sec: Type.Number(),
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
});

const longestMs = 366 * 86_400_000;

export function reportRoutes(app: App): void {
  app.get(
    '/queues/:queue_id/stats',
    {
      config: { access: { operator: 'manager', site: 'resource' } },
      schema: {
        tags: ['Queues'],
        summary: 'What became of those who entered a queue in an interval of at most 366 days',
        params: queueParams,
        querystring: Type.Object({
          from: Type.String({ format: 'date-time' }),
          to: Type.String({ format: 'date-time' }),
          service_level_sec: Type.Number({ minimum: 0, maximum: 604_800, default: 20 }),
        }),
        response: { 200: statsOutput },
      },
    },
    async (request) => {
      const queue = await permittedQueue(request, request.params.queue_id);
      const from = instantOf(request.query.from, '/from');
      const to = instantOf(request.query.to, '/to');
      if (from > to || to.getTime() - from.getTime() > longestMs)
        throw invalid([{ attribute: '/to', detail: 'must not be before from, nor more than 366 days after it' }]);
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
