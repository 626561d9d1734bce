/** What a line sorts its tickets by. */
interface Numbered {
  readonly seq: number;
}

/** Long enough that a line of 100,000 tickets has few chunks, short enough that a chunk is searched and moved quickly. */
const chunkLength = 256;

/**
 * Tickets in the order of their sequence numbers. Nearly every ticket is appended at the end and leaves near the front, and
 * neither reads another ticket: with 100,000 waiting, each ticket that is read is a cache miss.
 *
 * The tickets are in chunks, none of which is empty. `#starts` has a lower bound of the numbers in each chunk, which is above all
 * numbers of the chunk before.
 */
export class TicketLine<Ticket extends Numbered> {
  readonly #chunks: (Ticket | undefined)[][] = [];
  readonly #starts: number[] = [];
  /** The number of free slots at the front of the first chunk. The other chunks have none. */
  #head = 0;
  /** No ticket in the line has a higher number. */
  #highest = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(ticket: Ticket): void {
    if (ticket.seq > this.#highest || this.#size === 0) this.#append(ticket);
    else this.#insert(ticket);
    this.#size += 1;
  }

  /** Returns whether the ticket was in the line. */
  delete(ticket: Ticket): boolean {
    const at = this.#chunkOf(ticket.seq);
    const chunk = this.#chunks[at];
    const index = chunk === undefined ? -1 : chunk.indexOf(ticket, at === 0 ? this.#head : 0);
    if (chunk === undefined || index === -1) return false;
    if (at === 0 && index === this.#head) this.#removeFirst(chunk);
    else if (at > 0 && chunk.length === 1) this.#dropChunk(at);
    else chunk.splice(index, 1);
    this.#size -= 1;
    return true;
  }

  first(): Ticket | undefined {
    return this.#chunks[0]?.[this.#head];
  }

  firstWhere(matches: (ticket: Ticket) => boolean): Ticket | undefined {
    for (const chunk of this.#chunks) {
      const found = chunk.find((ticket) => ticket !== undefined && matches(ticket));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The number of tickets before this one, which must be in the line. Counts from the end, where new tickets are. */
  rank(ticket: Ticket): number {
    const at = this.#chunkOf(ticket.seq);
    const chunk = this.#chunks[at];
    const index = chunk?.lastIndexOf(ticket) ?? -1;
    if (chunk === undefined || index === -1) throw new Error('the ticket is not in the line');
    let behind = chunk.length - 1 - index;
    for (let each = this.#chunks.length - 1; each > at; each -= 1) behind += this.#chunks[each]?.length ?? 0;
    return this.#size - 1 - behind;
  }

  *[Symbol.iterator](): Generator<Ticket> {
    for (const chunk of this.#chunks) for (const ticket of chunk) if (ticket !== undefined) yield ticket;
  }

  /** The last chunk that starts at or before the number, otherwise the first. The front and the end are looked at first. */
  #chunkOf(seq: number): number {
    const starts = this.#starts;
    if (starts.length < 2 || seq < (starts[1] ?? 0)) return 0;
    let low = 1;
    let high = starts.length - 1;
    if ((starts[high] ?? 0) <= seq) return high;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= seq) low = middle;
      else high = middle;
    }
    return low;
  }

  #append(ticket: Ticket): void {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.length < chunkLength) last.push(ticket);
    else {
      this.#chunks.push([ticket]);
      this.#starts.push(ticket.seq);
    }
    this.#highest = ticket.seq;
  }

  /** Adds a ticket in its place: one that was offered returns, or was changed by another process. */
  #insert(ticket: Ticket): void {
    const at = this.#chunkOf(ticket.seq);
    const chunk = this.#chunks[at] ?? [];
    const head = at === 0 ? this.#head : 0;
    const index = indexInChunk(chunk, head, ticket.seq);
    if (chunk[index] === ticket) throw new Error('the ticket is in the line already');
    if (index === head && head > 0) {
      this.#head -= 1;
      chunk[this.#head] = ticket;
    } else chunk.splice(index, 0, ticket);
    if (chunk.length > head + 2 * chunkLength) this.#addChunk(at + 1, chunk.splice(head + chunkLength));
  }

  #removeFirst(chunk: (Ticket | undefined)[]): void {
    chunk[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === chunk.length) this.#dropChunk(0);
  }

  #addChunk(at: number, chunk: (Ticket | undefined)[]): void {
    this.#chunks.splice(at, 0, chunk);
    this.#starts.splice(at, 0, chunk[0]?.seq ?? 0);
  }

  #dropChunk(at: number): void {
    this.#chunks.splice(at, 1);
    this.#starts.splice(at, 1);
    if (at === 0) this.#head = 0;
  }
}

/** The index of the first ticket from `head` on whose number is not lower: of the ticket itself, or where it belongs. */
function indexInChunk(chunk: readonly (Numbered | undefined)[], head: number, seq: number): number {
  let low = head;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((chunk[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
