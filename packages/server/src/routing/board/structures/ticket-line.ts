/** What a line sorts its tickets by. */
interface Numbered {
  readonly seq: number;
}

/** A chunk of this length is moved within a cache line's time; a line of 100,000 tickets has 400 to 800 chunks. */
const chunkLength = 256;

/**
 * Tickets in the order of their sequence numbers. Nearly every ticket is appended at the end and leaves at the front, and neither
 * reads another ticket: with 100,000 waiting, each ticket that is read is a cache miss.
 *
 * The tickets are in chunks, which are never empty. `#starts` has a lower bound of the numbers in each chunk: it is above all
 * numbers of the chunk before.
 */
export class TicketLine<Ticket extends Numbered> {
  readonly #chunks: Ticket[][] = [];
  readonly #starts: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(ticket: Ticket): void {
    const { seq } = ticket;
    const at = Math.max(0, this.#chunkOf(seq));
    const chunk = this.#chunks[at];
    if (chunk === undefined || (chunk.length >= chunkLength && isAfter(ticket, chunk))) this.#open(at, ticket);
    else this.#insert(at, chunk, ticket);
    this.#size += 1;
  }

  /** Returns whether the ticket was in the line. */
  delete(ticket: Ticket): boolean {
    const at = this.#chunkOf(ticket.seq);
    const chunk = this.#chunks[at];
    const index = chunk === undefined ? -1 : chunk.indexOf(ticket);
    if (chunk === undefined || index === -1) return false;
    if (chunk.length === 1) {
      this.#chunks.splice(at, 1);
      this.#starts.splice(at, 1);
    } else if (index === 0) chunk.shift();
    else chunk.splice(index, 1);
    this.#size -= 1;
    return true;
  }

  first(): Ticket | undefined {
    return this.#chunks[0]?.[0];
  }

  firstWhere(matches: (ticket: Ticket) => boolean): Ticket | undefined {
    for (const chunk of this.#chunks) {
      const found = chunk.find(matches);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The number of tickets before this one, which must be in the line. Counts from the end, where new tickets are. */
  rank(ticket: Ticket): number {
    const at = this.#chunkOf(ticket.seq);
    const index = this.#chunks[at]?.lastIndexOf(ticket) ?? -1;
    if (index === -1) throw new Error('the ticket is not in the line');
    let before = this.#size;
    for (let each = this.#chunks.length - 1; each >= at; each -= 1) before -= this.#chunks[each]?.length ?? 0;
    return before + index;
  }

  *[Symbol.iterator](): Generator<Ticket> {
    for (const chunk of this.#chunks) yield* chunk;
  }

  /** The last chunk that starts at or before the number; -1 if it is before all of them. */
  #chunkOf(seq: number): number {
    let low = 0;
    let high = this.#starts.length;
    if (high > 0 && (this.#starts[high - 1] ?? 0) <= seq) return high - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Starts a chunk behind the full one, or the first chunk of all. */
  #open(full: number, ticket: Ticket): void {
    const at = Math.min(full + 1, this.#chunks.length);
    this.#chunks.splice(at, 0, [ticket]);
    this.#starts.splice(at, 0, ticket.seq);
  }

  #insert(at: number, chunk: Ticket[], ticket: Ticket): void {
    const { seq } = ticket;
    let index = chunk.length;
    while (index > 0 && (chunk[index - 1]?.seq ?? 0) >= seq) index -= 1;
    if (chunk[index] === ticket) throw new Error('the ticket is in the line already');
    if (index === chunk.length) chunk.push(ticket);
    else chunk.splice(index, 0, ticket);
    if (seq < (this.#starts[at] ?? 0)) this.#starts[at] = seq;
    if (chunk.length > chunkLength) this.#split(at, chunk);
  }

  #split(at: number, chunk: Ticket[]): void {
    const half = chunk.splice(chunkLength / 2);
    this.#chunks.splice(at + 1, 0, half);
    this.#starts.splice(at + 1, 0, half[0]?.seq ?? 0);
  }
}

function isAfter(ticket: Numbered, chunk: readonly Numbered[]): boolean {
  return ticket.seq > (chunk.at(-1)?.seq ?? 0);
}
