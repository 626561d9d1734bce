import type { Violation } from '../platform/errors.ts';

/** Counts by the API's name of the resource. */
export type Counts = Readonly<Record<string, number>>;

/** Counting stops here: people only need the magnitude, and it must be fast on a large site. */
export const maxCount = 10_000;

/** One detail per count above 0: `/queues`, `3`. */
export function countDetails(counts: Counts): Violation[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ({
      attribute: `/${name}`,
      detail: count > maxCount ? `more than ${maxCount}` : String(count),
    }));
}
