import type { QueueTicket } from '@usher/client/api-types';
import { SortedList } from './sorted-list.ts';

/** Whoever came first stands first. Instants are written alike, so they compare as text; ids are made in order, too. */
function byComing(a: QueueTicket, b: QueueTicket): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}

interface Line {
  /** Everybody in the queue, those under offer among them. */
  readonly everybody: SortedList<QueueTicket>;
  /** Those who still wait: only they have a position. */
  readonly waiting: SortedList<QueueTicket>;
}

const newLine = (): Line => ({ everybody: new SortedList(byComing), waiting: new SortedList(byComing) });

export interface Standing {
  readonly waiting: number;
  /** When the one who has waited longest came. */
  readonly longestSince: string | null;
}

/** Who waits, in all queues and in each. */
export class Waiting {
  readonly #tickets = new Map<string, QueueTicket>();
  readonly #all = newLine();
  readonly #lines = new Map<string, Line>();

  /** One that waits no more is taken out. */
  put(ticket: QueueTicket): void {
    this.remove(ticket.id);
    if (ticket.state !== 'waiting' && ticket.state !== 'offered') return;
    this.#tickets.set(ticket.id, ticket);
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

  standing(queueId: string | null): Standing {
    const line = (queueId === null ? this.#all : this.#lines.get(queueId))?.waiting.items ?? [];
    return { waiting: line.length, longestSince: line[0]?.created_at ?? null };
  }

  /** 1 = next, in the queue, or in the one where it is furthest ahead; `null` for one under offer. */
  position(ticket: QueueTicket, queueId: string | null): number | null {
    const queues = queueId === null ? ticket.queue_ids : [queueId];
    const ranks = queues.map((id) => this.#lines.get(id)?.waiting.rank(ticket) ?? -1).filter((rank) => rank >= 0);
    return ranks.length === 0 ? null : Math.min(...ranks) + 1;
  }

  #linesOf(ticket: QueueTicket): Line[] {
    const lines = [this.#all];
    for (const id of ticket.queue_ids) {
      const line = this.#lines.get(id) ?? newLine();
      this.#lines.set(id, line);
      lines.push(line);
    }
    return lines;
  }
}
