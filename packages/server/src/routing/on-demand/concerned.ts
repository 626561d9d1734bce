import type { Board } from '../board/board.ts';
import type { Changes } from '../board/structures/changes.ts';
import type { Operator, Queue } from '../board/structures/state.ts';

/**
 * Finds the queues and operators whose state a turn may have changed, so that a turn does not look at all of them. It is made from the
 * settings of the board and holds until they change.
 */
export class Concerned {
  /** The queues that name each queue as their fallback. */
  readonly #fallingBackTo = new Map<string, Queue[]>();

  constructor(board: Pick<Board, 'queues'>) {
    for (const queue of board.queues.values()) {
      const { fallbackId } = queue.settings;
      if (fallbackId === null) continue;
      const known = this.#fallingBackTo.get(fallbackId) ?? [];
      this.#fallingBackTo.set(fallbackId, [...known, queue]);
    }
  }

  by(changes: Changes): { readonly queues: Set<Queue>; readonly operators: Set<Operator> } {
    return { queues: this.queues(changes), operators: this.operators(changes) };
  }

  /** Operators who set their presence, whose lease has ended, or who came back after its end. */
  operators({ presences, availabilities }: Pick<Changes, 'presences' | 'availabilities'>): Set<Operator> {
    return new Set([...presences.values().map(({ operator }) => operator), ...availabilities]);
  }

  /** Queues whose visitors, hours or staff have changed, and those that fall back to one of them (D1.4). */
  queues(changes: Pick<Changes, 'queues' | 'presences' | 'availabilities'>): Set<Queue> {
    const found = new Set<Queue>(changes.queues);
    for (const { pools } of this.operators(changes))
      for (const pool of pools) for (const queue of pool.queues) found.add(queue);
    // The iteration also visits what it adds.
    for (const { settings } of found) for (const queue of this.#fallingBackTo.get(settings.id) ?? []) found.add(queue);
    return found;
  }
}
