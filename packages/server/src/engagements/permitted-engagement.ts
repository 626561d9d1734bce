import type { FastifyRequest } from 'fastify';
import { accountOf } from '../identity/access.ts';
import { invalid, notFound, Refusal } from '../platform/errors.ts';
import type { EngagementId } from '../platform/ids.ts';
import type { EngagementRow } from './engagement.ts';
import { isSide } from '../identity/party.ts';
import { isForParticipants, permitParticipant, refuseNonParticipant } from './permission.ts';
import { findEngagement, isEngagedNow, isAssigned } from './store.ts';

export function engagementEnded({ id, operator_id, end_reason, ended_at }: EngagementRow): Refusal {
  if (ended_at === null)
    return new Refusal('forbidden', `The engagement ${id} was transferred to the operator ${operator_id}.`);
  return new Refusal('engagement_ended', `The engagement ${id} has ended (${end_reason ?? ''}).`, {
    details: [{ attribute: '/state', detail: 'ended' }],
  });
}

/** Whether the caller takes or took part. An operator also needs a role, now, on the engagement's current site. */
export function tookPart(
  request: FastifyRequest,
  { visitor_id: visitorId, site_id: siteId, sub_engagements: subs }: EngagementRow,
): boolean {
  return subs.some(({ operator_id: operatorId }) => isSide(request.caller, { visitorId, operatorId, siteId }));
}

/**
 * Reads an engagement that the caller takes or took part in. If the route allows it, managers of the site may read the engagement too,
 * and so may an operator of the site who is engaged with the same visitor now, because they need the visitor's history.
 *
 * An operator always needs a role on the engagement's site. For routes that only participants may call, the assignment is read
 * from the database and not from this process's cache, because the cache may be stale.
 */
export async function permittedEngagement(request: FastifyRequest, id: EngagementId): Promise<EngagementRow> {
  const found = await findEngagement(request.sql, accountOf(request), id);
  if (found === null) throw notFound('engagement', id);
  const participantsOnly = isForParticipants(request);
  if (!tookPart(request, found) && (participantsOnly || !(await hasVisitorNow(request, found))))
    refuseNonParticipant(request, { noun: 'engagement', id, siteId: found.site_id });
  if (participantsOnly && !(await isStillAssigned(request, found))) throw notFound('engagement', id);
  permitParticipant(request);
  return found;
}

async function isStillAssigned({ caller, sql }: FastifyRequest, { site_id: siteId }: EngagementRow): Promise<boolean> {
  return caller.kind !== 'operator' || isAssigned(sql, { operatorId: caller.operatorId, siteId });
}

async function hasVisitorNow(
  { caller, sql }: FastifyRequest,
  { site_id, visitor_id }: EngagementRow,
): Promise<boolean> {
  if (caller.kind !== 'operator' || !caller.roles.has(site_id)) return false;
  return isEngagedNow(sql, { operatorId: caller.operatorId, reach: [...caller.roles.keys()] }, visitor_id);
}

/** Refuses typing and signals, which are not stored, from a caller who does not take part (any more). */
export async function refuseTransient(request: FastifyRequest, id: EngagementId, consequence: string): Promise<never> {
  const engagement = await permittedEngagement(request, id);
  if (engagement.ended_at === null) throw engagementEnded(engagement);
  throw invalid([{ attribute: '', detail: `refers to an engagement that has ended: ${consequence}` }]);
}
