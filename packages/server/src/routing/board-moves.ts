import type { Moved } from './load-board.ts';

/** One increment of the version of an account's board: the rows it changed, and the previous version. */
export interface BoardMove {
  readonly version: number;
  /** Versions jump with the first move in an epoch of the log. `null`: written by an older version of Usher. */
  readonly previous: number | null;
  /** Named like its column. */
  readonly things: Moved;
}

/**
 * The rows that changed between two versions of the board; `null` if that is unknown. The moves must follow each other without a
 * gap: old moves are deleted, and a failover or a restored backup may lose the version that we start from.
 */
export function movedBetween(
  moves: readonly BoardMove[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly Moved[] | null {
  let reached = from;
  for (const { version, previous } of moves) {
    if ((previous ?? version - 1) !== reached) return null;
    reached = version;
  }
  return reached === to ? moves.map(({ things }) => things) : null;
}
