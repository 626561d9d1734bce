import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { DestinationId } from '../../events/destination.ts';
import type { AccountId } from '../../platform/ids.ts';
import { Breaker, type BreakerState } from './breaker.ts';
import type { Delivery, DeliveryId } from './delivery.ts';
import { Lanes } from './lanes.ts';
import type { Lease, Wanted } from './store.ts';

/** Deliveries read for a destination at once, and held in memory for it at most. */
const batch = 500;
const mostHeld = 1_000;
/** With fewer left to send than this, more are read. */
const lowWater = 128;
/** More lanes than that wait for one that failed: until there are fewer, only those are tried. */
export const mostBlockedLanes = 10_000;
/** Everything fresh is read from the beginning so often, whatever the watermark says. */
const rescanMs = 5_000;

/** A destination whose lease is ours: what is known of it, and what is to be sent to it. */
export class Destination {
  readonly id: DestinationId;
  readonly accountId: AccountId;
  readonly origin: string;
  readonly epoch: number;
  readonly lanes = new Lanes();
  readonly breaker = new Breaker();
  /** Of the process's own clock: nothing is sent after that. */
  leasedUntil: number;
  /** Nothing is sent before that. */
  pausedUntil = 0;
  sending = 0;
  /** Something may have come that was not read. */
  dirty = true;
  /** Which of its lanes wait for one that failed is not known. */
  isStrange = true;
  /** When something was last done for it. */
  activeAt: number;
  /** Of what was read. */
  readonly webhookIds = new Set<WebhookId>();
  /** Everything that was read and is not yet written off. */
  readonly #held = new Map<DeliveryId, Delivery>();
  /** What is fresh up to that number has been read. */
  #readUpTo = 0;
  #rescan = false;
  #rescannedAt: number;

  constructor({ id, accountId, origin, epoch }: Lease, now: number, leasedUntil: number) {
    this.id = id;
    this.accountId = accountId;
    this.origin = origin;
    this.epoch = epoch;
    this.leasedUntil = leasedUntil;
    this.activeAt = now;
    this.#rescannedAt = now;
  }

  get heldCount(): number {
    return this.#held.size;
  }

  /** What to read of it; `null`: nothing, for want of room or because nobody would take it. */
  wanted(now: number, safe: number): Wanted | null {
    if (!this.dirty) return null;
    if (this.lanes.readyCount >= lowWater || this.#held.size >= mostHeld || this.breaker.state(now) === 'open')
      return null;
    if (now - this.#rescannedAt > rescanMs || this.#held.size === 0) this.rescan();
    const takesFresh = this.lanes.blockedCount < mostBlockedLanes;
    const after = this.#rescan ? 0 : Math.min(this.#readUpTo, safe);
    // Those that are held come again, as far as they are read from before them.
    const again = after < this.#readUpTo || this.#rescan ? this.#held.size : 0;
    if (this.#rescan) this.#rescannedAt = now;
    this.#rescan = false;
    this.dirty = false;
    return { id: this.id, after, fresh: takesFresh ? batch + again : 0, due: batch + this.#held.size };
  }

  /** Reads from the beginning the next time: what was let go is there. */
  rescan(): void {
    this.#rescan = true;
    this.dirty = true;
  }

  /** What was read for `wanted`. */
  receive(deliveries: readonly Delivery[], wanted: Wanted): void {
    // Something was let go while it was being read, and must come first: nothing of this is taken.
    if (this.#rescan) return;
    let fresh = 0;
    let due = 0;
    let last = 0;
    for (const delivery of deliveries) {
      if (delivery.putOff) due += 1;
      else {
        fresh += 1;
        last = delivery.seq;
      }
      if (this.#held.has(delivery.id)) continue;
      this.webhookIds.add(delivery.webhookId);
      if (this.lanes.add(delivery)) this.#held.set(delivery.id, delivery);
    }
    // As many as were asked for: there may be more.
    const isCut = wanted.fresh > 0 && fresh >= wanted.fresh;
    this.#readUpTo = isCut ? last : Math.max(this.#readUpTo, last);
    if (isCut || due >= wanted.due) this.dirty = true;
  }

  /** It could not even be tried: it is the next again. */
  putBack(delivery: Delivery): void {
    this.lanes.putBack(delivery);
  }

  /** What became of it is known, and will be written; what follows may be sent. */
  settle(delivery: Delivery, then: 'pass' | 'wait'): void {
    if (then === 'wait') for (const { id } of this.lanes.wait(delivery)) this.#held.delete(id);
    else if (this.lanes.pass(delivery)) this.rescan();
  }

  /** What became of it is written. */
  writeOff(delivery: Delivery): void {
    this.#held.delete(delivery.id);
  }

  /** Everything that is not under way, to be read again: what is known of a webhook of it has changed. */
  forget(): void {
    for (const { id } of this.lanes.clear()) this.#held.delete(id);
    this.isStrange = true;
    this.rescan();
  }

  state(now: number): BreakerState {
    return this.breaker.state(now);
  }

  /** Nothing is to be done for it, and has not been for a while. */
  isIdle(now: number, idleMs: number): boolean {
    return this.#held.size === 0 && !this.dirty && now - this.activeAt > idleMs;
  }
}
