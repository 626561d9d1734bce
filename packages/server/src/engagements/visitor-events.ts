import Type from 'typebox';
import { subEngagement } from '../events/vocabulary.ts';
import { appendEvent } from '../events/append.ts';
import { accountOf, permitted } from '../identity/access.ts';
import { inTransaction } from '../platform/database.ts';
import type { App } from '../platform/http.ts';
import { newId, type Id } from '../platform/ids.ts';
import { body, output, timestamp, uuid } from '../platform/schema.ts';
import { partyOf } from './party.ts';
import { engagementEnded, permittedEngagement } from './permitted-engagement.ts';
import { lockEngaged } from './taking-part.ts';

/** The message of the event, as webhooks send it, with the older fields `message` and `created_at`. */
const visitorEventOutput = output('VisitorEvent', {
  timestamp: Type.Unsafe<Date>({ ...timestamp, description: 'When the server recorded it' }),
  id: uuid<'visitor_event'>(),
  engagement_id: uuid<'engagement'>(),
  sub_engagement: subEngagement,
  sender: body({ type: Type.Literal('visitor'), id: Type.String({ format: 'uuid' }) }),
  content: Type.String({ description: 'The name of the event' }),
  message: Type.String({ description: 'The same as content' }),
  created_at: timestamp,
});

/** Records what a visitor did on the site, under a name that the integrator chooses. */
export function visitorEventRoutes(app: App): void {
  app.post(
    '/engagements/:engagement_id/events',
    {
      config: { access: { visitor: true, site: 'resource' }, audit: 'no operator' },
      schema: {
        tags: ['Engagements'],
        summary: 'Record a visitor event, under a name of your choice',
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        body: body({ message: Type.String({ minLength: 1, maxLength: 10_000, description: 'The name of the event' }) }),
        response: { 200: visitorEventOutput },
      },
    },
    async (request) => {
      const { engagement_id: engagementId } = request.params;
      const { message } = request.body;
      const accountId = accountOf(request);
      const by = partyOf(request.caller);
      const id = newId<Id<'visitor_event'>>();
      const at = new Date();
      const stored = await inTransaction(request.sql, async (sql) => {
        const engaged = await lockEngaged(sql, accountId, engagementId, by);
        if (engaged === null) return null;
        const { subEngagementId, ...about } = engaged;
        const sub = { id: subEngagementId, operator_id: about.operatorId, site_id: about.siteId };
        const recorded = {
          id,
          engagement_id: engagementId,
          sub_engagement: sub,
          sender: { type: 'visitor', id: by.id },
          content: message,
        } as const;
        await appendEvent(sql, {
          accountId,
          type: 'engagement.event',
          about: { ...about, engagementId },
          at,
          fields: { message: { timestamp: at.toISOString(), ...recorded } },
        });
        return { timestamp: at, ...recorded, message, created_at: at };
      });
      permitted(request);
      if (stored === null) throw engagementEnded(await permittedEngagement(request, engagementId));
      return stored;
    },
  );
}
