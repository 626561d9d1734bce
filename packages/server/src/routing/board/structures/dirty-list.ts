/**
 * Items that must be processed, each once. It works like a set, but the mark is on the item: nothing is hashed, and clearing is
 * cheap. An item can be in one dirty list at a time.
 */
export class DirtyList<Thing extends { dirtyIn: object | null }> {
  readonly #things: Thing[] = [];
  /** The number of slots in use; the rest of the array is reused after `clear`. */
  #used = 0;
  #size = 0;
  /** The mark of an item that was deleted but is still in the array, so that adding it again does not list it twice. */
  readonly #deleted = {};

  get size(): number {
    return this.#size;
  }

  add(thing: Thing): void {
    if (thing.dirtyIn === this) return;
    if (thing.dirtyIn !== this.#deleted) {
      this.#things[this.#used] = thing;
      this.#used += 1;
    }
    thing.dirtyIn = this;
    this.#size += 1;
  }

  delete(thing: Thing): void {
    if (thing.dirtyIn !== this) return;
    thing.dirtyIn = this.#deleted;
    this.#size -= 1;
  }

  clear(): void {
    for (let index = 0; index < this.#used; index += 1) {
      const thing = this.#things[index];
      if (thing !== undefined) thing.dirtyIn = null;
    }
    this.#used = 0;
    this.#size = 0;
    // A few slots are kept for reuse; a long array would keep removed objects alive.
    if (this.#things.length > 8) this.#things.length = 8;
  }

  first(): Thing | undefined {
    for (let index = 0; index < this.#used; index += 1) {
      const thing = this.#things[index];
      if (thing?.dirtyIn === this) return thing;
    }
    return undefined;
  }

  *[Symbol.iterator](): Generator<Thing> {
    for (let index = 0; index < this.#used; index += 1) {
      const thing = this.#things[index];
      if (thing?.dirtyIn === this) yield thing;
    }
  }
}

/** An object that is written when it changes. */
interface Changing {
  /** The change list that contains the object. */
  changedIn: object | null;
  /** The changes that created the object; `null` or absent if it was loaded, or was written since. */
  createdIn?: object | null;
}

/** Objects that have changed, each once, in the order of their first change. Marks its items like `DirtyList`. */
export class ChangeList<Thing extends Changing> {
  readonly #things: Thing[] = [];

  get size(): number {
    return this.#things.length;
  }

  add(thing: Thing): void {
    if (thing.changedIn === this) return;
    thing.changedIn = this;
    this.#things.push(thing);
  }

  /**
   * Removes the marks of `changes`, which this list is part of. A mark refers to the changes, and the changes refer to objects
   * with older marks: marks that stayed would keep every object in memory that was ever on the board.
   */
  unmark(changes: object): void {
    for (const thing of this.#things) {
      if (thing.changedIn === this) thing.changedIn = null;
      if (thing.createdIn === changes) thing.createdIn = null;
    }
  }

  [Symbol.iterator](): ArrayIterator<Thing> {
    return this.#things[Symbol.iterator]();
  }
}
