/**
 * Things to come back to, each once. Like a set, but the mark is on the thing: nothing is hashed, and emptying it costs
 * nothing. A thing may be marked in one of these at a time.
 */
export class DirtyList<Thing extends { dirtyIn: object | null }> {
  readonly #things: Thing[] = [];
  /** So many of the things are from this round; the rest of the array waits for the next. */
  #used = 0;
  #size = 0;
  /** The mark of what is listed still, but was deleted: added again, it is not listed twice. */
  readonly #struck = {};

  get size(): number {
    return this.#size;
  }

  add(thing: Thing): void {
    if (thing.dirtyIn === this) return;
    if (thing.dirtyIn !== this.#struck) {
      this.#things[this.#used] = thing;
      this.#used += 1;
    }
    thing.dirtyIn = this;
    this.#size += 1;
  }

  /** It need not be come back to. */
  delete(thing: Thing): void {
    if (thing.dirtyIn !== this) return;
    thing.dirtyIn = this.#struck;
    this.#size -= 1;
  }

  clear(): void {
    for (let index = 0; index < this.#used; index += 1) {
      const thing = this.#things[index];
      if (thing !== undefined) thing.dirtyIn = null;
    }
    this.#used = 0;
    this.#size = 0;
    // A few stay for the next round; an array that was once long would hold on to what is long gone.
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

/** Things that have changed, each once, in the order they first did: as above, and only ever added to. */
export class ChangeList<Thing extends { changedIn: object | null }> {
  readonly #things: Thing[] = [];

  get size(): number {
    return this.#things.length;
  }

  add(thing: Thing): void {
    if (thing.changedIn === this) return;
    thing.changedIn = this;
    this.#things.push(thing);
  }

  [Symbol.iterator](): ArrayIterator<Thing> {
    return this.#things[Symbol.iterator]();
  }
}
