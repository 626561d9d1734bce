import type { FastifyRequest } from 'fastify';
import type { Party } from '../routing/board/answering.ts';

/** The side the caller is, for routes of operators and visitors. */
export function partyOf({ caller }: FastifyRequest): Party {
  if (caller.kind === 'operator') return { kind: 'operator', id: caller.operatorId };
  if (caller.kind === 'visitor') return { kind: 'visitor', id: caller.visitorId };
  throw new Error('the route is for operators and visitors');
}

/** Whether the caller is that visitor or that operator. */
export function isSide(
  { caller }: FastifyRequest,
  { visitorId, operatorId }: { readonly visitorId: string; readonly operatorId: string },
): boolean {
  return caller.kind === 'operator'
    ? caller.operatorId === operatorId
    : caller.kind === 'visitor' && caller.visitorId === visitorId;
}
