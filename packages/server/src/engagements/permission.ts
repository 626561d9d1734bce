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

/** Whether the route is for those who take part alone, and not also for who took part before, or manages the site. */
export function isForParticipants(request: FastifyRequest): boolean {
  return declaredRule(request) !== 'took part or manages' || request.caller.kind === 'visitor';
}

/** Those who take part, or may look, as the route declares. */
export function permitParticipant(request: FastifyRequest): void {
  permitAs(request, 'takes part', 'took part or manages', 'sent it or manages');
}

/** For callers who do not take part: managers of the site may look; whoever has no role there knows nothing of it. */
export function refuseStranger(request: FastifyRequest, { noun, id, siteId }: Resource): void {
  const { caller } = request;
  const role = caller.kind === 'operator' ? caller.roles.get(siteId) : undefined;
  if (role === undefined) throw notFound(noun, id);
  if (isForParticipants(request))
    throw new Refusal('forbidden', `Only those who take part in the ${noun} may do this.`);
  if (!atLeast(role, 'manager')) throw roleTooLow('manager', role);
}
