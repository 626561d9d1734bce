import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { inTransaction } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import type { CallId, EngagementId } from '../../platform/ids.ts';
import { uuid } from '../../platform/schema.ts';
import type { Turns } from '../../routing/turns.ts';
import { partyOf } from '../party.ts';
import { permitParticipant } from '../permission.ts';
import { engagementEnded, permittedEngagement } from '../permitted-engagement.ts';
import { lockEngaged } from '../taking-part.ts';
import { callInput, callOutput, type CallRow } from './call.ts';
import { findCall, markConnected } from './store.ts';

/** The calls of an engagement are read with it. */
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
        summary: 'Hang up, or say that the call is connected, as one who takes part in it',
        description:
          'Either side may hang up. The engagement goes on as text, and a media upgrade request that is pending is canceled. A call that has ended stays as it is.',
        params: Type.Object({ engagement_id: uuid<'engagement'>(), call_id: uuid<'engagement_call'>() }),
        body: callInput,
        response: { 200: callOutput },
      },
    },
    async (request) => {
      const named = { engagementId: request.params.engagement_id, callId: request.params.call_id };
      const isDone = request.body.action === 'end' ? await end(request, turns, named) : await connect(request, named);
      if (!isDone) return unchanged(request, named);
      permitParticipant(request);
      return foundCall(request, named);
    },
  );
}

interface Named {
  readonly engagementId: EngagementId;
  readonly callId: CallId;
}

async function end(request: FastifyRequest, turns: Turns, named: Named): Promise<boolean> {
  return (await turns.run(accountOf(request), { name: 'endCall', ...named, by: partyOf(request) })) !== null;
}

async function connect(request: FastifyRequest, { engagementId, callId }: Named): Promise<boolean> {
  const accountId = accountOf(request);
  return inTransaction(request.sql, async (sql) => {
    if ((await lockEngaged(sql, accountId, engagementId, partyOf(request))) === null) return false;
    await markConnected(sql, { accountId, engagementId, callId });
    return true;
  });
}

/** Hanging up twice is no error: the ended call is answered. A call that goes on here is not the caller's to end. */
async function unchanged(request: FastifyRequest, named: Named): Promise<CallRow> {
  const engagement = await permittedEngagement(request, named.engagementId);
  const call = await foundCall(request, named);
  if (call.ended_at === null) throw engagementEnded(engagement);
  return call;
}

async function foundCall(request: FastifyRequest, { engagementId, callId }: Named): Promise<CallRow> {
  const found = await findCall(request.sql, { accountId: accountOf(request), engagementId, callId });
  if (found === null) throw notFound('call', callId);
  return found;
}
