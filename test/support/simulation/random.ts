/** Numbers that follow from a seed: the same seed draws the same history. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  /** An integer from 0 to `count`, without `count`. */
  below(count: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** A UUID v4, which is never drawn again. */
  uuid(): string;
  /** What follows is drawn for a step of a history: it does not depend on the steps before. */
  beginStep(step: number): void;
}

/** The generator "mulberry32", which is short and good enough to choose steps. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  let uuids = 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    below,
    pick(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
    chance: (probability) => next() < probability,
    uuid() {
      const hex = Array.from({ length: 20 }, () => below(16).toString(16));
      hex[12] = '4';
      hex[16] = '8';
      const number = (uuids += 1).toString(16).padStart(12, '0');
      return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})$/, `$1-$2-$3-$4-${number}`);
    },
    beginStep(step) {
      state = (seed ^ Math.imul(step, 0x9e3779b1)) >>> 0;
      state = Math.floor(next() * 2 ** 32);
    },
  };
}
