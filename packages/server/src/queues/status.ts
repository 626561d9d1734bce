import { media as allMedia, type Medium } from '@usher/contract/media';
import type { QueueStatus, UnstaffedRule } from '@usher/contract/states';
import type { QueueId } from '../platform/ids.ts';

export type CapacityPolicy =
  { readonly type: 'fixed'; readonly capacity: number } | { readonly type: 'variable'; readonly multiplier: number };

/** Everything that determines the status of a queue at an instant. */
export interface QueueFacts {
  readonly id: QueueId;
  readonly fallback_queue_id: QueueId | null;
  /** Whether the queue is within its hours. */
  readonly open: boolean;
  readonly capacity_policy: CapacityPolicy;
  readonly when_unstaffed: UnstaffedRule;
  /** The media of its routing policy: all if it names none. */
  readonly media: readonly Medium[];
  /** The media of each operator who staffs the queue (D2.1). */
  readonly staff: readonly (readonly Medium[])[];
  /** The number of visitors waiting in the queue or offered from it (D2.2). */
  readonly visitors: number;
}

export interface EvaluatedQueue {
  readonly self_status: QueueStatus;
  readonly status: QueueStatus;
  readonly capacity: number;
  readonly media: readonly Medium[];
}

/** D2.1: an operator staffs a queue if they take at least one of its media. */
export function staffs(taken: readonly Medium[], media: readonly Medium[]): boolean {
  return taken.some((medium) => media.includes(medium));
}

/** A multiplier may be any finite number, so the product is limited to what JSON carries exactly. */
const maxCapacity = Number.MAX_SAFE_INTEGER;

/** D2.5: how many visitors may be in a queue with this number of staffing operators. */
function effectiveCapacity(policy: CapacityPolicy, staff: number): number {
  return policy.type === 'fixed' ? policy.capacity : Math.min(Math.floor(policy.multiplier * staff), maxCapacity);
}

/** What decides whether a queue admits visitors at an instant. */
export interface AdmissionFacts {
  /** Whether the queue is within its hours. */
  readonly open: boolean;
  /** The number of operators who staff the queue (D2.1). */
  readonly staff: number;
  readonly whenUnstaffed: UnstaffedRule;
  readonly capacityPolicy: CapacityPolicy;
  /** The number of visitors waiting in the queue or offered from it (D2.2). */
  readonly visitors: number;
}

/** D1.2: may a visitor enter now, and if not, why not? The first reason that applies counts. */
export function admissionOf(queue: AdmissionFacts): QueueStatus {
  const status = statusIgnoringCapacity(queue);
  const isFull = queue.visitors >= effectiveCapacity(queue.capacityPolicy, queue.staff);
  return status === 'opened' && isFull ? 'full' : status;
}

/** D1.2 without the capacity, which does not concern visitors who are already in the queue (D2.4, D3.5). */
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

/** D1.4 and D1.6 for one queue. `queues` contains its fallback chain. */
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

/** D1.6: the media that an opened queue admits: those that its staff takes, or all of them if it accepts without staff. */
function admittedMedia({ media, staff }: QueueFacts): readonly Medium[] {
  return staff.length === 0 ? media : media.filter((medium) => staff.some((taken) => taken.includes(medium)));
}

/** The queue, its fallback, the fallback's fallback and so on. Cycles are refused on saving; a stored one must not hang us. */
export function fallbackChain<Link>(queue: Link, fallbackOf: (link: Link) => Link | undefined): Link[] {
  const links = new Set<Link>();
  for (let link: Link | undefined = queue; link !== undefined && !links.has(link); link = fallbackOf(link))
    links.add(link);
  return [...links];
}
