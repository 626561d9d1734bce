import Type from 'typebox';
import { inTransaction } from '../../platform/database.ts';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { instantOf } from '../../platform/instant.ts';
import { readByIndex } from '../../platform/read-by-index.ts';
import { timestamp, uuid } from '../../platform/schema.ts';
import { coveredWebhook } from '../coverage.ts';
import { everyStep, longestMs, mostSteps, statsOutput } from './stats.ts';
import { countAttempts, countWaiting } from './store.ts';

const instant = Type.Unsafe<string>({ ...timestamp });

export function statsRoutes(app: App): void {
  app.get(
    '/webhooks/:webhook_id/stats',
    {
      config: { access: { operator: 'super_manager', site: 'resource', rule: 'every webhook site' } },
      schema: {
        tags: ['Webhook deliveries'],
        summary: 'How a webhook fares: attempts in an interval of at most 7 days, step by step, and what waits now',
        params: Type.Object({ webhook_id: uuid<'webhook'>() }),
        querystring: Type.Object({
          from: instant,
          to: Type.Unsafe<string>({ ...instant, description: 'Not included' }),
          interval: Type.Integer({
            minimum: 60,
            maximum: 86_400,
            default: 3_600,
            description: `Length of a step in seconds; there are ${mostSteps} steps at most`,
          }),
        }),
        response: { 200: statsOutput },
      },
    },
    async (request) => {
      const { interval } = request.query;
      const from = instantOf(request.query.from, '/from');
      const to = instantOf(request.query.to, '/to');
      const intervalMs = interval * 1_000;
      refuseSpan(from, to, intervalMs);
      const webhook = await coveredWebhook(request, request.params.webhook_id);
      const span = { from, to, intervalMs };
      const { counted, waiting } = await inTransaction(request.sql, async (sql) => {
        const now = await countWaiting(sql, webhook);
        await readByIndex(sql);
        return { waiting: now, counted: await countAttempts(sql, webhook.id, span) };
      });
      const { steps, last, complete } = counted;
      return {
        webhook_id: webhook.id,
        from,
        to,
        interval,
        complete,
        steps: everyStep(span, steps),
        last_attempt: last,
        waiting,
      };
    },
  );
}

function refuseSpan(from: Date, to: Date, intervalMs: number): void {
  const spanMs = to.getTime() - from.getTime();
  if (spanMs <= 0 || spanMs > longestMs)
    throw invalid([{ attribute: '/to', detail: 'must be later than from, by 7 days at most' }]);
  if (Math.ceil(spanMs / intervalMs) > mostSteps)
    throw invalid([{ attribute: '/interval', detail: `must not divide the time into more than ${mostSteps} steps` }]);
}
