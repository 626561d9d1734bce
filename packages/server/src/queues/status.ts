import type { QueueId } from '../platform/ids.ts';
import type { Medium } from '../platform/schema.ts';

/** D1.1. Clients must tolerate more; we send no others. */
type QueueStatus = 'opened' | 'closed' | 'full' | 'unstaffed';

export type CapacityPolicy =
  { readonly type: 'fixed'; readonly capacity: number } | { readonly type: 'variable'; readonly multiplier: number };

/** All that the status of a queue follows from, at one instant. */
export interface QueueFacts {
  readonly id: QueueId;
  readonly fallback_queue_id: QueueId | null;
  /** Whether it is within its hours. */
  readonly open: boolean;
  readonly capacity_policy: CapacityPolicy;
  readonly when_unstaffed: 'accept' | 'reject';
  /** The media of its routing policy: all four if none are set. */
  readonly media: readonly Medium[];
  /** What each operator who staffs it takes (D2.1). */
  readonly staff: readonly (readonly Medium[])[];
  /** Visitors waiting in it or under offer from it (D2.2). */
  readonly visitors: number;
}

export interface EvaluatedQueue {
  readonly self_status: QueueStatus;
  readonly status: QueueStatus;
  readonly capacity: number;
  readonly media: readonly Medium[];
}

/** D2.1: with how many of the queue's media an operator can serve it is of no account, as long as it is one. */
export function staffs(taken: readonly Medium[], media: readonly Medium[]): boolean {
  return taken.some((medium) => media.includes(medium));
}

/** The largest integer the interface can carry exactly: a multiplier may be any finite number. */
const mostCapacity = Number.MAX_SAFE_INTEGER;

/** How many visitors may be in a queue with so many operators staffing it. */
export function effectiveCapacity(policy: CapacityPolicy, staff: number): number {
  return policy.type === 'fixed' ? policy.capacity : Math.min(Math.floor(policy.multiplier * staff), mostCapacity);
}

/** D1.2: may a visitor enter now, and if not, why not? The first reason counts. */
function selfStatus(queue: QueueFacts): QueueStatus {
  if (!queue.open) return 'closed';
  if (queue.staff.length === 0 && queue.when_unstaffed === 'reject') return 'unstaffed';
  if (queue.visitors >= effectiveCapacity(queue.capacity_policy, queue.staff.length)) return 'full';
  return 'opened';
}

/** D1.4 and D1.6 for one queue, with those its fallback chain leads to among `queues`. */
export function evaluate(queue: QueueFacts, queues: ReadonlyMap<QueueId, QueueFacts>): EvaluatedQueue {
  const opened = chain(queue, queues).filter((link) => selfStatus(link) === 'opened');
  const own = selfStatus(queue);
  const available = new Set(opened.flatMap(admittedMedia));
  return {
    self_status: own,
    status: opened.length > 0 ? 'opened' : own,
    capacity: effectiveCapacity(queue.capacity_policy, queue.staff.length),
    media: allMedia.filter((medium) => available.has(medium)),
  };
}

const allMedia: readonly Medium[] = ['text', 'phone', 'audio', 'video'];

/** What an opened queue lets in: its media that somebody there takes; where nobody is there and it accepts, all of them. */
function admittedMedia({ media, staff }: QueueFacts): readonly Medium[] {
  return staff.length === 0 ? media : media.filter((medium) => staff.some((taken) => taken.includes(medium)));
}

/** The queue, its fallback, the fallback's fallback and so on; there are no circles, but a stored one must not hang us. */
function chain<Link extends Pick<QueueFacts, 'id' | 'fallback_queue_id'>>(
  queue: Link,
  queues: ReadonlyMap<QueueId, Link>,
): Link[] {
  const links = new Set<Link>();
  for (let link: Link | undefined = queue; link !== undefined && !links.has(link);) {
    links.add(link);
    link = link.fallback_queue_id === null ? undefined : queues.get(link.fallback_queue_id);
  }
  return [...links];
}
