import type { Medium } from '@usher/contract/media';
import { setOf, takes, type MediaSet } from './media.ts';
import { OrderedSet } from './ordered-set.ts';
import type { FreeOperators, Operator } from './state.ts';

/** D4.2 without ranks: the fewest active engagements first, then the longest time without a new one. */
export function compareOperators(a: Operator, b: Operator): number {
  if (a === b) return 0;
  return loadOf(a) - loadOf(b) || a.lastEngagedAt - b.lastEngagedAt || (a.settings.id < b.settings.id ? -1 : 1);
}

/** Active engagements, and pending requests that may become one. */
function loadOf(operator: Operator): number {
  return operator.texts + operator.exclusives;
}

const text = setOf('text');

/** D4.4: text up to the operator's limit, any other medium only with nothing active. */
export function takeableMedia({ settings, texts, exclusives }: Operator): MediaSet {
  if (exclusives > 0) return 0;
  if (texts === 0) return settings.media;
  return texts < settings.maxEngagements ? settings.media & text : 0;
}

export function canTake(operator: Operator, medium: Medium): boolean {
  return takes(takeableMedia(operator), medium);
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
  /** By `keyOf`; undefined until the first operator of the kind. */
  readonly #byKey: (OrderedSet<Operator> | undefined)[] = [];
  /** The sets that there are, without the gaps of `#byKey`. */
  readonly #sets: FreeSet[] = [];

  constructor(compare: (a: Operator, b: Operator) => number) {
    this.#compare = compare;
  }

  add(operator: Operator): void {
    (this.#byKey[keyOf(operator)] ?? this.#addSet(operator)).add(operator);
  }

  delete(operator: Operator): void {
    this.#byKey[keyOf(operator)]?.delete(operator);
  }

  best(medium: Medium, excluded: ((operator: Operator) => boolean) | null): Operator | null {
    let best: Operator | null = null;
    for (const { media, busy, operators } of this.#sets) {
      if (operators.size === 0 || !takes(media, medium) || (busy && medium !== 'text')) continue;
      const head = excluded === null ? operators.first() : operators.firstWhere((operator) => !excluded(operator));
      if (head !== undefined && (best === null || this.#compare(head, best) < 0)) best = head;
    }
    return best;
  }

  #addSet(operator: Operator): OrderedSet<Operator> {
    const operators = new OrderedSet(this.#compare);
    this.#byKey[keyOf(operator)] = operators;
    this.#sets.push({ media: operator.settings.media, busy: isBusy(operator), operators });
    return operators;
  }
}

/** Free operators who take these media. Busy ones have room for text only (D4.4). */
interface FreeSet {
  readonly media: MediaSet;
  readonly busy: boolean;
  readonly operators: OrderedSet<Operator>;
}

function isBusy(operator: Operator): boolean {
  return loadOf(operator) > 0;
}

function keyOf(operator: Operator): number {
  return 2 * operator.settings.media + Number(isBusy(operator));
}
