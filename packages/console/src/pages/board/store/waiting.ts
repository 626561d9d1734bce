import type { QueueTicket } from '@usher/client/api-types';
import { SortedList } from './sorted-list.ts';

interface Line {
  /** Everybody who waits in the queue, those who are ringing at an operator among them. */
  readonly everybody: SortedList<QueueTicket>;
  /** Those who are not ringing: only they have a position. */
  readonly waiting: SortedList<QueueTicket>;
}

/** A transfer waits in a queue while its engagement goes on; a visitor's own ticket has no engagement yet. */
export function isTransfer({ engagement_id }: QueueTicket): boolean {
  return engagement_id !== null;
}

/** Who waits, in all queues and in each: by a ticket of their own, or by a transfer to a queue. */
export class Waiting {
  readonly #tickets = new Map<string, QueueTicket>();
  /** The order in which they were heard of: of two who came in the same millisecond the server tells the first one first. */
  readonly #heard = new Map<string, number>();
  #count = 0;
  readonly #lines = new Map<string, Line>();
  readonly #all = this.#newLine();

  /** One that waits no more is taken out. */
  put(ticket: QueueTicket): void {
    const heard = this.#heard.get(ticket.id) ?? (this.#count += 1);
    this.remove(ticket.id);
    if (ticket.state !== 'waiting' && ticket.state !== 'offered') return;
    this.#tickets.set(ticket.id, ticket);
    this.#heard.set(ticket.id, heard);
    for (const line of this.#linesOf(ticket)) {
      line.everybody.add(ticket);
      if (ticket.state === 'waiting') line.waiting.add(ticket);
    }
  }

  remove(id: string): void {
    const ticket = this.#tickets.get(id);
    if (ticket === undefined) return;
    this.#tickets.delete(id);
    for (const line of this.#linesOf(ticket)) {
      line.everybody.remove(ticket);
      line.waiting.remove(ticket);
    }
    this.#heard.delete(id);
  }

  get(id: string): QueueTicket | undefined {
    return this.#tickets.get(id);
  }

  ids(): Iterable<string> {
    return this.#tickets.keys();
  }

  /** Everybody, or those in one queue, in order. */
  in(queueId: string | null): readonly QueueTicket[] {
    return (queueId === null ? this.#all : this.#lines.get(queueId))?.everybody.items ?? [];
  }

  /** When the one who has waited longest came, in all queues or in one. Those who are ringing still wait. */
  longestSince(queueId: string | null): string | null {
    return this.in(queueId)[0]?.created_at ?? null;
  }

  /** 1 = next, in the queue, or in the one where it is furthest ahead; `null` for one who is ringing. */
  position(ticket: QueueTicket, queueId: string | null): number | null {
    const queues = queueId === null ? ticket.queue_ids : [queueId];
    const ranks = queues.map((id) => this.#lines.get(id)?.waiting.rank(ticket) ?? -1).filter((rank) => rank >= 0);
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
    // Instants are written alike, so they compare as text.
    const byComing = (a: QueueTicket, b: QueueTicket): number => {
      if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1;
      return (this.#heard.get(a.id) ?? 0) - (this.#heard.get(b.id) ?? 0);
    };
    return { everybody: new SortedList(byComing), waiting: new SortedList(byComing) };
  }
}
