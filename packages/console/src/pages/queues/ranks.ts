import type { Ranking } from '@usher/sdk/api-types';
import { lastRank } from '@usher/contract/limits';

/** Sorted by rank; operators of the same rank keep their order. */
export function sortByRank(ranks: readonly Ranking[]): Ranking[] {
  return ranks.toSorted((a, b) => a.rank - b.rank);
}

/**
 * Moves an operator and gives them a rank of their own between their neighbours. Where there is no room the following ranks
 * increase; ranks beyond the last one become the last one.
 */
export function moveRank(ranks: readonly Ranking[], from: number, to: number): Ranking[] {
  const moved = ranks[from];
  if (moved === undefined || from === to) return [...ranks];
  const others = ranks.filter((_, index) => index !== from);
  const before = others.slice(0, to);
  const following = others.slice(to);
  const rank = Math.min((before.at(-1)?.rank ?? 0) + 1, lastRank);
  const shift = Math.max(0, rank + 1 - (following[0]?.rank ?? Infinity));
  return [
    ...before,
    { ...moved, rank },
    ...following.map((each) => ({ ...each, rank: Math.min(each.rank + shift, lastRank) })),
  ];
}

export function withRank(ranks: readonly Ranking[], id: string, rank: number): Ranking[] {
  return sortByRank([...ranks.filter((each) => each.id !== id), { id, rank }]);
}

/** Adds an operator at the end. */
export function appendRank(ranks: readonly Ranking[], id: string): Ranking[] {
  return [...ranks, { id, rank: Math.min((ranks.at(-1)?.rank ?? 0) + 1, lastRank) }];
}

/** The changes from one ranking to the other; `null` removes an operator. */
export function rankChanges(
  before: readonly Ranking[],
  after: readonly Ranking[],
): { readonly id: string; readonly rank: number | null }[] {
  const ranksBefore = new Map(before.map(({ id, rank }) => [id, rank]));
  const idsAfter = new Set(after.map(({ id }) => id));
  return [
    ...after.filter(({ id, rank }) => ranksBefore.get(id) !== rank),
    ...before.filter(({ id }) => !idsAfter.has(id)).map(({ id }) => ({ id, rank: null })),
  ];
}
