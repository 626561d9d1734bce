import { OrderedSet } from './ordered-set.ts';

/** Tickets in the order of their sequence numbers. */
export type TicketLine<Ticket> = OrderedSet<Ticket>;

export function newTicketLine<Ticket extends { readonly seq: number }>(): TicketLine<Ticket> {
  return new OrderedSet((one, other) => one.seq - other.seq);
}
