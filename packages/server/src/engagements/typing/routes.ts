import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { makeEvent, type EventFields } from '../../events/catalogue.ts';
import type { Hints } from '../../events/hints.ts';
import { writeEvent } from '../../events/write-event.ts';
import { accountOf, permitted } from '../../identity/access.ts';
import type { Sql } from '../../platform/database.ts';
import { invalid } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { newId, type AccountId, type EngagementId } from '../../platform/ids.ts';
import { body, uuid } from '../../platform/schema.ts';
import type { Party } from '../../routing/board/answering.ts';
import { partyOf } from '../party.ts';
import { engagementEnded, permittedEngagement } from '../routes.ts';
import { takesPart } from '../taking-part.ts';

export function typingRoutes(app: App, hints: Hints): void {
  app.put(
    '/engagements/:engagement_id/typing_indicator',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'resource' }, changesNothing: true },
      schema: {
        tags: ['Messages'],
        summary: 'Say that the caller is typing, or no longer',
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        body: body({ typing: Type.Boolean() }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await indicate(request, hints, request.params.engagement_id, request.body.typing);
      reply.code(204);
    },
  );
}

async function indicate(
  request: FastifyRequest,
  hints: Hints,
  engagementId: EngagementId,
  typing: boolean,
): Promise<void> {
  const accountId = accountOf(request);
  const by = partyOf(request);
  const type = `engagement.chat.typing_indicator.${by.kind}` as const;
  const stroke = await nextStroke(request.sql, accountId, engagementId, by);
  if (stroke === null) {
    const engagement = await permittedEngagement(request, engagementId, 'nobody else');
    if (engagement.ended_at === null) throw engagementEnded(engagement);
    throw invalid([{ attribute: '', detail: 'is about an engagement that has ended: nobody can be typing in it' }]);
  }
  permitted(request);
  const fields: EventFields<typeof type> = {
    typing_indicator: {
      engagement_id: engagementId,
      sub_engagement_id: stroke.subEngagementId,
      sender: { id: by.id },
      typing,
      clock: stroke.clock,
    },
  };
  const { wanted, ...about } = stroke;
  const event = { accountId, type, about: { ...about, engagementId }, fields };
  // It is heard where there is somebody to hear it, and kept only for those who cannot.
  if (wanted) {
    await writeEvent(request.sql, event);
    hints.tell(accountId);
  } else
    hints.whisper(accountId, { about: event.about, payload: makeEvent(type, { id: newId(), at: new Date() }, fields) });
}

interface Stroke {
  readonly clock: number;
  readonly subEngagementId: string;
  readonly siteId: string;
  readonly visitorId: string;
  readonly operatorId: string;
  readonly requestId: string;
  readonly ticketId: string | null;
  /** A webhook asks for it. */
  readonly wanted: boolean;
}

/**
 * D8.11: a sequence grows for all processes and gives no value twice, and taking the next one writes nothing most of the
 * time. `null` where the caller has no part in it.
 */
async function nextStroke(sql: Sql, accountId: AccountId, id: EngagementId, by: Party): Promise<Stroke | null> {
  const [row] = await sql<Stroke[]>`
    SELECT nextval('typing_clock')::float8 AS clock, e.sub_engagement_id AS "subEngagementId", e.site_id AS "siteId",
           e.visitor_id AS "visitorId", e.operator_id AS "operatorId", e.request_id AS "requestId",
           e.ticket_id AS "ticketId", position(${`typing_indicator.${by.kind}`} IN (r.notes -> 'webhooks')::text) > 0 AS wanted
      FROM engagements e
      JOIN engagement_requests r ON r.id = e.request_id
     WHERE e.id = ${id} AND e.account_id = ${accountId} AND ${takesPart(sql, by)}`;
  return row ?? null;
}
