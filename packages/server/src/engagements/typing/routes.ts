import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { EventFields } from '../../events/catalogue.ts';
import { makeEvent } from '../../events/make-event.ts';
import type { Hints } from '../../events/hints.ts';
import { appendEvent } from '../../events/append.ts';
import { accountOf } from '../../identity/access.ts';
import { inTransaction, type Sql } from '../../platform/database.ts';
import type { App } from '../../platform/http.ts';
import { newId, type EngagementId } from '../../platform/ids.ts';
import { body, uuid } from '../../platform/schema.ts';
import type { Party } from '../../routing/board/rules/answering.ts';
import { partyOf } from '../party.ts';
import { permitParticipant } from '../permission.ts';
import { refuseOutside } from '../permitted-engagement.ts';
import { lockEngaged } from '../taking-part.ts';
import { beginStroke, nextClock, type Stroke, type TypingType } from './store.ts';

const nobodyTypes = 'nobody can be typing in it';

export function typingRoutes(app: App, hints: Hints): void {
  app.put(
    '/engagements/:engagement_id/typing_indicator',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
        changesNothing: true,
        audit: 'own work',
      },
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
  const by = partyOf(request.caller);
  const type = `engagement.chat.typing_indicator.${by.kind}` as const;
  const stroke = { accountId, engagementId, by, type };
  const engaged = await beginStroke(request.sql, stroke);
  if (engaged === null) return refuseOutside(request, engagementId, nobodyTypes);
  permitParticipant(request);
  // The live feed shows it now or never; it is kept only where a webhook is to be sent it.
  if (engaged.wanted) {
    if (!(await writeStroke(request.sql, stroke, typing))) return refuseOutside(request, engagementId, nobodyTypes);
    hints.notify(accountId);
  } else {
    const { wanted: _, clock, subEngagementId, ...about } = engaged;
    const fields = typingFields({ engagementId, subEngagementId, by, typing, clock });
    const payload = makeEvent(type, { id: newId(), at: new Date() }, fields);
    hints.whisper(accountId, { about: { ...about, engagementId }, payload });
  }
}

interface Indication {
  readonly engagementId: EngagementId;
  readonly subEngagementId: string;
  readonly by: Party;
  readonly typing: boolean;
  readonly clock: number;
}

function typingFields({ engagementId, subEngagementId, by, typing, clock }: Indication): EventFields<TypingType> {
  return {
    typing_indicator: {
      engagement_id: engagementId,
      sub_engagement_id: subEngagementId,
      sender: { id: by.id },
      typing,
      clock,
    },
  };
}

/** Under the engagement's row, so that it is not appended after the end, and clocks are in the order of the log. */
async function writeStroke(
  pool: Sql,
  { accountId, engagementId, by, type }: Stroke,
  typing: boolean,
): Promise<boolean> {
  return inTransaction(pool, async (sql) => {
    const engaged = await lockEngaged(sql, accountId, engagementId, by);
    if (engaged === null) return false;
    const { subEngagementId, ...about } = engaged;
    const clock = await nextClock(sql);
    const fields = typingFields({ engagementId, subEngagementId, by, typing, clock });
    await appendEvent(sql, { accountId, type, about: { ...about, engagementId }, fields });
    return true;
  });
}
