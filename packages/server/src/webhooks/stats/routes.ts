import Type from 'typebox';
import { inTransaction } from '../../platform/database/database.ts';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { instantOf } from '../../platform/instant.ts';
import { readByIndex } from '../../platform/database/read-by-index.ts';
import { timestamp, uuid } from '../../platform/schema.ts';
import { coveredWebhook } from '../coverage.ts';
import { everyStep, longestMs, maxSteps, statsOutput } from './stats.ts';
import { countAttempts, countWaiting } from './store.ts';

const instant = Type.Unsafe<string>({ ...timestamp });

export function statsRoutes(app: App): void {
  app.get(
    '/webhooks/:webhook_id/stats',
    {
      config: { access: { operator: 'super_manager', site: 'resource', rule: 'every webhook site' } },
      schema: {
        tags: ['Webhook deliveries'],
        summary:
          'Get the delivery stats of a webhook: attempts by interval, over at most 7 days, and the current backlog',
        description: 'For finding out whether a receiver keeps up, and when it began to fail.',
        params: Type.Object({ webhook_id: uuid<'webhook'>() }),
        querystring: Type.Object({
          from: instant,
          to: Type.Unsafe<string>({ ...instant, description: 'Exclusive' }),
          interval: Type.Integer({
            minimum: 60,
            maximum: 86_400,
            default: 3_600,
            description: `Length of a step in seconds; at most ${maxSteps} steps`,
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
      refuseInvalidSpan(from, to, intervalMs);
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

function refuseInvalidSpan(from: Date, to: Date, intervalMs: number): void {
  const spanMs = to.getTime() - from.getTime();
  if (spanMs <= 0 || spanMs > longestMs)
    throw invalid([{ attribute: '/to', detail: 'must be later than from, by at most 7 days' }]);
  if (Math.ceil(spanMs / intervalMs) > maxSteps)
    throw invalid([{ attribute: '/interval', detail: `must be long enough for at most ${maxSteps} steps` }]);
}
