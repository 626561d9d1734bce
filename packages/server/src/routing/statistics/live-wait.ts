import Type from 'typebox';
import { operatorOf } from '../../identity/access.ts';
import { requestedSites } from '../../identity/requested-sites.ts';
import type { App } from '../../platform/http/http.ts';
import { body, list, uuid } from '../../platform/schema.ts';
import { averageWaitOf } from './store.ts';

const fields = {
  site_ids: Type.Optional(list(uuid<'site'>(), { minItems: 1 })),
  queue_ids: Type.Optional(list(uuid<'queue'>(), { minItems: 1 })),
};

export function liveWaitRoute(app: App): void {
  app.post(
    '/reporting/live/queue/average_wait_time',
    {
      config: { access: { operator: 'manager', site: 'anywhere' }, readOnly: true },
      schema: {
        tags: ['Statistics'],
        summary: 'Average recent wait in the queues',
        description: `The mean wait of the last 100 visitors of each queue who left it for an engagement, as in \`average_wait_time\` of
a queue; 0 if there are none. Default of \`site_ids\`: the sites on which the caller is a manager. Default of \`queue_ids\`: all queues
of these sites.`,
        querystring: Type.Object(fields),
        body: body(fields),
        response: { 200: Type.Object({ total: Type.Number({ description: 'Seconds' }) }) },
      },
    },
    async (request) => {
      const { site_ids, queue_ids } = { ...request.query, ...request.body };
      const siteIds = requestedSites(operatorOf(request), site_ids, 'manager');
      return { total: await averageWaitOf(request.sql, siteIds, queue_ids ?? null) };
    },
  );
}
