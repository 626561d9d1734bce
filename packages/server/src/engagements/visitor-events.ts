import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { subEngagement } from '../events/vocabulary.ts';
import { appendEvent } from '../events/append.ts';
import { accountOf, permitted } from '../identity/access.ts';
import { inTransaction, isPool, type Sql } from '../platform/database.ts';
import type { App } from '../platform/http.ts';
import { newId, type EngagementId, type Id } from '../platform/ids.ts';
import { body, output, timestamp, uuid } from '../platform/schema.ts';
import type { RecordedIn, VisitorEvent } from './event-batches-store.ts';
import { partyOf } from './party.ts';
import { engagementEnded, permittedEngagement } from './permitted-engagement.ts';
import { lockEngaged } from './taking-part.ts';
import type { WriteBatches } from './write-batches.ts';

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

export type VisitorEventBatches = WriteBatches<VisitorEvent, RecordedIn>;

/** Records what a visitor did on the site, under a name that the integrator chooses. */
export function visitorEventRoutes(app: App, batches: VisitorEventBatches): void {
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
    async (request) => record(request, batches, request.params.engagement_id, request.body.message),
  );
}

async function record(
  request: FastifyRequest,
  batches: VisitorEventBatches,
  engagementId: EngagementId,
  content: string,
): Promise<Type.Static<typeof visitorEventOutput>> {
  const by = partyOf(request.caller);
  const at = new Date();
  const id = newId<Id<'visitor_event'>>();
  const event = { accountId: accountOf(request), engagementId, id, by, content, at };
  const singly = async (): Promise<RecordedIn | null> => appendVisitorEvent(request.sql, event);
  // With an Idempotency-Key the event belongs into the transaction of the request.
  const recorded = isPool(request.sql) ? await batches.write(event, singly) : await singly();
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

/** `null`: the engagement has ended, or the caller takes no part in it. */
async function appendVisitorEvent(pool: Sql, event: VisitorEvent): Promise<RecordedIn | null> {
  const { accountId, engagementId, by, at } = event;
  return inTransaction(pool, async (sql) => {
    const engaged = await lockEngaged(sql, accountId, engagementId, by);
    if (engaged === null) return null;
    await appendEvent(sql, {
      accountId,
      type: 'engagement.event',
      about: { ...engaged, engagementId },
      at,
      fields: { message: { timestamp: at.toISOString(), ...messageOf(event, engaged) } },
    });
    return engaged;
  });
}
