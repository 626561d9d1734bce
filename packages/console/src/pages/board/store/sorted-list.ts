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
    this.#items.splice(this.#place(item), 0, item);
  }

  /** Removes the item that compares as equal. */
  remove(item: T): void {
    const place = this.rank(item);
    if (place >= 0) this.#items.splice(place, 1);
  }

  /** The index of the item; -1 if it is not in the list. */
  rank(item: T): number {
    const place = this.#place(item);
    const found = this.#items[place];
    return found !== undefined && this.#compare(found, item) === 0 ? place : -1;
  }

  #place(item: T): number {
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
