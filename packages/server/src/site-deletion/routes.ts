import Type from 'typebox';
import { accountOf, operatorOf } from '../identity/access.ts';
import { recordChange } from '../identity/audit/audit.ts';
import { siteOutput } from '../identity/sites/site.ts';
import type { App } from '../platform/http/http.ts';
import { uuid } from '../platform/schema.ts';
import { deleteSite } from './delete-site.ts';

export function siteDeletionRoutes(app: App): void {
  app.delete(
    '/sites/:site_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'params.site_id', wholeToken: true },
        changesCaches: true,
        audit: { action: 'site.delete', of: siteOutput },
      },
      schema: {
        tags: ['Sites'],
        summary: 'Delete a site, if it is empty or its name is sent as confirm',
        description:
          'Queues, hours, teams, tokens and roles of the site are deleted at once. Visitors and conversations, with messages and ' +
          'files, can no longer be read and are removed in the background. The audit log and the event log, with pending ' +
          'deliveries, are kept for their usual time. Refused while the site has waiting visitors or active conversations, for ' +
          'the last site of the account, and for the site of sample data.',
        params: Type.Object({ site_id: uuid<'site'>() }),
        querystring: Type.Object({
          confirm: Type.Optional(
            Type.String({ maxLength: 255, description: 'The name of the site, to delete it with everything on it' }),
          ),
        }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { site_id: id } = request.params;
      const before = await deleteSite(request.sql, {
        id,
        accountId: accountOf(request),
        caller: operatorOf(request).operatorId,
        confirm: request.query.confirm ?? null,
      });
      recordChange(request, { before, concerns: { any: [id] } });
      reply.code(204);
    },
  );
}
