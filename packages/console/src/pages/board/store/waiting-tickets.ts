import type { QueueTicket } from '@usher/sdk/api-types';
import { SortedList } from './sorted-list.ts';

interface Line {
  /** All tickets that wait in the queue, including those ringing at an operator. */
  readonly all: SortedList<QueueTicket>;
  /** The tickets that are not ringing: only these have a position. */
  readonly waiting: SortedList<QueueTicket>;
}

/** A transfer waits in a queue while its engagement continues; a visitor's own ticket has no engagement yet. */
export function isTransfer({ engagement_id }: QueueTicket): boolean {
  return engagement_id !== null;
}

/** The tickets that wait, of all queues and by queue: visitors' own tickets and transfers. */
export class WaitingTickets {
  readonly #tickets = new Map<string, QueueTicket>();
  /**
   * The order of arrival here. It decides between two tickets of the same millisecond, because the server sends the first one
   * first.
   */
  readonly #arrivals = new Map<string, number>();
  #count = 0;
  readonly #lines = new Map<string, Line>();
  readonly #all = this.#newLine();

  /** Adds or updates a ticket; removes one that no longer waits. */
  put(ticket: QueueTicket): void {
    const arrival = this.#arrivals.get(ticket.id) ?? (this.#count += 1);
    this.remove(ticket.id);
    if (ticket.state !== 'waiting' && ticket.state !== 'offered') return;
    this.#tickets.set(ticket.id, ticket);
    this.#arrivals.set(ticket.id, arrival);
    for (const line of this.#linesOf(ticket)) {
      line.all.add(ticket);
      if (ticket.state === 'waiting') line.waiting.add(ticket);
    }
  }

  remove(id: string): void {
    const ticket = this.#tickets.get(id);
    if (ticket === undefined) return;
    this.#tickets.delete(id);
    for (const line of this.#linesOf(ticket)) {
      line.all.remove(ticket);
      line.waiting.remove(ticket);
    }
    this.#arrivals.delete(id);
  }

  get(id: string): QueueTicket | undefined {
    return this.#tickets.get(id);
  }

  ids(): Iterable<string> {
    return this.#tickets.keys();
  }

  /** All waiting tickets, or those of one queue, in order. */
  list(queueId: string | null): readonly QueueTicket[] {
    return (queueId === null ? this.#all : this.#lines.get(queueId))?.all.items ?? [];
  }

  /** When the longest wait began, in all queues or in one. Ringing tickets count as waiting. */
  longestSince(queueId: string | null): string | null {
    return this.list(queueId)[0]?.created_at ?? null;
  }

  /** 1 = next: the position in the queue, or the best one of all its queues; `null` while ringing. */
  position(ticket: QueueTicket, queueId: string | null): number | null {
    const queues = queueId === null ? ticket.queue_ids : [queueId];
    const ranks = queues.map((id) => this.#lines.get(id)?.waiting.indexOf(ticket) ?? -1).filter((rank) => rank >= 0);
    return ranks.length === 0 ? null : Math.min(...ranks) + 1;
  }

  #linesOf(ticket: QueueTicket): Line[] {
    const lines = [this.#all];
    for (const id of ticket.queue_ids) {
      const line = this.#lines.get(id) ?? this.#newLine();
      this.#lines.set(id, line);
      lines.push(line);
    }
    return lines;
  }

  #newLine(): Line {
    // All timestamps have the same format, so they compare as text.
    const byArrival = (a: QueueTicket, b: QueueTicket): number => {
      if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1;
      return (this.#arrivals.get(a.id) ?? 0) - (this.#arrivals.get(b.id) ?? 0);
    };
    return { all: new SortedList(byArrival), waiting: new SortedList(byArrival) };
  }
}
