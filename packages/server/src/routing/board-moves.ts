import type { MovedIds } from './load-board.ts';

/** One raise of the version of an account's board: what it moved, and which version it followed. */
export interface BoardMove {
  readonly version: number;
  /** Versions jump with the first move in an epoch of the log. `null`: written by an Usher that did not note it. */
  readonly previous: number | null;
  readonly things: MovedIds;
}

/**
 * What has moved from one version of the board to another; `null` where that is not known. The moves must follow each other
 * without a gap: some may have been deleted, or the version one starts from may have been lost with a standby or a backup.
 */
export function movedBetween(
  moves: readonly BoardMove[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly MovedIds[] | null {
  let reached = from;
  for (const { version, previous } of moves) {
    if ((previous ?? version - 1) !== reached) return null;
    reached = version;
  }
  return reached === to ? moves.map(({ things }) => things) : null;
}
