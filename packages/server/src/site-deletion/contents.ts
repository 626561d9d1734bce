import type { Violation } from '../platform/errors.ts';

/** How many of each there are, by the name that the API has for them. */
export type Counts = Readonly<Record<string, number>>;

/** Nothing is counted further than this: it is for people to read, and must not take long on a large site. */
export const mostCounted = 10_000;

/** One detail for each kind of which there is any: `/queues`, `3`. */
export function countDetails(counts: Counts): Violation[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ({
      attribute: `/${name}`,
      detail: count > mostCounted ? `more than ${mostCounted}` : String(count),
    }));
}
