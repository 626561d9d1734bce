import type { Queue } from '@usher/client/api-types';
import type { Staff } from './store/staffing.ts';

type Status = Queue['status'];

export const statusNames: Readonly<Record<Status, string>> = {
  opened: 'Open',
  closed: 'Closed',
  full: 'Full',
  unstaffed: 'Unstaffed',
};

/** What keeps visitors out of the queue itself, or what awaits them in it; empty where there is nothing to say. */
export function why({ self_status, capacity, capacity_policy }: Queue, { present, busy }: Staff): string {
  switch (self_status) {
    case 'closed':
      return 'outside its hours';
    case 'unstaffed':
      return 'nobody is there';
    case 'full':
      if (capacity > 0) return capacity === 1 ? 'its one place is taken' : `all ${capacity} places are taken`;
      return capacity_policy.type === 'variable' ? 'nobody is there, so it has no places' : 'it has no places';
    case 'opened':
      if (present === 0) return 'nobody is there, visitors wait';
      return busy === present ? 'everybody is busy' : '';
  }
}

/** The queue's fallback, that one's, and so on. One that is not among the queues, on another site say, ends the chain as `null`. */
export function fallbackChain(queue: Queue, queues: ReadonlyMap<string, Queue>): (Queue | null)[] {
  const chain: (Queue | null)[] = [];
  const seen = new Set([queue.id]);
  for (let id = queue.fallback_queue_id; id !== null && !seen.has(id);) {
    seen.add(id);
    const link = queues.get(id);
    chain.push(link ?? null);
    if (link === undefined) break;
    id = link.fallback_queue_id;
  }
  return chain;
}

/** The queue that takes in whoever comes to one that is not open itself. */
export function takesOver(chain: readonly (Queue | null)[]): Queue | null {
  return chain.find((link) => link?.self_status === 'opened') ?? null;
}
