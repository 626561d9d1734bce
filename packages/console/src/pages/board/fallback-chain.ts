import type { Queue } from '@usher/sdk/api-types';
import { isOpen } from '../../components/queue-status.ts';

/** The chain of fallbacks of a queue. A queue that is not known here, e.g. of another site, ends the chain as `null`. */
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

/** The queue that takes the visitors of a queue that is not open itself. */
export function findOverflowQueue(chain: readonly (Queue | null)[]): Queue | null {
  return chain.find((link) => link !== null && isOpen(link)) ?? null;
}
