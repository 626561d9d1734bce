import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import type { Sql } from '../../platform/database.ts';
import type { App } from '../../platform/http.ts';
import { RateLimit } from '../../platform/rate-limit.ts';
import { uuid } from '../../platform/schema.ts';
import { partyOf } from '../party.ts';
import { permitParticipant } from '../permission.ts';
import { refuseOutside } from '../permitted-engagement.ts';
import { inPieces } from './pieces.ts';
import { sendSignal } from './send-signal.ts';
import { signalBytes, signalInput, signalOf } from './signal.ts';

/** A side may send so many in a minute and engagement, counted in notifications: a call begins with a few dozen. */
const piecesPerMinute = 600;

const description = `For calls between browsers (WebRTC): what one side must tell the other to find it. It goes to the other
side of the engagement alone, on its feed, as \`engagement.signal\` \`{engagement_id, sender: {type}, call_id, kind, data,
sent_at}\`; it is not kept, not an event, and lost if nobody listens. 204 says that it has been passed on: signals of which
each is sent after the last was answered are heard in order.`;

export function signalRoutes(app: App, sql: Sql): void {
  const limit = new RateLimit(piecesPerMinute);
  app.post(
    '/engagements/:engagement_id/signals',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
        changesNothing: true,
        audit: 'own work',
      },
      bodyLimit: signalBytes,
      schema: {
        tags: ['Calls'],
        summary: 'Tell the other side something about the call',
        description,
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        body: signalInput,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { engagement_id: engagementId } = request.params;
      const by = partyOf(request);
      const pieces = inPieces(JSON.stringify(signalOf(engagementId, by.kind, request.body)));
      for (const _ of pieces) limit.take(`${engagementId} ${by.kind} ${by.id}`);
      const sending = { accountId: accountOf(request), engagementId, by, pieces };
      if (!(await sendSignal(sql, sending))) return refuseOutside(request, engagementId, 'nobody can be called in it');
      permitParticipant(request);
      reply.code(204);
    },
  );
}
