import type { FastifyRequest } from 'fastify';
import { accountOf } from '../identity/access.ts';
import { invalid, notFound, Refusal } from '../platform/errors.ts';
import type { EngagementId } from '../platform/ids.ts';
import type { EngagementRow } from './engagement.ts';
import { isSide } from './party.ts';
import { isForParticipants, permitParticipant, refuseStranger } from './permission.ts';
import { findEngagement, hasNow, isAssigned } from './store.ts';

export function engagementEnded({ id, operator_id, end_reason, ended_at }: EngagementRow): Refusal {
  if (ended_at === null)
    return new Refusal('forbidden', `The engagement ${id} has passed on to the operator ${operator_id}.`);
  return new Refusal('engagement_ended', `The engagement ${id} has ended (${end_reason ?? ''}).`, {
    details: [{ attribute: '/state', detail: 'ended' }],
  });
}

/** Whether the caller takes or took part. An operator also needs a role on the engagement's present site, now. */
export function tookPart(
  request: FastifyRequest,
  { visitor_id: visitorId, site_id: siteId, sub_engagements: subs }: EngagementRow,
): boolean {
  return subs.some(({ operator_id: operatorId }) => isSide(request, { visitorId, operatorId, siteId }));
}

/**
 * An engagement the caller takes or took part in. Where the route says so, also one on a site the caller manages, and one on a site where
 * the caller works, of a visitor whom the caller serves now: an operator who helps somebody may know what was said before.
 *
 * An operator always needs a role on the engagement's site. What only those who take part may do is asked after a statement
 * was refused, or before one: there the database says whether the operator is assigned, and not this process's memory.
 */
export async function permittedEngagement(request: FastifyRequest, id: EngagementId): Promise<EngagementRow> {
  const found = await findEngagement(request.sql, accountOf(request), id);
  if (found === null) throw notFound('engagement', id);
  const isForThemAlone = isForParticipants(request);
  if (!tookPart(request, found) && (isForThemAlone || !(await hasVisitorNow(request, found))))
    refuseStranger(request, { noun: 'engagement', id, siteId: found.site_id });
  if (isForThemAlone && !(await isStillAssigned(request, found))) throw notFound('engagement', id);
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
  return hasNow(sql, { operatorId: caller.operatorId, reach: [...caller.roles.keys()] }, visitor_id);
}

/** For what is said between the sides and not kept, by a caller who has no part, or none any more. */
export async function refuseOutside(request: FastifyRequest, id: EngagementId, after: string): Promise<never> {
  const engagement = await permittedEngagement(request, id);
  if (engagement.ended_at === null) throw engagementEnded(engagement);
  throw invalid([{ attribute: '', detail: `is about an engagement that has ended: ${after}` }]);
}
