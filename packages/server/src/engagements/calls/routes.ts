import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import type { CallId, EngagementId } from '../../platform/ids.ts';
import { uuid } from '../../platform/schema.ts';
import type { Turns } from '../../routing/turns.ts';
import { partyOf } from '../../identity/party.ts';
import { permitParticipant } from '../permission.ts';
import { engagementEnded, permittedEngagement } from '../permitted-engagement.ts';
import { lockEngaged } from '../taking-part.ts';
import { callInput, callOutput, type CallRow } from './call.ts';
import { findCall, markConnected } from './store.ts';

/** Changes a call. Calls are read as part of their engagement. */
export function callRoutes(app: App, turns: Turns): void {
  app.patch(
    '/engagements/:engagement_id/calls/:call_id',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
        audit: 'own work',
      },
      schema: {
        tags: ['Engagements'],
        summary: 'Hang up, or report that the call is connected, as a participant',
        description:
          'Either side may hang up. The engagement continues as text, and a pending media upgrade request is canceled. An ended call does not change.',
        params: Type.Object({ engagement_id: uuid<'engagement'>(), call_id: uuid<'engagement_call'>() }),
        body: callInput,
        response: { 200: callOutput },
      },
    },
    async (request) => {
      const ids = { engagementId: request.params.engagement_id, callId: request.params.call_id };
      const isDone = request.body.action === 'end' ? await end(request, turns, ids) : await connect(request, ids);
      if (!isDone) return unchangedCall(request, ids);
      permitParticipant(request);
      return foundCall(request, ids);
    },
  );
}

interface CallIds {
  readonly engagementId: EngagementId;
  readonly callId: CallId;
}

async function end(request: FastifyRequest, turns: Turns, ids: CallIds): Promise<boolean> {
  return (await turns.run(accountOf(request), { name: 'endCall', ...ids, by: partyOf(request.caller) })) !== null;
}

async function connect(request: FastifyRequest, { engagementId, callId }: CallIds): Promise<boolean> {
  const accountId = accountOf(request);
  return inTransaction(request.sql, async (sql) => {
    if ((await lockEngaged(sql, accountId, engagementId, partyOf(request.caller))) === null) return false;
    await markConnected(sql, { accountId, engagementId, callId });
    return true;
  });
}

/** Hanging up twice is not an error: the answer is the ended call. If the call is still active, the caller may not end it. */
async function unchangedCall(request: FastifyRequest, ids: CallIds): Promise<CallRow> {
  const engagement = await permittedEngagement(request, ids.engagementId);
  const call = await foundCall(request, ids);
  if (call.ended_at === null) throw engagementEnded(engagement);
  return call;
}

async function foundCall(request: FastifyRequest, { engagementId, callId }: CallIds): Promise<CallRow> {
  const found = await findCall(request.sql, { accountId: accountOf(request), engagementId, callId });
  if (found === null) throw notFound('call', callId);
  return found;
}
