/** A sorted list with binary search, so that a queue of thousands can change many times a second. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  add(item: T): void {
    this.#items.splice(this.#insertionIndex(item), 0, item);
  }

  /** Removes the item that compares as equal. */
  remove(item: T): void {
    const index = this.indexOf(item);
    if (index >= 0) this.#items.splice(index, 1);
  }

  /** The index of the item; -1 if it is not in the list. */
  indexOf(item: T): number {
    const index = this.#insertionIndex(item);
    const found = this.#items[index];
    return found !== undefined && this.#compare(found, item) === 0 ? index : -1;
  }

  #insertionIndex(item: T): number {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.#items[middle];
      if (at !== undefined && this.#compare(at, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
