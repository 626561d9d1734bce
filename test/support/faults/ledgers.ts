import assert from 'node:assert/strict';
import type { Json } from '../server.ts';
import { OrderLedger } from '../receivers/ordered-load.ts';

/** What the run of a fault showed. */
export interface Verdict {
  readonly acknowledged: number;
  /** Changes that were acknowledged and are missing: in the database, at the webhook receiver or on a feed. */
  readonly lost: readonly string[];
  /** Changes that arrived at the receiver or on a feed although the database does not have them. */
  readonly invented: readonly string[];
  /** Changes of one engagement that arrived for the first time after a later one. */
  readonly outOfOrder: readonly string[];
  /** Changes that are in the database, or were sent on one feed, more than once. */
  readonly doubled: number;
  /** Deliveries that the receiver had received before, which is allowed. */
  readonly repeated: number;
  /** The longest time without an acknowledged change, while clients were trying. */
  readonly longestStopMs: number;
}

/**
 * Independent records of the same changes: what clients were answered, what the webhook receiver got, what readers of the live feed saw,
 * and what the database has in the end. A change is written as its lane and its number in the lane: `<writer> 17` is a message, and
 * `<engagement> 0`, `1` and `2` are the start, the message and the end of a short engagement. Each next change of a lane is requested only
 * after the one before was acknowledged.
 */
export class Ledgers {
  readonly #acknowledged = new Set<string>();
  readonly #tickets = new Set<string>();
  readonly receiver = new OrderLedger();
  readonly feeds: readonly OrderLedger[];
  /** When changes were acknowledged. */
  readonly #instants: number[] = [];
  #lastAt = performance.now();
  #longestStopMs = 0;

  constructor(feeds: number) {
    this.feeds = Array.from({ length: feeds }, () => new OrderLedger());
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Records a change whose request was answered with success. */
  acknowledge(change: string): void {
    this.#acknowledged.add(change);
    this.#endStop();
  }

  acknowledgeTicket(id: string): void {
    this.#tickets.add(id);
    this.#endStop();
  }

  /** The changes that are acknowledged at this moment. */
  snapshot(): readonly string[] {
    return [...this.#acknowledged];
  }

  /** Which of these changes have not arrived at the receiver or on a feed. */
  missing(changes: readonly string[]): string[] {
    const ledgers = Object.entries({ receiver: this.receiver, ...feedsByName(this.feeds) });
    return ledgers.flatMap(([where, ledger]) => ledger.missing(changes).map((change) => `${where}: ${change}`));
  }

  /** The instant of the first change that was acknowledged after `since`. */
  firstAfter(since: number): number {
    return this.#instants.find((instant) => instant > since) ?? assert.fail('nothing was acknowledged since');
  }

  /** From now on the time without an acknowledged change counts. */
  startWatch(): void {
    this.#lastAt = performance.now();
    this.#longestStopMs = 0;
  }

  judge(stored: StoredChanges): Verdict {
    const [log, transcripts] = [new OrderLedger(), new OrderLedger()];
    for (const message of stored.messages) transcripts.record(message);
    for (const event of stored.events) {
      const change = changeOf(event.type, event.payload);
      if (change !== null) log.record(change);
    }
    const arrivals = Object.entries({ log, transcripts, receiver: this.receiver, ...feedsByName(this.feeds) });
    const messages = [...this.#acknowledged].filter((change) => !isStartOrEnd(change));
    const tickets = new Set(stored.tickets);
    return {
      acknowledged: this.#acknowledged.size + this.#tickets.size,
      lost: [
        ...arrivals.flatMap(([where, ledger]) =>
          // Only the messages of an engagement are in its transcript.
          ledger.missing(ledger === transcripts ? messages : this.#acknowledged).map((change) => `${where}: ${change}`),
        ),
        ...[...this.#tickets].filter((id) => !tickets.has(id)).map((id) => `tickets: ${id}`),
      ],
      invented: arrivals.flatMap(([where, ledger]) => ledger.notIn(log).map((change) => `${where}: ${change}`)),
      outOfOrder: arrivals.flatMap(([where, { overtaken }]) => overtaken.map(({ content }) => `${where}: ${content}`)),
      doubled: [log, transcripts, ...this.feeds].reduce((sum, { repeated }) => sum + repeated, 0),
      repeated: this.receiver.repeated,
      longestStopMs: this.#longestStopMs,
    };
  }

  #endStop(): void {
    const now = performance.now();
    this.#instants.push(now);
    this.#longestStopMs = Math.max(this.#longestStopMs, now - this.#lastAt);
    this.#lastAt = now;
  }
}

/** What the database has in the end. */
export interface StoredChanges {
  /** The event log, oldest first. */
  readonly events: readonly { readonly type: string; readonly payload: Json }[];
  /** The messages of all transcripts, each transcript in its order. */
  readonly messages: readonly string[];
  readonly tickets: readonly string[];
}

function feedsByName(feeds: readonly OrderLedger[]): Record<string, OrderLedger> {
  return Object.fromEntries(feeds.map((ledger, index) => [`feed ${index + 1}`, ledger]));
}

function isStartOrEnd(change: string): boolean {
  const [lane = '', number] = change.split(' ');
  // The lane of a short engagement is its id; the lanes of writers are numbers.
  return lane.includes('-') && number !== '1';
}

/** The change that an event reports; `null` if the ledgers do not record such events. */
export function changeOf(type: string, payload: Json): string | null {
  switch (type) {
    case 'engagement.start':
      return `${payload.engagement.id} 0`;
    case 'engagement.chat.message':
      return payload.message.content;
    case 'engagement.end':
      return `${payload.engagement.id} 2`;
    default:
      return null;
  }
}
