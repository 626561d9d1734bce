import { media as allMedia, type Medium } from '@usher/contract/media';
import type { QueueStatus, UnstaffedRule } from '@usher/contract/states';
import type { QueueId } from '../platform/ids.ts';

export type CapacityPolicy =
  { readonly type: 'fixed'; readonly capacity: number } | { readonly type: 'variable'; readonly multiplier: number };

/** All that the status of a queue follows from, at one instant. */
export interface QueueFacts {
  readonly id: QueueId;
  readonly fallback_queue_id: QueueId | null;
  /** Whether it is within its hours. */
  readonly open: boolean;
  readonly capacity_policy: CapacityPolicy;
  readonly when_unstaffed: UnstaffedRule;
  /** The media of its routing policy: all if none are set. */
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
function effectiveCapacity(policy: CapacityPolicy, staff: number): number {
  return policy.type === 'fixed' ? policy.capacity : Math.min(Math.floor(policy.multiplier * staff), mostCapacity);
}

/** What decides whether a queue lets visitors in, at one instant. */
export interface AdmissionFacts {
  /** Whether the queue is within its hours. */
  readonly open: boolean;
  /** How many operators staff the queue (D2.1). */
  readonly staff: number;
  readonly whenUnstaffed: UnstaffedRule;
  readonly capacityPolicy: CapacityPolicy;
  /** How many visitors are in the queue or under offer from it (D2.2). */
  readonly visitors: number;
}

/** D1.2: may a visitor enter now, and if not, why not? The first reason counts. */
export function admissionOf(queue: AdmissionFacts): QueueStatus {
  const standing = statusIgnoringCapacity(queue);
  const isFull = queue.visitors >= effectiveCapacity(queue.capacityPolicy, queue.staff);
  return standing === 'opened' && isFull ? 'full' : standing;
}

/** What keeps visitors from waiting in a queue (D3.5): D1.2 without the capacity, which does not concern those who are in. */
export type StatusIgnoringCapacity = Exclude<QueueStatus, 'full'>;

export function statusIgnoringCapacity({ open, staff, whenUnstaffed }: AdmissionFacts): StatusIgnoringCapacity {
  if (!open) return 'closed';
  return staff === 0 && whenUnstaffed === 'reject' ? 'unstaffed' : 'opened';
}

function selfStatus({ open, staff, when_unstaffed, capacity_policy, visitors }: QueueFacts): QueueStatus {
  return admissionOf({
    open,
    staff: staff.length,
    whenUnstaffed: when_unstaffed,
    capacityPolicy: capacity_policy,
    visitors,
  });
}

/** D1.4 and D1.6 for one queue, with those its fallback chain leads to among `queues`. */
export function evaluate(queue: QueueFacts, queues: ReadonlyMap<QueueId, QueueFacts>): EvaluatedQueue {
  const links = fallbackChain(queue, ({ fallback_queue_id: id }) => (id === null ? undefined : queues.get(id)));
  const opened = links.filter((link) => selfStatus(link) === 'opened');
  const own = selfStatus(queue);
  const available = new Set(opened.flatMap(admittedMedia));
  return {
    self_status: own,
    status: opened.length > 0 ? 'opened' : own,
    capacity: effectiveCapacity(queue.capacity_policy, queue.staff.length),
    media: allMedia.filter((medium) => available.has(medium)),
  };
}

/** What an opened queue lets in: its media that somebody there takes; where nobody is there and it accepts, all of them. */
function admittedMedia({ media, staff }: QueueFacts): readonly Medium[] {
  return staff.length === 0 ? media : media.filter((medium) => staff.some((taken) => taken.includes(medium)));
}

/** The queue, its fallback, the fallback's fallback and so on. There are no circles, but a stored one must not hang us. */
export function fallbackChain<Link>(queue: Link, fallbackOf: (link: Link) => Link | undefined): Link[] {
  const links = new Set<Link>();
  for (let link: Link | undefined = queue; link !== undefined && !links.has(link); link = fallbackOf(link))
    links.add(link);
  return [...links];
}
