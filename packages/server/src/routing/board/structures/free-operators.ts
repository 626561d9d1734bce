import type { Medium } from '@usher/contract/media';
import { takes } from './media.ts';
import { OrderedSet } from './ordered-set.ts';
import type { FreeOperators, Operator } from './state.ts';

/** D4.2 without ranks: the fewest active engagements first, then the longest time without a new one. */
export function compareOperators(a: Operator, b: Operator): number {
  return (
    loadOf(a) - loadOf(b) || a.lastEngagedAt - b.lastEngagedAt || (a.settings.id < b.settings.id ? -1 : Number(a !== b))
  );
}

/** Active engagements, and pending requests that may become one. */
function loadOf(operator: Operator): number {
  return operator.texts + operator.exclusives;
}

/** D4.4: text up to the operator's limit, any other medium only with nothing active. */
export function canTake(operator: Operator, medium: Medium): boolean {
  if (!takes(operator.settings.media, medium)) return false;
  return hasRoomFor(operator, medium);
}

/** Whether the operator has free capacity for any of their media. */
export function canTakeAnything({ settings, texts, exclusives }: Operator): boolean {
  if (exclusives > 0 || settings.media === 0) return false;
  return texts === 0 || (texts < settings.maxEngagements && takes(settings.media, 'text'));
}

export function hasRoomFor(operator: Operator, medium: Medium): boolean {
  if (operator.exclusives > 0) return false;
  return medium === 'text' ? operator.texts < operator.settings.maxEngagements : operator.texts === 0;
}

/**
 * Free operators, in one ordered set per combination of media and idle or busy. The best operator for a medium is at the head
 * of one of these few sets, however many operators there are.
 */
export class FreeOperatorSets implements FreeOperators {
  readonly #compare: (a: Operator, b: Operator) => number;
  readonly #sets: (OrderedSet<Operator> | undefined)[] = [];

  constructor(compare: (a: Operator, b: Operator) => number) {
    this.#compare = compare;
  }

  add(operator: Operator): void {
    (this.#sets[indexOf(operator)] ??= new OrderedSet(this.#compare)).add(operator);
  }

  delete(operator: Operator): void {
    this.#sets[indexOf(operator)]?.delete(operator);
  }

  best(medium: Medium, excluded: ((operator: Operator) => boolean) | null): Operator | null {
    let best: Operator | null = null;
    const step = medium === 'text' ? 1 : 2;
    for (let index = 2; index < this.#sets.length; index += step) {
      const operators = this.#sets[index];
      if (operators === undefined || !takes(index >> 1, medium)) continue;
      const head = excluded === null ? operators.first() : operators.firstWhere((operator) => !excluded(operator));
      if (head !== undefined && (best === null || this.#compare(head, best) < 0)) best = head;
    }
    return best;
  }
}

/** The sets of idle operators have even indexes. */
function indexOf(operator: Operator): number {
  return 2 * operator.settings.media + Number(loadOf(operator) > 0);
}
