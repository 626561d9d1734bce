import type { FastifyRequest } from 'fastify';
import { roleTooLow } from '../identity/access.ts';
import { atLeast } from '../identity/caller.ts';
import { notFound, Refusal } from '../platform/errors.ts';
import type { SiteId } from '../platform/ids.ts';

interface Resource {
  readonly noun: string;
  readonly id: string;
  readonly siteId: SiteId;
  /** Who may besides those who take part. */
  readonly others: 'a manager' | 'nobody else';
}

/** For callers who do not take part: managers of the site may look; whoever has no role there knows nothing of it. */
export function refuseStranger({ caller }: FastifyRequest, { noun, id, siteId, others }: Resource): void {
  const role = caller.kind === 'operator' ? caller.roles.get(siteId) : undefined;
  if (role === undefined) throw notFound(noun, id);
  if (others === 'nobody else') throw new Refusal('forbidden', `Only those who take part in the ${noun} may do this.`);
  if (!atLeast(role, 'manager')) throw roleTooLow('manager', role);
}
