/** What waits, by owner. Owners take turns, so one that has much waiting delays the others by one item each time. */
export class FairQueue<Owner, Item> {
  /** Never empty lists, in the order in which the owners come next. */
  readonly #waiting = new Map<Owner, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(owner: Owner, item: Item): void {
    const own = this.#waiting.get(owner);
    if (own === undefined) this.#waiting.set(owner, [item]);
    else own.push(item);
    this.#size += 1;
  }

  /** Removes up to `most` items: the oldest of each owner in turn, beginning after the owner of the last one taken. */
  take(most: number): Item[] {
    const taken: Item[] = [];
    // The iteration also visits owners that are put back at the end.
    for (const [owner, items] of this.#waiting) {
      if (taken.length === most) break;
      taken.push(...items.splice(0, 1));
      this.#waiting.delete(owner);
      if (items.length > 0) this.#waiting.set(owner, items);
    }
    this.#size -= taken.length;
    return taken;
  }
}
