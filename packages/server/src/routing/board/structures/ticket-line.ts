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
 * numbers of the chunk before. A ticket that leaves from within a chunk leaves a free slot: moving those behind it up would cost
 * more than everything else that is done with it.
 */
export class TicketLine<Ticket extends Numbered> {
  readonly #chunks: (Ticket | undefined)[][] = [];
  readonly #starts: number[] = [];
  /** The number of tickets in each chunk. */
  readonly #counts: number[] = [];
  /** The index of the first ticket in the first chunk. */
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
    this.#size -= 1;
    const count = (this.#counts[at] ?? 0) - 1;
    if (count === 0) this.#dropChunk(at);
    else {
      this.#counts[at] = count;
      chunk[index] = undefined;
    }
    if (at === 0) this.#findHead();
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
    const chunk = this.#chunks[at] ?? [];
    let behind = 0;
    let index = chunk.length - 1;
    for (; index >= 0 && chunk[index] !== ticket; index -= 1) if (chunk[index] !== undefined) behind += 1;
    if (index === -1) throw new Error('the ticket is not in the line');
    for (let each = this.#counts.length - 1; each > at; each -= 1) behind += this.#counts[each] ?? 0;
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
    const at = this.#chunks.length - 1;
    const last = this.#chunks[at];
    if (last !== undefined && last.length < chunkLength) {
      last.push(ticket);
      this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    } else {
      this.#chunks.push([ticket]);
      this.#starts.push(ticket.seq);
      this.#counts.push(1);
    }
    this.#highest = ticket.seq;
  }

  /** Adds a ticket in its place: one that was offered returns, or was changed by another process. */
  #insert(ticket: Ticket): void {
    const at = this.#chunkOf(ticket.seq);
    if (at === 0 && this.#head > 0 && ticket.seq < (this.first()?.seq ?? 0)) return this.#insertFirst(ticket);
    const tickets = (this.#chunks[at] ?? []).filter((each) => each !== undefined);
    const index = indexInChunk(tickets, ticket.seq);
    if (tickets[index] === ticket) throw new Error('the ticket is in the line already');
    tickets.splice(index, 0, ticket);
    const behind = tickets.length > 2 * chunkLength ? tickets.splice(chunkLength) : [];
    this.#chunks[at] = tickets;
    this.#counts[at] = tickets.length;
    if (at === 0) this.#head = 0;
    if (behind.length > 0) this.#addChunk(at + 1, behind);
    return undefined;
  }

  /** Adds a ticket in the free slot before the first one. */
  #insertFirst(ticket: Ticket): void {
    const first = this.#chunks[0];
    if (first === undefined) throw new Error('the line is empty');
    this.#head -= 1;
    first[this.#head] = ticket;
    this.#counts[0] = (this.#counts[0] ?? 0) + 1;
  }

  #findHead(): void {
    const first = this.#chunks[0];
    if (first === undefined) this.#head = 0;
    else while (first[this.#head] === undefined) this.#head += 1;
  }

  #addChunk(at: number, tickets: Ticket[]): void {
    this.#chunks.splice(at, 0, tickets);
    this.#starts.splice(at, 0, tickets[0]?.seq ?? 0);
    this.#counts.splice(at, 0, tickets.length);
  }

  #dropChunk(at: number): void {
    this.#chunks.splice(at, 1);
    this.#starts.splice(at, 1);
    this.#counts.splice(at, 1);
    if (at === 0) this.#head = 0;
  }
}

/** The index of the first ticket whose number is not lower: of the ticket itself, or where it belongs. */
function indexInChunk(tickets: readonly Numbered[], seq: number): number {
  let low = 0;
  let high = tickets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tickets[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
