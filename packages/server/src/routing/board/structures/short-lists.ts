// A function that contains a closure allocates what the closure captures whenever it is called. The functions that every command
// calls therefore leave closures to functions of their own.

/** Short lists are copied on every change: most are empty, and an array that was ever pushed to keeps its larger capacity. */
export const none: readonly never[] = [];

export function including<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.length === 0 ? [item] : [...list, item];
}

/** Appends to a list that most often has one item: pushing to an empty array would reserve room for 17. */
export function appended<Item>(list: Item[], item: Item): Item[] {
  if (list.length === 0) return [item];
  list.push(item);
  return list;
}

export function without<Item>(list: readonly Item[], item: Item): readonly Item[] {
  if (!list.includes(item)) return list;
  return list.length === 1 ? none : withoutItem(list, item);
}

function withoutItem<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.filter((each) => each !== item);
}
