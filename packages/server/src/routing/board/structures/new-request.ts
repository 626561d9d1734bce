import { newDeadline } from './deadlines.ts';
import type { Request } from './state.ts';

/** The fields of a request that its creator sets. */
export type NewRequest = Omit<Request, 'state' | 'failReason' | 'failMessage' | 'endedAt' | 'deadline'>;

export function newRequest(given: NewRequest): Request {
  return {
    id: given.id,
    kind: given.kind,
    origin: given.origin,
    siteId: given.siteId,
    visitor: given.visitor,
    operator: given.operator,
    medium: given.medium,
    queue: given.queue,
    ticket: given.ticket,
    engagement: given.engagement,
    createdAt: given.createdAt,
    timeoutMs: given.timeoutMs,
    notes: given.notes,
    address: given.address,
    createdIn: given.createdIn,
    state: 'pending',
    failReason: null,
    failMessage: null,
    endedAt: null,
    deadline: newDeadline('offer', given.id),
  };
}
