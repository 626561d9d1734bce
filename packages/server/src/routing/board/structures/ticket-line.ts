/** What a line sorts its tickets by. */
interface Numbered {
  readonly seq: number;
}

/** Long enough that a line of 100,000 tickets has few chunks, short enough that a chunk is searched and moved quickly. */
const chunkLength = 256;

/** Consecutive tickets of a line: at least one. */
interface Chunk<Ticket> {
  /** Above the numbers of the chunk before and, except in the first chunk, not above those of this one. */
  readonly start: number;
  /** A ticket that left is `undefined`. */
  tickets: (Ticket | undefined)[];
  /** The number of tickets. */
  count: number;
}

/**
 * Tickets in the order of their sequence numbers. Nearly every ticket is appended at the end and leaves near the front, and
 * neither reads another ticket: with 100,000 waiting, each ticket that is read is a cache miss.
 *
 * The tickets are in chunks. A ticket that leaves from within a chunk leaves a free slot: moving those behind it up would cost more
 * than everything else that is done with it.
 */
export class TicketLine<Ticket extends Numbered> {
  readonly #chunks: Chunk<Ticket>[] = [];
  /** The ends of the line are read most often. */
  #first: Chunk<Ticket> | null = null;
  #last: Chunk<Ticket> | null = null;
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
    const chunk = this.#chunkOf(ticket.seq);
    if (chunk === null) return false;
    const index = chunk.tickets.indexOf(ticket, chunk === this.#first ? this.#head : 0);
    if (index === -1) return false;
    chunk.tickets[index] = undefined;
    chunk.count -= 1;
    this.#size -= 1;
    if (chunk.count === 0) this.#dropChunk(chunk);
    else if (chunk === this.#first) this.#findHead(chunk);
    return true;
  }

  first(): Ticket | undefined {
    return this.#first?.tickets[this.#head];
  }

  firstWhere(matches: (ticket: Ticket) => boolean): Ticket | undefined {
    for (const { tickets } of this.#chunks) {
      const found = tickets.find((ticket) => ticket !== undefined && matches(ticket));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The number of tickets before this one, which must be in the line. Counts from the end, where new tickets are. */
  rank(ticket: Ticket): number {
    const chunk = this.#chunkOf(ticket.seq);
    const tickets = chunk?.tickets ?? [];
    let behind = 0;
    let index = tickets.length - 1;
    for (; index >= 0 && tickets[index] !== ticket; index -= 1) if (tickets[index] !== undefined) behind += 1;
    if (chunk === null || index === -1) throw new Error('the ticket is not in the line');
    if (chunk !== this.#last) behind += this.#countBehind(chunk);
    return this.#size - 1 - behind;
  }

  *[Symbol.iterator](): Generator<Ticket> {
    for (const { tickets } of this.#chunks) for (const ticket of tickets) if (ticket !== undefined) yield ticket;
  }

  #countBehind(chunk: Chunk<Ticket>): number {
    let count = 0;
    for (let at = this.#chunks.length - 1; at >= 0; at -= 1) {
      const each = this.#chunks[at];
      if (each === undefined || each === chunk) break;
      count += each.count;
    }
    return count;
  }

  /** The last chunk that starts at or before the number, otherwise the first. The ends of the line are looked at first. */
  #chunkOf(seq: number): Chunk<Ticket> | null {
    if (this.#last === null || this.#last.start <= seq) return this.#last;
    const second = this.#chunks[1];
    if (second === undefined || seq < second.start) return this.#first;
    return this.#search(seq);
  }

  /** Finds a chunk that is neither the first nor the last. */
  #search(seq: number): Chunk<Ticket> | null {
    let low = 1;
    let high = this.#chunks.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#chunks[middle]?.start ?? 0) <= seq) low = middle;
      else high = middle;
    }
    return this.#chunks[low] ?? null;
  }

  #append(ticket: Ticket): void {
    const last = this.#last;
    if (last !== null && last.tickets.length < chunkLength) {
      last.tickets.push(ticket);
      last.count += 1;
    } else this.#addChunk(this.#chunks.length, [ticket]);
    this.#highest = ticket.seq;
  }

  /** Adds a ticket in its place: one that was offered returns, or was changed by another process. */
  #insert(ticket: Ticket): void {
    const chunk = this.#chunkOf(ticket.seq);
    if (chunk === null) throw new Error('the line is empty');
    if (chunk === this.#first && this.#head > 0 && ticket.seq < (this.first()?.seq ?? 0)) {
      this.#head -= 1;
      chunk.tickets[this.#head] = ticket;
      chunk.count += 1;
      return;
    }
    if (chunk.count < chunk.tickets.length) this.#removeFreeSlots(chunk);
    const { tickets } = chunk;
    const index = indexInChunk(tickets, ticket.seq);
    if (tickets[index] === ticket) throw new Error('the ticket is in the line already');
    tickets.splice(index, 0, ticket);
    const behind = tickets.length > 2 * chunkLength ? tickets.splice(chunkLength) : [];
    chunk.count = tickets.length;
    if (behind.length > 0) this.#addChunk(this.#chunks.indexOf(chunk) + 1, behind);
  }

  #removeFreeSlots(chunk: Chunk<Ticket>): void {
    chunk.tickets = chunk.tickets.filter((ticket) => ticket !== undefined);
    if (chunk === this.#first) this.#head = 0;
  }

  #findHead({ tickets }: Chunk<Ticket>): void {
    while (tickets[this.#head] === undefined) this.#head += 1;
  }

  #addChunk(at: number, tickets: Chunk<Ticket>['tickets']): void {
    this.#chunks.splice(at, 0, { start: tickets[0]?.seq ?? 0, tickets, count: tickets.length });
    this.#setEnds();
  }

  #dropChunk(chunk: Chunk<Ticket>): void {
    this.#chunks.splice(this.#chunks.indexOf(chunk), 1);
    const wasFirst = chunk === this.#first;
    this.#setEnds();
    if (!wasFirst) return;
    this.#head = 0;
    if (this.#first !== null) this.#findHead(this.#first);
  }

  #setEnds(): void {
    this.#first = this.#chunks[0] ?? null;
    this.#last = this.#chunks.at(-1) ?? null;
  }
}

/** The index of the first ticket whose number is not lower: of the ticket itself, or where it belongs. There are no free slots. */
function indexInChunk(tickets: readonly (Numbered | undefined)[], seq: number): number {
  let low = 0;
  let high = tickets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tickets[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
