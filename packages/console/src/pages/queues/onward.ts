import type { Queue } from '@usher/client/api-types';
import { isOpen } from '../../components/queue-status.ts';
import { pathFrom } from './fallbacks.ts';

/** The name of the first open fallback queue. */
export function onwardFrom(queue: Queue, queues: ReadonlyMap<string, Queue>): string | null {
  const path = pathFrom(queue.fallback_queue_id, queues, queue.id);
  return path.map((id) => queues.get(id)).find((link) => link !== undefined && isOpen(link))?.name ?? null;
}
