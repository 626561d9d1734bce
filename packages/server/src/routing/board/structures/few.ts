/**
 * A list that most often has one item or none: the item itself, or `null`. Each of 100,000 visitors has three such lists, and an
 * array is two objects to allocate, to move and to read.
 */
export type Few<Item extends object> = Item | readonly Item[] | null;

export function plus<Item extends object>(few: Few<Item>, item: Item): Few<Item> {
  return few === null ? item : [...listOf(few), item];
}

export function minus<Item extends object>(few: Few<Item>, item: Item): Few<Item> {
  return few === item ? null : isList(few) ? minusOf(few, item) : few;
}

function minusOf<Item extends object>(list: readonly Item[], item: Item): Few<Item> {
  const rest = list.filter((each) => each !== item);
  return rest.length > 1 ? rest : (rest[0] ?? null);
}

export function countOf<Item extends object>(few: Few<Item>): number {
  return few === null ? 0 : isList(few) ? few.length : 1;
}

/** In the order in which the items were added. */
export function listOf<Item extends object>(few: Few<Item>): readonly Item[] {
  if (few === null) return [];
  return isList(few) ? few : [few];
}

function isList<Item extends object>(few: Few<Item>): few is readonly Item[] {
  return Array.isArray(few);
}
