import type { Medium } from '@usher/contract/media';
import type { FailReason, RequestState } from '@usher/contract/states';
import type { RequestId, SiteId } from '../../../platform/ids.ts';
import { newDeadline } from './deadlines.ts';
import { noCode } from './id-map.ts';
import type { Engagement, Operator, Queue, Request, RequestNotes, Ticket, Visitor } from './state.ts';

/** The fields of a request that its creator sets. */
export type NewRequest = Pick<
  Request,
  | 'id' | 'kind' | 'origin' | 'siteId' | 'visitor' | 'operator' | 'medium' | 'queue' | 'ticket' | 'engagement' | 'createdAt' | 'timeoutMs'
  | 'notes' | 'address' | 'createdIn'
>; // prettier-ignore

/**
 * A request that was just made. It is a class, because V8 notes where object literals are written whose objects live long, such as
 * those of tickets, and then allocates all objects of that literal among old ones. Requests end soon: there they would only be
 * removed by a collection of the whole heap.
 */
export class PendingRequest implements Request {
  readonly id: RequestId;
  code = noCode;
  readonly kind: Request['kind'];
  readonly origin: Request['origin'];
  readonly siteId: SiteId;
  readonly visitor: Visitor;
  readonly operator: Operator;
  medium: Medium;
  readonly queue: Queue | null;
  readonly ticket: Ticket | null;
  engagement: Engagement | null;
  readonly createdAt: number;
  timeoutMs: number;
  readonly notes: RequestNotes;
  readonly address: string | null;
  state: RequestState = 'pending';
  failReason: FailReason | null = null;
  failMessage: string | null = null;
  endedAt: number | null = null;
  readonly deadline;
  changedIn: number | null = null;
  createdIn: object | null;

  constructor(given: NewRequest) {
    this.id = given.id;
    this.kind = given.kind;
    this.origin = given.origin;
    this.siteId = given.siteId;
    this.visitor = given.visitor;
    this.operator = given.operator;
    this.medium = given.medium;
    this.queue = given.queue;
    this.ticket = given.ticket;
    this.engagement = given.engagement;
    this.createdAt = given.createdAt;
    this.timeoutMs = given.timeoutMs;
    this.notes = given.notes;
    this.address = given.address;
    this.deadline = newDeadline('offer', given.id);
    this.createdIn = given.createdIn;
  }
}
