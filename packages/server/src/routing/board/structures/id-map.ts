interface Identified<Id extends string> {
  readonly id: Id;
  /** The hash code of the id. The map sets it, so that removing the object does not read the id. */
  code: number;
}

/** The hash code in a free slot, and of an object that is in no map yet. */
export const noCode = 0;

const smallestCapacity = 16;
/** A map does not shrink below this number of slots: the requests of a busy account come and go with every turn. */
const keptCapacity = 1_024;

/**
 * Objects by their ids, for the tickets, visitors, requests and engagements of a board: up to hundreds of thousands, of which
 * each comes and goes once.
 *
 * A `Map` with string keys compares the strings themselves, and copies all of its entries again and again where keys come and go.
 * Here a small array of hash codes is searched, so that a lookup reads the one object it finds. It is a hash table with linear
 * probing: an object is in the first free slot at or after that of its hash code, and removing one moves those behind it up.
 */
export class IdMap<Id extends string, Thing extends Identified<Id>> {
  /** The hash code in each slot. */
  #codes = new Int32Array(smallestCapacity);
  #things: (Thing | undefined)[] = emptySlots(smallestCapacity);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: Id): Thing | undefined {
    const code = hash(id);
    const mask = this.#codes.length - 1;
    for (let slot = code & mask; this.#codes[slot] !== noCode; slot = (slot + 1) & mask) {
      if (this.#codes[slot] !== code) continue;
      const thing = this.#things[slot];
      if (thing?.id === id) return thing;
    }
    return undefined;
  }

  /** Adds an object. Its id must be new. */
  add(thing: Thing): void {
    if (2 * this.#size >= this.#codes.length) this.#resize(2 * this.#codes.length);
    thing.code = hash(thing.id);
    this.#put(thing.code, thing);
    this.#size += 1;
  }

  /** Returns whether the object was there. */
  delete(thing: Thing): boolean {
    const { code } = thing;
    const mask = this.#codes.length - 1;
    for (let slot = code & mask; this.#codes[slot] !== noCode; slot = (slot + 1) & mask) {
      if (this.#codes[slot] !== code || this.#things[slot] !== thing) continue;
      this.#free(slot);
      this.#size -= 1;
      if (8 * this.#size < this.#codes.length && this.#codes.length > keptCapacity)
        this.#resize(this.#codes.length / 2);
      return true;
    }
    return false;
  }

  /** In no particular order. */
  *values(): Generator<Thing> {
    for (const thing of this.#things) if (thing !== undefined) yield thing;
  }

  /** In the order of `values`. */
  *keys(): Generator<Id> {
    for (const { id } of this.values()) yield id;
  }

  #put(code: number, thing: Thing): void {
    const mask = this.#codes.length - 1;
    let slot = code & mask;
    for (; this.#codes[slot] !== noCode; slot = (slot + 1) & mask)
      if (this.#codes[slot] === code && this.#things[slot]?.id === thing.id)
        throw new Error(`the id ${thing.id} is in the map already`);
    this.#codes[slot] = code;
    this.#things[slot] = thing;
  }

  /** Frees a slot. Objects behind it that would no longer be found move up. */
  #free(slot: number): void {
    const mask = this.#codes.length - 1;
    let hole = slot;
    for (let next = (hole + 1) & mask; ; next = (next + 1) & mask) {
      const code = this.#codes[next] ?? noCode;
      if (code === noCode) break;
      // How far the object is from its own slot, and how far the hole is from there.
      if (((next - code) & mask) < ((next - hole) & mask)) continue;
      this.#codes[hole] = code;
      this.#things[hole] = this.#things[next];
      hole = next;
    }
    this.#codes[hole] = noCode;
    this.#things[hole] = undefined;
  }

  #resize(capacity: number): void {
    const codes = this.#codes;
    const things = this.#things;
    this.#codes = new Int32Array(capacity);
    this.#things = emptySlots(capacity);
    for (const [slot, thing] of things.entries()) if (thing !== undefined) this.#put(codes[slot] ?? noCode, thing);
  }
}

function emptySlots<Thing>(capacity: number): (Thing | undefined)[] {
  return Array.from<Thing | undefined>({ length: capacity });
}

/** The number of characters that are read, at the end: 32 random bits of a UUID. The ids of tests differ only there. */
const readLength = 8;

/** FNV-1a of the end of the id; never `noCode`. */
function hash(id: string): number {
  const { length } = id;
  let code = 0x811c9dc5;
  for (let index = Math.max(0, length - readLength); index < length; index += 1)
    code = Math.imul(code ^ id.charCodeAt(index), 0x01000193);
  code ^= code >>> 15;
  return code === noCode ? 1 : code;
}
