import type { Queue } from '@usher/sdk/api-types';
import { texts } from './texts.ts';

/*
 * What the console means by open and by waiting, on every page (docs/glossary.md).
 *
 * - Open: the queue itself lets visitors in now (`self_status` is `opened`). A queue that is closed, unstaffed or full is not
 *   open, even if its fallback takes its visitors: it overflows (`status` is `opened` nevertheless).
 * - Waiting: visitors who have a ticket in the queue and no operator yet. Those who are ringing at an operator, and those who
 *   are being transferred to the queue, wait too (`visitors_count`).
 */

type Status = Queue['self_status'];

/** The fields of a queue, stored or previewed, that decide its status. */
export type QueueFacts = Pick<Queue, 'status' | 'self_status' | 'capacity' | 'visitors_count' | 'staffed'>;

export const statusNames: Readonly<Record<Status, string>> = {
  opened: texts.open,
  closed: texts.closed,
  full: texts.full,
  unstaffed: texts.unstaffed,
};

export function isOpen({ self_status }: Pick<Queue, 'self_status'>): boolean {
  return self_status === 'opened';
}

export function overflows(queue: Pick<Queue, 'status' | 'self_status'>): boolean {
  return !isOpen(queue) && queue.status === 'opened';
}

export function waitingCount({ visitors_count }: Pick<Queue, 'visitors_count'>): number {
  return visitors_count;
}

/** Visitors wait, and no operator who could serve them is online. */
export function isUnattended(queue: Pick<Queue, 'visitors_count' | 'staffed'>): boolean {
  return waitingCount(queue) > 0 && !queue.staffed;
}

/** Why visitors cannot join, or what they meet; empty for an open queue with operators online. */
export function reasonOf({ self_status, capacity, staffed }: QueueFacts): string {
  switch (self_status) {
    case 'closed':
      return texts.outsideOpeningHours;
    case 'unstaffed':
      return texts.noOperatorsOnline;
    case 'full':
      if (capacity > 0) return texts.atCapacity;
      return staffed ? texts.capacityIsZero : texts.capacityIsZeroUnstaffed;
    case 'opened':
      return staffed ? '' : texts.unstaffedButOpen;
  }
}

/** Reason, waiting visitors and overflow: `Outside opening hours · 2 waiting · overflows to Night desk`. */
export function describeQueue(queue: QueueFacts, overflowsTo: string | null): string {
  const waiting = waitingCount(queue);
  return [
    reasonOf(queue),
    waiting === 0 ? (isOpen(queue) ? texts.empty : '') : texts.waiting(waiting),
    overflows(queue) ? (overflowsTo === null ? texts.overflowsToFallback : texts.overflowsTo(overflowsTo)) : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}
