import type { QueueId } from '../platform/ids.ts';

/**
 * Finds items of a list by the id of their queue. `n` is where the item is if the list has not changed, and then nothing is looked up;
 * otherwise the list is indexed once. For lists of thousands of queues that are compared after each change.
 */
export function findInOrder<Item>(
  items: readonly Item[],
  idOf: (item: Item) => QueueId,
): (id: QueueId, n: number) => Item | undefined {
  let byId: Map<QueueId, Item> | null = null;
  return (id, n) => {
    const expected = items[n];
    if (expected !== undefined && idOf(expected) === id) return expected;
    byId ??= new Map(items.map((item) => [idOf(item), item]));
    return byId.get(id);
  };
}
