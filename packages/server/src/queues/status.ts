import type { Medium } from '@usher/contract/media';
import type { QueueStatus, UnstaffedRule } from '@usher/contract/states';
import type { QueueId } from '../platform/ids.ts';
import { mediaIn, mediaSetOf, type MediaSet } from './media-set.ts';

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
  /** The number of operators who staff the queue (D2.1), and which media of the queue they take. */
  readonly staff: number;
  readonly staffedMedia: readonly Medium[];
  /** The number of visitors waiting in the queue or offered from it (D2.2). */
  readonly visitors: number;
}

export interface EvaluatedQueue {
  readonly self_status: QueueStatus;
  readonly status: QueueStatus;
  readonly capacity: number;
  readonly media: readonly Medium[];
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
  return admissionOf({ open, staff, whenUnstaffed: when_unstaffed, capacityPolicy: capacity_policy, visitors });
}

/** D1.4 and D1.6 for queues whose fallback chains are among `queues`. */
export class Evaluation {
  readonly #queues: ReadonlyMap<QueueId, QueueFacts>;
  /** The media that the opened queues of a chain admit, by the first queue of the chain. */
  readonly #chains = new Map<QueueFacts, MediaSet>();

  constructor(queues: ReadonlyMap<QueueId, QueueFacts>) {
    this.#queues = queues;
  }

  of(queue: QueueFacts): EvaluatedQueue {
    const own = selfStatus(queue);
    const available = this.#admittedAlong(queue);
    return {
      self_status: own,
      // An opened queue admits at least one medium.
      status: available === 0 ? own : 'opened',
      capacity: effectiveCapacity(queue.capacity_policy, queue.staff),
      media: mediaIn(available),
    };
  }

  /** Each queue is visited once, so that queues that fall back to each other in a long chain do not cost its square. */
  #admittedAlong(queue: QueueFacts): MediaSet {
    // Most queues have no fallback.
    if (queue.fallback_queue_id === null) return admittedMedia(queue);
    const known = this.#chains.get(queue);
    if (known !== undefined) return known;
    const links = fallbackChain(queue, (link) => {
      const next = this.#fallbackOf(link);
      return next === undefined || this.#chains.has(next) ? undefined : next;
    });
    let admitted = this.#admittedAfter(links);
    for (const link of links.toReversed()) {
      admitted |= admittedMedia(link);
      this.#chains.set(link, admitted);
    }
    return admitted;
  }

  /** What is admitted after the last link: by the chain that was evaluated before, or by the cycle that the last link closes. */
  #admittedAfter(links: readonly QueueFacts[]): MediaSet {
    const last = links.at(-1);
    const next = last === undefined ? undefined : this.#fallbackOf(last);
    if (next === undefined) return 0;
    const known = this.#chains.get(next);
    if (known !== undefined) return known;
    const cycle = links.slice(links.indexOf(next));
    return cycle.reduce((admitted, link) => admitted | admittedMedia(link), 0);
  }

  #fallbackOf({ fallback_queue_id: id }: QueueFacts): QueueFacts | undefined {
    return id === null ? undefined : this.#queues.get(id);
  }
}

/** D1.6: the media that a queue admits: if it is opened, those that its staff takes, or all of them if it accepts without staff. */
function admittedMedia(queue: QueueFacts): MediaSet {
  if (selfStatus(queue) !== 'opened') return 0;
  return mediaSetOf(queue.staff === 0 ? queue.media : queue.staffedMedia);
}

/** The queue, its fallback, the fallback's fallback and so on. Cycles are refused on saving; a stored one must not hang us. */
export function fallbackChain<Link>(queue: Link, fallbackOf: (link: Link) => Link | undefined): Link[] {
  const links = new Set<Link>();
  for (let link: Link | undefined = queue; link !== undefined && !links.has(link); link = fallbackOf(link))
    links.add(link);
  return [...links];
}
