import { media, type Medium } from '@usher/contract/media';
import { indexOfMedium, setOf, type MediaSet } from './media.ts';
import { newTicketLine, type TicketLine } from './ticket-line.ts';

/** What a ticket is sorted by. */
interface Waiting {
  readonly seq: number;
  readonly medium: Medium;
}

/** Waiting tickets in one line per medium, oldest first. */
export class WaitingTickets<Ticket extends Waiting> {
  readonly #lines = media.map(() => newTicketLine<Ticket>());
  /** The media of the tickets. Most often all wait for the same one, and the other lines need not be looked at. */
  media: MediaSet = 0;

  /** The line of the medium with this index in `media`. */
  line(index: number): TicketLine<Ticket> {
    const line = this.#lines[index];
    if (line === undefined) throw new Error(`there is no medium ${index}`);
    return line;
  }

  add(ticket: Ticket): void {
    this.line(indexOfMedium(ticket.medium)).add(ticket);
    this.media |= setOf(ticket.medium);
  }

  delete(ticket: Ticket): void {
    const line = this.line(indexOfMedium(ticket.medium));
    line.delete(ticket);
    if (line.size === 0) this.media &= ~setOf(ticket.medium);
  }
}
