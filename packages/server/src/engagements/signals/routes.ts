import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { App } from '../../platform/http/http.ts';
import { RateLimit } from '../../platform/limits/rate-limit.ts';
import type { UsesOfAll } from '../../platform/limits/shared-uses.ts';
import { uuid } from '../../platform/schema.ts';
import { partyOf } from '../../identity/party.ts';
import { permitParticipant } from '../permission.ts';
import { refuseTransient } from '../permitted-engagement.ts';
import { splitIntoPieces } from './pieces.ts';
import { sendSignal } from './send-signal.ts';
import { signalBytes, signalInput, signalOf } from './signal.ts';

/** Limit per side and engagement, counted in notifications. Setting up a call takes a few dozen. */
const piecesPerMinute = 600;

const description = `Signaling for calls between browsers (WebRTC). The signal goes only to the other side of the engagement, on
its feed, as \`engagement.signal\` \`{engagement_id, sender: {type}, call_id, kind, data, sent_at}\`. It is not stored, is not an
event, and is lost if nobody listens. 204 means that the signal was passed on. Signals arrive in order if each is sent after the
previous one was answered.`;

export function signalRoutes(app: App, sql: Sql, sharedUses: UsesOfAll): void {
  const limit = new RateLimit('signals', piecesPerMinute, sharedUses);
  app.post(
    '/engagements/:engagement_id/signals',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
        // A signal is not in the log, and has a notification of its own.
        sendsOwnHint: true,
        audit: 'own work',
      },
      bodyLimit: signalBytes,
      schema: {
        tags: ['Calls'],
        summary: 'Send a WebRTC signal to the other side',
        description,
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        body: signalInput,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { engagement_id: engagementId } = request.params;
      const by = partyOf(request.caller);
      const pieces = splitIntoPieces(JSON.stringify(signalOf(engagementId, by.kind, request.body)));
      for (const _ of pieces) limit.take(`${engagementId} ${by.kind} ${by.id}`);
      const sending = { accountId: accountOf(request), engagementId, by, pieces };
      if (!(await sendSignal(sql, sending))) return refuseTransient(request, engagementId, 'it has no calls');
      permitParticipant(request);
      reply.code(204);
    },
  );
}
