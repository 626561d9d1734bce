import { isDatabaseUnavailable, type Sql } from '../platform/database.ts';
import type { AccountId, TicketId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { MovedIds } from '../routing/load-board.ts';
import { activeTicketsOf } from '../routing/tickets/store.ts';
import { showNewTicket } from '../routing/tickets/ticket.ts';
import type { Turns } from '../routing/turns.ts';
import { itemAbout, type Item } from './items.ts';
import { lookAt } from './states.ts';

interface Parts {
  readonly sql: Sql;
  readonly turns: Turns;
  readonly log: Log;
}

/** Positions are looked at no more often than this: whoever leaves a long line moves everybody behind. */
const everyMs = 1_000;

/**
 * Tells waiting visitors how they come forward. A ticket itself does not move when somebody before it leaves, so nothing
 * in the log says so; the board is asked, for all who are connected at once.
 */
export class TicketPositions {
  readonly #parts: Parts;
  readonly #accountId: AccountId;
  readonly #deal: (items: readonly Item[]) => void;
  /** Connected visitors, and how often. */
  readonly #visitors = new Map<string, number>();
  /** What was last said of a ticket. */
  #said = new Map<TicketId, string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: Parts, accountId: AccountId, deal: (items: readonly Item[]) => void) {
    this.#parts = parts;
    this.#accountId = accountId;
    this.#deal = deal;
  }

  watch(visitorId: string): void {
    this.#visitors.set(visitorId, (this.#visitors.get(visitorId) ?? 0) + 1);
  }

  unwatch(visitorId: string): void {
    const times = this.#visitors.get(visitorId) ?? 0;
    if (times > 1) this.#visitors.set(visitorId, times - 1);
    else this.#visitors.delete(visitorId);
  }

  /** Somebody came, left or was offered: others may have come forward. */
  look(moved: readonly MovedIds[]): void {
    if (this.#visitors.size === 0 || !moved.some(({ tickets = [] }) => tickets.length > 0)) return;
    this.#timer ??= setTimeout(() => void this.#lookNow(), everyMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #lookNow(): Promise<void> {
    try {
      const { sql, turns } = this.#parts;
      const tickets = await activeTicketsOf(sql, this.#accountId, [...this.#visitors.keys()]);
      const views = await lookAt(
        turns,
        this.#accountId,
        tickets.map(({ id }) => id),
      );
      const said = new Map<TicketId, string>();
      const items: Item[] = [];
      for (const view of views) {
        const now = `${view.state} ${view.position} ${view.estimatedWaitMs}`;
        said.set(view.id, now);
        if (this.#said.get(view.id) === now) continue;
        items.push(itemAbout('queue_ticket.state', showNewTicket(view), { visitorId: view.visitorId }));
      }
      this.#said = said;
      this.#deal(items);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.#parts.log.error({ err: error }, 'positions could not be looked at');
    }
    this.#timer = null;
  }
}
