import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { EventFields } from '../../events/catalogue.ts';
import { makeEvent } from '../../events/make-event.ts';
import type { Hints } from '../../events/hints.ts';
import { accountOf } from '../../identity/access.ts';
import type { App } from '../../platform/http/http.ts';
import { newId, type EngagementId } from '../../platform/ids.ts';
import { body, uuid } from '../../platform/schema.ts';
import type { Indication } from '../event-batches-store.ts';
import { partyOf, type Party } from '../../identity/party.ts';
import { permitParticipant } from '../permission.ts';
import { refuseTransient } from '../permitted-engagement.ts';
import type { EngagementWrites } from '../writes.ts';
import { startIndication, type TypingType } from './store.ts';

const notTyping = 'nobody can type in it';

export type TypingWrites = EngagementWrites<Indication, true>;

export function typingRoutes(app: App, hints: Hints, writes: TypingWrites): void {
  app.put(
    '/engagements/:engagement_id/typing_indicator',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
        // Indications that are stored are written in batches, which send the hint.
        sendsOwnHint: true,
        audit: 'own work',
      },
      schema: {
        tags: ['Messages'],
        summary: 'Report that the caller is typing, or has stopped',
        description:
          'The other side sees it on its feed. An indicator may be lost, but never arrives after a later one.',
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        body: body({ typing: Type.Boolean() }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await indicate(request, { hints, writes }, request.params.engagement_id, request.body.typing);
      reply.code(204);
    },
  );
}

async function indicate(
  request: FastifyRequest,
  { hints, writes }: { readonly hints: Hints; readonly writes: TypingWrites },
  engagementId: EngagementId,
  typing: boolean,
): Promise<void> {
  const accountId = accountOf(request);
  const by = partyOf(request.caller);
  const type = `engagement.chat.typing_indicator.${by.kind}` as const;
  const indication = { accountId, engagementId, by, type };
  const engaged = await startIndication(request.sql, indication);
  if (engaged === null) return refuseTransient(request, engagementId, notTyping);
  permitParticipant(request);
  // The live feed shows the indicator now or never. It is stored only if a webhook subscribes to it.
  if (engaged.hasSubscriber) {
    const appended = await writes.write(request.sql, { accountId, engagementId, by, typing, at: new Date() });
    if (appended === null) return refuseTransient(request, engagementId, notTyping);
  } else {
    const { hasSubscriber: _, clock, subEngagementId, ...about } = engaged;
    const fields = typingFields({ engagementId, subEngagementId, by, typing, clock });
    const payload = makeEvent(type, { id: newId(), at: new Date() }, fields);
    hints.whisper(accountId, { about: { ...about, engagementId }, payload });
  }
}

interface IndicationFields {
  readonly engagementId: EngagementId;
  readonly subEngagementId: string;
  readonly by: Party;
  readonly typing: boolean;
  readonly clock: number;
}

function typingFields({ engagementId, subEngagementId, by, typing, clock }: IndicationFields): EventFields<TypingType> {
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
