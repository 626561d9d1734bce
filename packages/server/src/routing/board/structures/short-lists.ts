/** Lists of the board are replaced, not changed, so that a command can go through one while it changes. */
export const none: readonly never[] = [];

export function including<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return [...list, item];
}

export function without<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.filter((each) => each !== item);
}
