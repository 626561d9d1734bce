import type { Queue } from '@usher/sdk/api-types';
import { isOpen } from '../../components/queue-status.ts';
import { fallbackPath } from './fallbacks.ts';

/** The name of the first open fallback queue. */
export function overflowQueueName(queue: Queue, queues: ReadonlyMap<string, Queue>): string | null {
  const path = fallbackPath(queue.fallback_queue_id, queues, queue.id);
  return path.map((id) => queues.get(id)).find((link) => link !== undefined && isOpen(link))?.name ?? null;
}
