import { isDatabaseUnavailable } from '../../platform/database/database.ts';
import type { StaleDestinations } from './reading/stale-destinations.ts';
import { maxPerDestination, type Transport } from './transport.ts';
import { decide } from './outcomes/decide.ts';
import type { Delivery } from './delivery.ts';
import type { Destination } from './destination.ts';
import type { LeasedDestinations } from './leases/leased-destinations.ts';
import type { LeaseKeeper } from './leases/lease-keeper.ts';
import type { MovingAccounts } from './leases/moving-accounts.ts';
import type { Outcome } from './outcomes/outcomes.ts';
import type { WebhookHealth } from './outcomes/webhook-health.ts';
import { unbuiltOutcome, skippedOutcome, reasonNotSent } from './outcomes/unsent-outcomes.ts';
import type { WebhookCache } from './reading/webhook-cache.ts';
import type { PendingOutcomes } from './outcomes/pending-outcomes.ts';

/** Limit of concurrent requests of this process. */
const maxConcurrent = 2_048;
/** A destination may use this share of the free requests, so that some are always left for the next one. */
const shareOfFree = 1 / 16;
/** When the process stops, requests in flight have this long to finish. */
const drainMs = 7_000;
/** Pauses of a destination whose name could not be looked up, and after the database was unavailable. */
const unresolvedPauseMs = 1_000;
const unavailablePauseMs = 250;

interface SenderDependencies {
  readonly webhookCache: WebhookCache;
  readonly transport: Transport;
  readonly leased: LeasedDestinations;
  readonly leases: LeaseKeeper;
  readonly moving: MovingAccounts;
  readonly stale: StaleDestinations;
  readonly pendingOutcomes: PendingOutcomes;
  readonly health: WebhookHealth;
  /** Called when there may be something to read or to write. */
  readonly wake: () => void;
  readonly logError: (error: unknown, what: string) => void;
}

/**
 *   open      sends what is ready
 *   draining  sends nothing more; outcomes of requests in flight are still written. `done` is called after the last
 *   closed    outcomes of requests in flight are ignored: the next owner of the destination sends these deliveries again
 *
 *   open —drain→ draining —the last request ends, or `drainMs` pass→ closed
 */
type Mode =
  { readonly state: 'open' } | { readonly state: 'draining'; readonly done: () => void } | { readonly state: 'closed' };

/** Sends the ready deliveries of destinations, and collects their outcomes. */
export class Sender {
  readonly #deps: SenderDependencies;
  #mode: Mode = { state: 'open' };
  #count = 0;

  constructor(deps: SenderDependencies) {
    this.#deps = deps;
  }

  /** Requests in flight. */
  get count(): number {
    return this.#count;
  }

  /** Sends nothing more; resolves when no request is in flight, or `drainMs` have passed. */
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

  /** Sends as many deliveries to the destination as the limits allow now. */
  pump(destination: Destination): void {
    while (this.#maySend(destination) && this.#isResolved(destination)) {
      const delivery = destination.lanes.take();
      if (delivery === undefined) break;
      destination.sending += 1;
      this.#count += 1;
      destination.activeAt = performance.now();
      void this.#deliver(destination, delivery);
    }
    if (destination.wantsMore(performance.now())) this.#deps.wake();
  }

  #maySend(destination: Destination): boolean {
    const now = performance.now();
    if (this.#mode.state !== 'open' || now < destination.pausedUntil || !this.#isOurs(destination, now)) return false;
    if (this.#deps.stale.isStale(destination) || this.#deps.moving.has(destination.accountId)) return false;
    const state = destination.breaker.state(now);
    if (state !== 'closed') return state === 'half_open' && destination.sending === 0;
    const free = Math.floor((maxConcurrent - this.#count) * shareOfFree);
    return destination.sending < Math.min(maxPerDestination, Math.max(1, free));
  }

  /**
   * A destination waits for the lookup of its name here, where it uses none of the concurrent requests. If the name does not
   * resolve, deliveries are still sent: the attempt fails at once and is logged like any other.
   */
  #isResolved(destination: Destination): boolean {
    const { transport } = this.#deps;
    if (transport.isPrepared(destination)) return true;
    if (destination.isResolving || destination.lanes.readyCount === 0) return false;
    destination.isResolving = true;
    void transport.prepare(destination).then(() => {
      destination.isResolving = false;
      if (!transport.isPrepared(destination)) destination.pausedUntil = performance.now() + unresolvedPauseMs;
      this.pump(destination);
    });
    return false;
  }

  /** Whether we have the lease, and no other process can have taken it. */
  #isOurs(destination: Destination, now: number): boolean {
    return this.#deps.leased.isOurs(destination) && this.#deps.leases.mayUse(destination.terms, now);
  }

  async #deliver(destination: Destination, delivery: Delivery): Promise<void> {
    const { webhookCache, transport, health, pendingOutcomes } = this.#deps;
    try {
      const { payload, webhookId } = delivery;
      const webhook = webhookCache.peek(webhookId) ?? (await webhookCache.get(webhookId));
      const reason = reasonNotSent(webhook, delivery);
      // Reading the webhook may have taken so long that another process has the lease now.
      if (!this.#isOurs(destination, performance.now())) destination.lanes.putBack(delivery);
      else if (webhook !== null && webhook.destinationId !== destination.id)
        this.#moveToNewDestination(destination, delivery);
      else if (webhook === null || payload === null || reason !== null)
        this.#conclude(destination, skippedOutcome(delivery, destination.epoch, webhook));
      else {
        const at = new Date();
        const attempt = await transport.send(destination, delivery, webhook, payload);
        if (attempt.unavailable === true) destination.breaker.unanswered(performance.now());
        else if (attempt.unavailable === false) destination.breaker.answered();
        pendingOutcomes.answerTimeouts.note(destination, attempt);
        health.note(webhook, attempt);
        const { state, delayMs, parked } = decide(delivery, attempt, Math.random());
        const { epoch } = destination;
        this.#conclude(destination, { delivery, epoch, at, state, delayMs, parked, attempt, note: null });
      }
    } catch (error) {
      // The webhook could not be read: nothing was sent.
      this.#deps.logError(error, 'could not send a delivery; it is retried');
      if (isDatabaseUnavailable(error)) {
        destination.lanes.putBack(delivery);
        destination.pausedUntil = performance.now() + unavailablePauseMs;
      } else {
        // The delivery must not block others.
        this.#conclude(destination, unbuiltOutcome(delivery, destination.epoch));
      }
    }
    destination.sending -= 1;
    this.#count -= 1;
    if (this.#count === 0 && this.#mode.state === 'draining') this.#mode.done();
    this.pump(destination);
  }

  /** The webhook has another destination now. The delivery is moved there, so that it is not sent to the old address. */
  #moveToNewDestination(destination: Destination, delivery: Delivery): void {
    this.#advanceLane(destination, delivery, 'pass');
    this.#deps.pendingOutcomes.addMoved(delivery);
  }

  #advanceLane(destination: Destination, delivery: Delivery, then: 'pass' | 'wait'): void {
    destination.advanceLane(delivery, then);
    if (!destination.isResuming) return;
    this.#deps.leased.resuming.add(destination);
    this.#deps.wake();
  }

  #conclude(destination: Destination, outcome: Outcome): void {
    const { delivery, state, parked } = outcome;
    // If the lease was lost, the new owner decides the outcome.
    if (!this.#deps.leased.isOurs(destination) || this.#mode.state === 'closed') return;
    this.#advanceLane(destination, delivery, state === 'retrying' && !parked ? 'wait' : 'pass');
    this.#deps.pendingOutcomes.add(outcome);
  }
}
