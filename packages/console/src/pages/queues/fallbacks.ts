import type { Queue } from '@usher/sdk/api-types';

type Link = Pick<Queue, 'id' | 'fallback_queue_id'>;

/** Follows the fallbacks from the first queue; ends with a queue that occurs a second time. */
export function fallbackPath(first: string | null, queues: ReadonlyMap<string, Link>, itself?: string): string[] {
  const path: string[] = [];
  const seen = new Set(itself === undefined ? [] : [itself]);
  for (let id = first; id !== null; id = queues.get(id)?.fallback_queue_id ?? null) {
    path.push(id);
    if (seen.has(id)) break;
    seen.add(id);
  }
  return path;
}

/** The loop that this fallback would create, from the queue back to itself; `null` if there is none. */
export function fallbackLoop(
  itself: string,
  fallback: string | null,
  queues: ReadonlyMap<string, Link>,
): string[] | null {
  const path = fallbackPath(fallback, queues, itself);
  return path.at(-1) === itself ? [itself, ...path] : null;
}
