import Type from 'typebox';
import { writeEvent } from '../events/write-event.ts';
import { accountOf, permitted } from '../identity/access.ts';
import { inTransaction } from '../platform/database.ts';
import type { App } from '../platform/http.ts';
import { newId, type Id } from '../platform/ids.ts';
import { body, output, timestamp, uuid } from '../platform/schema.ts';
import { partyOf } from './party.ts';
import { engagementEnded, permittedEngagement } from './routes.ts';
import { lockEngaged } from './taking-part.ts';

/** What a visitor did on the site, told to integrators by name. */
export function visitorEventRoutes(app: App): void {
  app.post(
    '/engagements/:engagement_id/events',
    {
      config: { access: { visitor: true, site: 'resource' }, audit: 'no operator' },
      schema: {
        tags: ['Engagements'],
        summary: 'Record a visitor event: a name of your own for what the visitor did',
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        body: body({ message: Type.String({ minLength: 1, maxLength: 10_000, description: 'The name of the event' }) }),
        response: {
          200: output('VisitorEvent', { id: uuid<'visitor_event'>(), message: Type.String(), created_at: timestamp }),
        },
      },
    },
    async (request) => {
      const { engagement_id: engagementId } = request.params;
      const { message } = request.body;
      const accountId = accountOf(request);
      const by = partyOf(request);
      const id = newId<Id<'visitor_event'>>();
      const at = new Date();
      const told = await inTransaction(request.sql, async (sql) => {
        const engaged = await lockEngaged(sql, accountId, engagementId, by);
        if (engaged === null) return false;
        const { subEngagementId, ...about } = engaged;
        const sub = { id: subEngagementId, operator_id: about.operatorId, site_id: about.siteId };
        await writeEvent(sql, {
          accountId,
          type: 'engagement.event',
          about: { ...about, engagementId },
          at,
          fields: {
            message: {
              timestamp: at.toISOString(),
              id,
              engagement_id: engagementId,
              sub_engagement: sub,
              sender: { type: 'visitor', id: by.id },
              content: message,
            },
          },
        });
        return true;
      });
      permitted(request);
      if (!told) throw engagementEnded(await permittedEngagement(request, engagementId));
      return { id, message, created_at: at };
    },
  );
}
