import type { Queue } from '@usher/client/api-types';
import type { Standing } from './store/waiting.ts';

export type Sorting = 'name' | 'waiting' | 'longest' | 'average';

interface Order {
  readonly sorting: Sorting;
  /** What the name has in it, whatever its case. */
  readonly search: string;
  readonly only: 'all' | 'trouble';
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Queues as they are listed: those looked for, by name, or by what is most pressing. */
export function listQueues(
  queues: Iterable<Queue>,
  standing: (id: string) => Standing,
  { sorting, search, only }: Order,
): Queue[] {
  const wanted = search.trim().toLocaleLowerCase();
  const chosen = [...queues].filter(
    (queue) =>
      (wanted === '' || queue.name.toLocaleLowerCase().includes(wanted)) &&
      (only === 'all' || queue.status !== 'opened' || queue.self_status !== 'opened'),
  );
  const names = (a: Queue, b: Queue): number => collator.compare(a.name, b.name) || (a.id < b.id ? -1 : 1);
  if (sorting === 'name') return chosen.toSorted(names);
  if (sorting === 'average') return chosen.toSorted((a, b) => b.average_wait_time - a.average_wait_time || names(a, b));
  const facts = new Map(chosen.map((queue) => [queue.id, standing(queue.id)]));
  const waiting = ({ id }: Queue): number => facts.get(id)?.waiting ?? 0;
  if (sorting === 'waiting') return chosen.toSorted((a, b) => waiting(b) - waiting(a) || names(a, b));
  // An instant long past is a long wait; nobody waiting comes after everybody.
  const since = ({ id }: Queue): string => facts.get(id)?.longestSince ?? '~';
  return chosen.toSorted((a, b) => (since(a) === since(b) ? names(a, b) : since(a) < since(b) ? -1 : 1));
}
