import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { DestinationId } from '../../events/destination.ts';
import type { AccountId } from '../../platform/ids.ts';
import { hostOf } from '../channels/channels.ts';
import { Breaker, type BreakerState } from './breaker.ts';
import type { Delivery, DeliveryId } from './delivery.ts';
import { Lanes, type LaneName } from './lanes.ts';
import type { LeaseTerms } from './lease-keeper.ts';
import type { Lease } from './leases.ts';
import type { Wanted } from './store.ts';

/** Deliveries read for a destination at once, and held in memory for it at most. */
const batch = 500;
const mostHeld = 1_000;
/** With fewer left to send than this, more are read. */
const lowWater = 128;
/** More lanes than that wait for one that failed: until there are fewer, only those are tried. */
export const mostBlockedLanes = 10_000;
/** Everything fresh is read from the beginning so often, whatever the watermark says. */
const rescanMs = 5_000;
/** There may be much that waits for one that failed, all of which is passed over. */
const rescanBlockedMs = 60_000;
/** So many lanes are named to the database as not wanted; of more, what is read is let go. */
const mostLeftOut = 2_000;

interface Taken {
  readonly now: number;
  readonly terms: LeaseTerms;
  /** Called when it becomes dirty, which a new one is. */
  readonly onDirty: (destination: Destination) => void;
}

/** A destination whose lease is ours: what is known of it, and what is to be sent to it. */
export class Destination {
  readonly id: DestinationId;
  readonly accountId: AccountId;
  readonly origin: string;
  /** Whom to connect to; `null`: a service that the settings name. */
  readonly hostname: string | null;
  readonly epoch: number;
  readonly lanes = new Lanes();
  readonly breaker = new Breaker();
  /** Until when, and by which session, something may be sent. */
  terms: LeaseTerms;
  /** Nothing is sent before that. */
  pausedUntil = 0;
  sending = 0;
  /** It took a request and did not answer in time, and has answered none since: see `Patience`. */
  isUnresponsive: boolean;
  /** Its name is being resolved; nothing is sent before that is done. */
  isResolving = false;
  /** Which of its lanes wait for one that failed is not known. */
  isStrange = true;
  /** When something was last done for it. */
  activeAt: number;
  /** When what is held of it was last read anew. */
  forgottenAt: number;
  /** Everything that was read and is not yet written off. */
  readonly #held = new Map<DeliveryId, Delivery>();
  /**
   * Everything fresh up to that number has been read. It is the watermark of this destination's own last read: what was above
   * it then may have been committed since, and the watermark may have passed it in reads for others.
   */
  #readUpTo = 0;
  /** The highest number that has been read. */
  #highestRead = 0;
  readonly #resuming: LaneName[] = [];
  #rescan = false;
  #rescannedAt: number;
  #dirty = true;
  readonly #onDirty: (destination: Destination) => void;

  constructor({ id, accountId, origin, epoch, isUnresponsive }: Lease, { now, terms, onDirty }: Taken) {
    this.id = id;
    this.accountId = accountId;
    this.origin = origin;
    this.hostname = hostOf(origin);
    this.epoch = epoch;
    this.isUnresponsive = isUnresponsive;
    this.terms = terms;
    this.activeAt = now;
    this.forgottenAt = now;
    this.#rescannedAt = now;
    this.#onDirty = onDirty;
  }

  /** Something may have come that was not read. */
  get dirty(): boolean {
    return this.#dirty;
  }

  soil(): void {
    if (this.#dirty) return;
    this.#dirty = true;
    this.#onDirty(this);
  }

  get heldCount(): number {
    return this.#held.size;
  }

  /** Whether it is being sent, waits to be, or has an outcome that is not yet written. */
  holds(id: DeliveryId): boolean {
    return this.#held.has(id);
  }

  /** What to read of it; `null`: nothing, for want of room or because nobody would take it. */
  wanted(now: number): Wanted | null {
    if (!this.#dirty) return null;
    if (!this.#hasRoom(now)) return null;
    const { blockedCount } = this.lanes;
    const isEmpty = this.#held.size + blockedCount === 0;
    if (isEmpty || now - this.#rescannedAt > (blockedCount === 0 ? rescanMs : rescanBlockedMs)) this.rescan();
    const takesFresh = blockedCount < mostBlockedLanes;
    const after = this.#rescan ? 0 : this.#readUpTo;
    // Those that are held come again, as far as they are read from before them.
    const again = after < this.#highestRead ? this.#held.size : 0;
    if (this.#rescan) this.#rescannedAt = now;
    this.#rescan = false;
    this.#dirty = false;
    const without = blockedCount > 0 && blockedCount <= mostLeftOut ? this.lanes.leaveOut() : [];
    return { id: this.id, after, fresh: takesFresh ? batch + again : 0, due: batch + this.#held.size, without };
  }

  #hasRoom(now: number): boolean {
    return this.lanes.readyCount < lowWater && this.#held.size < mostHeld && this.breaker.state(now) !== 'open';
  }

  /** Reads from the beginning the next time: what was let go is there. */
  rescan(): void {
    this.#rescan = true;
    this.soil();
  }

  /** What was read for `wanted`; everything up to `safe` could be seen. */
  receive(deliveries: readonly Delivery[], wanted: Wanted, safe: number): void {
    // Something was let go while it was being read, and must come first: nothing of this is taken.
    if (this.#rescan) return;
    let fresh = 0;
    let due = 0;
    let last = 0;
    let taken = 0;
    for (const delivery of deliveries) {
      if (delivery.putOff) due += 1;
      else {
        fresh += 1;
        last = delivery.seq;
      }
      if (this.#held.has(delivery.id)) continue;
      if (!this.lanes.add(delivery)) continue;
      this.#held.set(delivery.id, delivery);
      taken += 1;
    }
    // As many as were asked for: there may be more.
    const isCut = wanted.fresh > 0 && fresh >= wanted.fresh;
    if (wanted.fresh > 0) this.#readUpTo = isCut ? Math.min(last, safe) : Math.max(wanted.after, safe);
    this.#highestRead = Math.max(this.#highestRead, last);
    // Where nothing was taken, the same would be read again.
    if (isCut || (due >= wanted.due && taken > 0)) this.soil();
  }

  /** It could not even be tried: it is the next again. */
  putBack(delivery: Delivery): void {
    this.lanes.putBack(delivery);
  }

  /** What became of it is known, and will be written; what follows may be sent. */
  settle(delivery: Delivery, then: 'pass' | 'wait'): void {
    if (then === 'wait') for (const { id } of this.lanes.wait(delivery)) this.#held.delete(id);
    else if (this.lanes.pass(delivery) && delivery.engagementId !== null)
      this.#resuming.push({ webhookId: delivery.webhookId, engagementId: delivery.engagementId });
  }

  get isResuming(): boolean {
    return this.#resuming.length > 0;
  }

  /** Lanes of which something was let go, and which could go on now: they are read by themselves. */
  takeResuming(): readonly LaneName[] {
    return this.#resuming.splice(0);
  }

  /** What was read of such a lane. */
  resume(lane: LaneName, deliveries: readonly Delivery[], more: boolean): void {
    const fresh = deliveries.filter(({ id }) => !this.#held.has(id));
    if (!this.lanes.resume(lane, fresh, more)) return;
    for (const delivery of fresh) this.#held.set(delivery.id, delivery);
    // All that was read is done with and not yet written off: what comes after it is read then.
    if (fresh.length === 0 && more) this.#resuming.push(lane);
  }

  putBackResuming(lanes: readonly LaneName[]): void {
    this.#resuming.push(...lanes);
  }

  /** What became of it is written. */
  writeOff(delivery: Delivery): void {
    this.#held.delete(delivery.id);
  }

  /** Everything that is not under way, to be read again: what is known of a webhook of it has changed. */
  forget(): void {
    for (const { id } of this.lanes.clear()) this.#held.delete(id);
    this.isStrange = true;
    this.forgottenAt = performance.now();
    this.#resuming.length = 0;
    this.rescan();
  }

  /** Whether something of that webhook is held, or waits for one that failed. */
  knows(webhookId: WebhookId): boolean {
    if (this.lanes.knows(webhookId)) return true;
    for (const delivery of this.#held.values()) if (delivery.webhookId === webhookId) return true;
    return false;
  }

  /** There is room for more, and perhaps more. */
  isHungry(now: number): boolean {
    return this.#dirty && this.#hasRoom(now);
  }

  state(now: number): BreakerState {
    return this.breaker.state(now);
  }

  /** Nothing is to be done for it, and has not been for a while. */
  isIdle(now: number, idleMs: number): boolean {
    return this.#held.size === 0 && !this.#dirty && now - this.activeAt > idleMs;
  }
}
