import type { Queue } from '@usher/sdk/api-types';
import { isOpen, waitingCount } from '../../components/queue-status.ts';

export type Sorting = 'name' | 'waiting' | 'longest' | 'average';

interface ListOptions {
  readonly sorting: Sorting;
  /** Part of the name, in any case. */
  readonly search: string;
  readonly only: 'all' | 'unavailable';
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Filters the queues and sorts them by name or by urgency. */
export function listQueues(
  queues: Iterable<Queue>,
  longestSince: (id: string) => string | null,
  { sorting, search, only }: ListOptions,
): Queue[] {
  const text = search.trim().toLocaleLowerCase();
  const chosen = [...queues].filter(
    (queue) => (text === '' || queue.name.toLocaleLowerCase().includes(text)) && (only === 'all' || !isOpen(queue)),
  );
  const byName = (a: Queue, b: Queue): number => collator.compare(a.name, b.name) || (a.id < b.id ? -1 : 1);
  if (sorting === 'name') return chosen.toSorted(byName);
  if (sorting === 'average')
    return chosen.toSorted((a, b) => b.average_wait_time - a.average_wait_time || byName(a, b));
  if (sorting === 'waiting') return chosen.toSorted((a, b) => waitingCount(b) - waitingCount(a) || byName(a, b));
  // The earliest start is the longest wait; queues where nobody waits come last.
  const oldest = new Map(chosen.map(({ id }) => [id, longestSince(id) ?? '~']));
  const since = ({ id }: Queue): string => oldest.get(id) ?? '~';
  return chosen.toSorted((a, b) => (since(a) === since(b) ? byName(a, b) : since(a) < since(b) ? -1 : 1));
}
