import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { subEngagement } from '../events/vocabulary.ts';
import { accountOf, permitted } from '../identity/access.ts';
import type { App } from '../platform/http/http.ts';
import { newId, type EngagementId, type Id } from '../platform/ids.ts';
import { body, output, timestamp, uuid } from '../platform/schema.ts';
import type { RecordedIn, VisitorEvent } from './event-batches-store.ts';
import { partyOf } from '../identity/party.ts';
import { engagementEnded, permittedEngagement } from './permitted-engagement.ts';
import type { EngagementWrites } from './writes.ts';

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

export type VisitorEventWrites = EngagementWrites<VisitorEvent, RecordedIn>;

/** Records what a visitor did on the site, under a name that the integrator chooses. */
export function visitorEventRoutes(app: App, writes: VisitorEventWrites): void {
  app.post(
    '/engagements/:engagement_id/events',
    {
      config: { access: { visitor: true, site: 'resource' }, audit: 'no operator' },
      schema: {
        tags: ['Engagements'],
        summary: 'Record a visitor event, under a name of your choice',
        description:
          'Something the visitor did on the page. It is sent to webhooks as engagement.event and is not a message.',
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        body: body({ message: Type.String({ minLength: 1, maxLength: 10_000, description: 'The name of the event' }) }),
        response: { 200: visitorEventOutput },
      },
    },
    async (request) => record(request, writes, request.params.engagement_id, request.body.message),
  );
}

async function record(
  request: FastifyRequest,
  writes: VisitorEventWrites,
  engagementId: EngagementId,
  content: string,
): Promise<Type.Static<typeof visitorEventOutput>> {
  const by = partyOf(request.caller);
  const at = new Date();
  const id = newId<Id<'visitor_event'>>();
  const event = { accountId: accountOf(request), engagementId, id, by, content, at };
  const recorded = await writes.write(request.sql, event);
  permitted(request);
  if (recorded === null) throw engagementEnded(await permittedEngagement(request, engagementId));
  return { ...messageOf(event, recorded), timestamp: at, message: content, created_at: at };
}

function messageOf({ engagementId, id, by, content }: VisitorEvent, recorded: RecordedIn) {
  const { subEngagementId, operatorId, siteId } = recorded;
  return {
    id,
    engagement_id: engagementId,
    sub_engagement: { id: subEngagementId, operator_id: operatorId, site_id: siteId },
    sender: { type: 'visitor', id: by.id },
    content,
  } as const;
}
