import { isDatabaseUnavailable } from '../../platform/database.ts';
import type { Changes } from './changes.ts';
import { mostToDestination, type Courier } from './courier.ts';
import { decide } from './decide.ts';
import type { Delivery } from './delivery.ts';
import type { Destination } from './destination.ts';
import type { Holdings } from './holdings.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { Outcome } from './outcomes.ts';
import type { Standing } from './standing.ts';
import { failedUnmade, turnedAway, whyNot } from './untried.ts';
import type { WebhookBook } from './webhook-book.ts';
import type { WriteOffs } from './write-offs.ts';

/** Requests under way in this process, in all. */
const mostSending = 2_048;
/** A destination may use that part of what is free, so that there is always some left for the next one. */
const shareOfFree = 1 / 16;
/** When the process stops, requests under way have so long. */
const drainMs = 7_000;
/** How long nothing is sent to a destination whose name could not even be looked up, and after the database could not be reached. */
const unresolvedPauseMs = 1_000;
const unavailablePauseMs = 250;

interface SendingParts {
  readonly book: WebhookBook;
  readonly courier: Courier;
  readonly holdings: Holdings;
  readonly leases: LeaseKeeper;
  readonly changes: Changes;
  readonly writeOffs: WriteOffs;
  readonly standing: Standing;
  /** There may be something to read or to write. */
  readonly wake: () => void;
  readonly complain: (error: unknown, what: string) => void;
}

/**
 *   open      sends what is ready
 *   draining  sends nothing more; what becomes of the requests under way is still written. `done` is called after the last
 *   closed    what becomes of a request that is still under way is ignored: whoever takes over the destination sends it again
 *
 *   open —drain→ draining —the last request ends, or `drainMs` pass→ closed
 */
type Mode =
  { readonly state: 'open' } | { readonly state: 'draining'; readonly done: () => void } | { readonly state: 'closed' };

/** Sends what destinations have ready, and settles what becomes of it. */
export class Sending {
  readonly #parts: SendingParts;
  #mode: Mode = { state: 'open' };
  #count = 0;

  constructor(parts: SendingParts) {
    this.#parts = parts;
  }

  /** Requests under way. */
  get count(): number {
    return this.#count;
  }

  /** Sends nothing more; resolves when nothing is under way, or has been given up. */
  async drain(): Promise<void> {
    if (this.#count > 0) {
      const { promise, resolve: done } = Promise.withResolvers<void>();
      this.#mode = { state: 'draining', done };
      const timer = setTimeout(done, drainMs);
      await promise;
      clearTimeout(timer);
    }
    this.#mode = { state: 'closed' };
  }

  /** Sends as much as may be sent to the destination now. */
  pump(destination: Destination): void {
    while (this.#maySend(destination) && this.#isResolved(destination)) {
      const delivery = destination.lanes.take();
      if (delivery === undefined) break;
      destination.sending += 1;
      this.#count += 1;
      destination.activeAt = performance.now();
      void this.#deliver(destination, delivery);
    }
    if (destination.isHungry(performance.now())) this.#parts.wake();
  }

  #maySend(destination: Destination): boolean {
    const now = performance.now();
    if (this.#mode.state !== 'open' || now < destination.pausedUntil || !this.#isOurs(destination, now)) return false;
    if (this.#parts.changes.concern(destination)) return false;
    const state = destination.breaker.state(now);
    if (state !== 'closed') return state === 'half_open' && destination.sending === 0;
    const free = Math.floor((mostSending - this.#count) * shareOfFree);
    return destination.sending < Math.min(mostToDestination, Math.max(1, free));
  }

  /**
   * A destination waits for its name here, where it takes no place that another could have. A destination whose name does not
   * resolve is sent to all the same: the attempt fails at once, and is written as any other.
   */
  #isResolved(destination: Destination): boolean {
    const { courier } = this.#parts;
    if (courier.isPrepared(destination)) return true;
    if (destination.isResolving || destination.lanes.readyCount === 0) return false;
    destination.isResolving = true;
    void courier.prepare(destination).then(() => {
      destination.isResolving = false;
      if (!courier.isPrepared(destination)) destination.pausedUntil = performance.now() + unresolvedPauseMs;
      this.pump(destination);
    });
    return false;
  }

  /** The lease is ours, and nobody can have taken it. */
  #isOurs(destination: Destination, now: number): boolean {
    return this.#parts.holdings.isOurs(destination) && this.#parts.leases.mayUse(destination.terms, now);
  }

  async #deliver(destination: Destination, delivery: Delivery): Promise<void> {
    const { book, courier, standing, writeOffs } = this.#parts;
    try {
      const { payload, webhookId } = delivery;
      const webhook = book.peek(webhookId) ?? (await book.get(webhookId));
      const why = whyNot(webhook, delivery);
      // Reading the webhook may have taken so long that the delivery is another's to send.
      if (!this.#isOurs(destination, performance.now())) destination.lanes.putBack(delivery);
      else if (webhook !== null && webhook.destinationId !== destination.id) this.#sendOn(destination, delivery);
      else if (webhook === null || payload === null || why !== null)
        this.#settle(destination, turnedAway(delivery, destination.epoch, webhook));
      else {
        const at = new Date();
        const attempt = await courier.carry(destination, delivery, webhook, payload);
        if (attempt.unavailable === true) destination.breaker.unanswered(performance.now());
        else if (attempt.unavailable === false) destination.breaker.answered();
        writeOffs.patience.note(destination, attempt);
        standing.note(webhook, attempt);
        const decided = decide(delivery, attempt, Math.random());
        this.#settle(destination, { delivery, epoch: destination.epoch, at, ...decided, attempt, note: null });
      }
    } catch (error) {
      // The webhook could not be read: nothing was sent.
      this.#parts.complain(error, 'a delivery could not be made; it is tried again');
      if (isDatabaseUnavailable(error)) {
        destination.lanes.putBack(delivery);
        destination.pausedUntil = performance.now() + unavailablePauseMs;
      } else {
        // The delivery must not hold up others.
        this.#settle(destination, failedUnmade(delivery, destination.epoch));
      }
    }
    destination.sending -= 1;
    this.#count -= 1;
    if (this.#count === 0 && this.#mode.state === 'draining') this.#mode.done();
    this.pump(destination);
  }

  /** The webhook has moved. Sent from here, the delivery would bring what is meant for the new address to the old one. */
  #sendOn(destination: Destination, delivery: Delivery): void {
    this.#goOn(destination, delivery, 'pass');
    this.#parts.writeOffs.addStray(delivery);
  }

  #goOn(destination: Destination, delivery: Delivery, then: 'pass' | 'wait'): void {
    destination.settle(delivery, then);
    if (!destination.isResuming) return;
    this.#parts.holdings.resuming.add(destination);
    this.#parts.wake();
  }

  #settle(destination: Destination, outcome: Outcome): void {
    const { delivery, state, parked } = outcome;
    // A destination that was taken from us: whoever has it now finds out what becomes of its deliveries.
    if (!this.#parts.holdings.isOurs(destination) || this.#mode.state === 'closed') return;
    this.#goOn(destination, delivery, state === 'retrying' && !parked ? 'wait' : 'pass');
    this.#parts.writeOffs.add(outcome);
  }
}
