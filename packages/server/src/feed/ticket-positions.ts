import { isDatabaseUnavailable, type Sql } from '../platform/database/database.ts';
import type { AccountId, TicketId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { ChangedIds } from '../routing/board-changes.ts';
import { activeTicketsOf } from '../routing/tickets/store.ts';
import { showNewTicket } from '../routing/tickets/ticket.ts';
import type { Turns } from '../routing/turns.ts';
import { itemAbout, type Item } from './items.ts';
import { viewTickets } from './states.ts';

interface TicketPositionsDependencies {
  readonly sql: Sql;
  readonly turns: Turns;
  readonly log: Log;
}

/** Throttles the checks: a visitor who leaves a long queue changes the positions of everybody behind them. */
const checkEveryMs = 1_000;

/**
 * Sends waiting visitors their new position. When a visitor ahead leaves, the tickets behind do not move themselves and the
 * log has no event for them; so the board is asked for the tickets of all connected visitors at once.
 */
export class TicketPositions {
  readonly #deps: TicketPositionsDependencies;
  readonly #accountId: AccountId;
  readonly #send: (items: readonly Item[]) => void;
  /** Connected visitors, with the number of their streams. */
  readonly #visitors = new Map<string, number>();
  /** The last sent state of each ticket. */
  #lastSent = new Map<TicketId, string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: TicketPositionsDependencies, accountId: AccountId, send: (items: readonly Item[]) => void) {
    this.#deps = deps;
    this.#accountId = accountId;
    this.#send = send;
  }

  watch(visitorId: string): void {
    this.#visitors.set(visitorId, (this.#visitors.get(visitorId) ?? 0) + 1);
  }

  unwatch(visitorId: string): void {
    const streams = this.#visitors.get(visitorId) ?? 0;
    if (streams > 1) this.#visitors.set(visitorId, streams - 1);
    else this.#visitors.delete(visitorId);
  }

  /** Tickets changed, so the positions of others may have changed. */
  scheduleCheck(changed: readonly ChangedIds[]): void {
    if (this.#visitors.size === 0 || !changed.some(({ tickets = [] }) => tickets.length > 0)) return;
    this.#timer ??= setTimeout(() => void this.#check(), checkEveryMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #check(): Promise<void> {
    try {
      const { sql, turns } = this.#deps;
      const tickets = await activeTicketsOf(sql, this.#accountId, [...this.#visitors.keys()]);
      const views = await viewTickets(
        turns,
        this.#accountId,
        tickets.map(({ id }) => id),
      );
      const sent = new Map<TicketId, string>();
      const items: Item[] = [];
      for (const view of views) {
        const now = `${view.state} ${view.position} ${view.estimatedWaitMs}`;
        sent.set(view.id, now);
        if (this.#lastSent.get(view.id) === now) continue;
        items.push(itemAbout('queue_ticket.state', showNewTicket(view), { visitorId: view.visitorId }));
      }
      this.#lastSent = sent;
      this.#send(items);
    } catch (error) {
      if (!isDatabaseUnavailable(error))
        this.#deps.log.error({ err: error }, 'could not read the positions of tickets');
    }
    this.#timer = null;
  }
}
