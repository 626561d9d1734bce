import { atLeast } from '@usher/contract/roles';
import type { FastifyRequest } from 'fastify';
import { declaredRule, permitAs, roleTooLow } from '../identity/access.ts';
import { notFound, Refusal } from '../platform/errors.ts';
import type { SiteId } from '../platform/ids.ts';

interface Resource {
  readonly noun: string;
  readonly id: string;
  readonly siteId: SiteId;
}

/** Whether only current participants may call the route: not earlier participants, and not managers of the site. */
export function isForParticipants(request: FastifyRequest): boolean {
  return declaredRule(request) !== 'took part or manages' || request.caller.kind === 'visitor';
}

/** Permits the caller by the participation rule that the route declares. */
export function permitParticipant(request: FastifyRequest): void {
  permitAs(request, 'takes part', 'took part or manages', 'sent it or manages');
}

/** Refuses a caller who does not take part. Managers of the site may read; without a role there the answer is 404. */
export function refuseNonParticipant(request: FastifyRequest, { noun, id, siteId }: Resource): void {
  const { caller } = request;
  const role = caller.kind === 'operator' ? caller.roles.get(siteId) : undefined;
  if (role === undefined) throw notFound(noun, id);
  if (isForParticipants(request)) throw new Refusal('forbidden', `Only participants of this ${noun} may do this.`);
  if (!atLeast(role, 'manager')) throw roleTooLow('manager', role);
}
