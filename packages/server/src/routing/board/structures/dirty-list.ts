/**
 * Items that must be processed, each once. It works like a set, but the mark is on the item: nothing is hashed, and clearing is
 * cheap. An item can be in one dirty list at a time.
 */
export class DirtyList<Item extends { dirtyIn: object | null }> {
  readonly #items: Item[] = [];
  /** The number of slots in use; the rest of the array is reused after `clear`. */
  #used = 0;
  #size = 0;
  /** The mark of an item that was deleted but is still in the array, so that adding it again does not list it twice. */
  readonly #deleted = {};

  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    if (item.dirtyIn === this) return;
    if (item.dirtyIn !== this.#deleted) {
      this.#items[this.#used] = item;
      this.#used += 1;
    }
    item.dirtyIn = this;
    this.#size += 1;
  }

  delete(item: Item): void {
    if (item.dirtyIn !== this) return;
    item.dirtyIn = this.#deleted;
    this.#size -= 1;
  }

  clear(): void {
    for (let index = 0; index < this.#used; index += 1) {
      const item = this.#items[index];
      if (item !== undefined) item.dirtyIn = null;
    }
    this.#used = 0;
    this.#size = 0;
    // A few slots are kept for reuse; a long array would keep removed objects alive.
    if (this.#items.length > 8) this.#items.length = 8;
  }

  first(): Item | undefined {
    for (let index = 0; index < this.#used; index += 1) {
      const item = this.#items[index];
      if (item?.dirtyIn === this) return item;
    }
    return undefined;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let index = 0; index < this.#used; index += 1) {
      const item = this.#items[index];
      if (item?.dirtyIn === this) yield item;
    }
  }
}

/** An object that is written when it changes. */
interface Changing {
  /** The mark of the change list that contains the object. */
  changedIn: number | null;
  /** The changes that created the object; `null` or absent if it was loaded, or was written since. */
  createdIn?: object | null;
}

/** The mark of the newest change list. */
let lastMark = 0;

/**
 * Objects that have changed, each once, in the order of their first change. Marks its items like `DirtyList`, but with a number: a
 * reference from an old object to a new list would have to be recorded for the garbage collector.
 */
export class ChangeList<Item extends Changing> {
  readonly #items: Item[] = [];
  readonly #mark = (lastMark += 1);

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    if (item.changedIn === this.#mark) return;
    item.changedIn = this.#mark;
    this.#items.push(item);
  }

  /**
   * Ends `createdIn` of the objects that `changes` created, which this list is part of. It refers to the changes, and the changes
   * refer to objects that older changes created: all objects that were ever on the board would stay in memory.
   */
  unmark(changes: object): void {
    for (const item of this.#items) if (item.createdIn === changes) item.createdIn = null;
  }

  [Symbol.iterator](): ArrayIterator<Item> {
    return this.#items[Symbol.iterator]();
  }
}
