import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { DestinationId } from '../../events/destination.ts';
import type { AccountId } from '../../platform/ids.ts';
import { hostOf } from '../channels/channels.ts';
import { Breaker } from './breaker.ts';
import type { Delivery, DeliveryId } from './delivery.ts';
import { Lanes, type LaneName } from './lanes.ts';
import type { LeaseTerms } from './lease-keeper.ts';
import type { Lease } from './leases.ts';
import type { DeliveryQuery } from './store.ts';

/** Deliveries read for a destination at once, and held in memory for it at most. */
const batch = 500;
const mostHeld = 1_000;
/** With fewer left to send than this, more are read. */
const lowWater = 128;
/** While more lanes than this are blocked, only their heads are tried. */
export const mostBlockedLanes = 10_000;
/** Fresh deliveries are read from the beginning so often, whatever the watermark says. */
const rescanMs = 5_000;
/** As `rescanMs`, with blocked lanes: a rescan passes over everything that waits in them, which may be much. */
const rescanBlockedMs = 60_000;
/** Blocked lanes that a read names as not wanted. With more of them, what is read of them is let go. */
const mostLeftOut = 2_000;

/**
 * What has to be read of a destination next.
 *
 *   nothing     all that is known to be there has been read
 *   newer       there may be more: delayed deliveries that are due, and fresh ones above `#readUpTo`
 *   everything  as `newer`, with fresh ones from the beginning: some below `#readUpTo` were let go, or the log has a new epoch
 *   heads       which lanes are blocked is not known; that is read first, then everything
 *
 *                          markDirty   rescan      takeQuery  startHeads   forget, failHeads
 *   nothing                newer       everything  –          –            heads
 *   newer                  same        everything  nothing    –            heads
 *   everything             same        same        nothing    –            heads
 *   heads (a new one is)   same        same        –          everything   same
 */
type ToRead = 'nothing' | 'newer' | 'everything' | 'heads';

interface Taken {
  readonly now: number;
  readonly terms: LeaseTerms;
  /** Called when there is something to read again. Not for a new destination, which has something to read. */
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
  /** Nothing is sent before that. Independent of `isResolving`: deliveries under way may fail while the name is resolved anew. */
  pausedUntil = 0;
  /** One resolution of the name is under way at most. Another destination of the same host may settle the name earlier. */
  isResolving = false;
  sending = 0;
  /** The destination took a request without answering in time, and has answered none since. Kept with the lease: see `Patience`. */
  isUnresponsive: boolean;
  /** When something was last sent. */
  activeAt: number;
  /** When what is held was last read anew. */
  forgottenAt: number;
  /** Every delivery that was read and is not yet written off. */
  readonly #held = new Map<DeliveryId, Delivery>();
  /**
   * Every fresh delivery up to that number has been read. This is the watermark of the destination's own last read: what was
   * above it then may have been committed since, and reads for others may have moved the watermark past it.
   */
  #readUpTo = 0;
  /** The highest number that has been read. */
  #highestRead = 0;
  readonly #resuming: LaneName[] = [];
  #toRead: ToRead = 'heads';
  #rescannedAt: number;
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

  /** There may be something that was not read. */
  markDirty(): void {
    if (this.#toRead === 'nothing') this.#setToRead('newer');
  }

  /** Reads from the beginning the next time: what was let go is there. */
  rescan(): void {
    if (this.#toRead !== 'heads') this.#setToRead('everything');
  }

  #setToRead(toRead: Exclude<ToRead, 'nothing'>): void {
    const wasClean = this.#toRead === 'nothing';
    this.#toRead = toRead;
    if (wasClean) this.#onDirty(this);
  }

  get needsHeads(): boolean {
    return this.#toRead === 'heads';
  }

  /** The heads of its lanes are being read: whoever reads them blocks the lanes, or calls `failHeads`. */
  startHeads(): void {
    if (this.#toRead !== 'heads') throw new Error(`the heads of ${this.id} are known`);
    this.#toRead = 'everything';
  }

  failHeads(): void {
    this.#setToRead('heads');
  }

  get heldCount(): number {
    return this.#held.size;
  }

  /** Whether the delivery is being sent, waits to be, or has an outcome that is not yet written. */
  holds(id: DeliveryId): boolean {
    return this.#held.has(id);
  }

  /** What to read now, which is then no longer to be read; `null`: nothing, or there is no room, or nobody would take it. */
  takeQuery(now: number): DeliveryQuery | null {
    if (this.#toRead === 'nothing' || this.#toRead === 'heads' || !this.#hasRoom(now)) return null;
    const { blockedCount } = this.lanes;
    const isEmpty = this.#held.size + blockedCount === 0;
    const isOverdue = now - this.#rescannedAt > (blockedCount === 0 ? rescanMs : rescanBlockedMs);
    const isRescan = this.#toRead === 'everything' || isEmpty || isOverdue;
    if (isRescan) this.#rescannedAt = now;
    this.#toRead = 'nothing';
    const after = isRescan ? 0 : this.#readUpTo;
    // Deliveries that are held come again, as far as the read begins before them.
    const again = after < this.#highestRead ? this.#held.size : 0;
    const fresh = blockedCount < mostBlockedLanes ? batch + again : 0;
    const without = blockedCount > 0 && blockedCount <= mostLeftOut ? this.lanes.leaveOut() : [];
    return { id: this.id, after, fresh, due: batch + this.#held.size, without };
  }

  #hasRoom(now: number): boolean {
    return this.lanes.readyCount < lowWater && this.#held.size < mostHeld && this.breaker.state(now) !== 'open';
  }

  /** Takes what was read for the query; everything up to `safe` could be seen. */
  receive(deliveries: readonly Delivery[], query: DeliveryQuery, safe: number): void {
    // Something was let go during the read, and must come first: nothing of this read is taken.
    if (this.#toRead === 'everything' || this.#toRead === 'heads') return;
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
    const isCut = query.fresh > 0 && fresh >= query.fresh;
    if (query.fresh > 0) this.#readUpTo = isCut ? Math.min(last, safe) : Math.max(query.after, safe);
    this.#highestRead = Math.max(this.#highestRead, last);
    // Where nothing was taken, the same would be read again.
    if (isCut || (due >= query.due && taken > 0)) this.markDirty();
  }

  /** What became of the delivery is known, and will be written; what follows may be sent. */
  settle(delivery: Delivery, then: 'pass' | 'wait'): void {
    if (then === 'wait') for (const { id } of this.lanes.wait(delivery)) this.#held.delete(id);
    else if (this.lanes.pass(delivery) && delivery.engagementId !== null)
      this.#resuming.push({ webhookId: delivery.webhookId, engagementId: delivery.engagementId });
  }

  get isResuming(): boolean {
    return this.#resuming.length > 0;
  }

  /** Unread lanes that could go on now. Each is read by a statement of its own. */
  takeResuming(): readonly LaneName[] {
    return this.#resuming.splice(0);
  }

  /** Takes what was read of an unread lane. */
  resume(lane: LaneName, deliveries: readonly Delivery[], more: boolean): void {
    const fresh = deliveries.filter(({ id }) => !this.#held.has(id));
    if (!this.lanes.resume(lane, fresh, more)) return;
    for (const delivery of fresh) this.#held.set(delivery.id, delivery);
    // All that was read has been sent and is not yet written off: what comes after it is read then.
    if (fresh.length === 0 && more) this.#resuming.push(lane);
  }

  putBackResuming(lanes: readonly LaneName[]): void {
    this.#resuming.push(...lanes);
  }

  /** What became of the delivery is written. */
  writeOff(delivery: Delivery): void {
    this.#held.delete(delivery.id);
  }

  /** Forgets everything that is not being sent, and reads it again: a webhook of the destination has changed. */
  forget(): void {
    for (const { id } of this.lanes.clear()) this.#held.delete(id);
    this.forgottenAt = performance.now();
    this.#resuming.length = 0;
    this.#setToRead('heads');
  }

  /** Whether a delivery of that webhook is held, or a lane of it is blocked. */
  knows(webhookId: WebhookId): boolean {
    if (this.lanes.knows(webhookId)) return true;
    for (const delivery of this.#held.values()) if (delivery.webhookId === webhookId) return true;
    return false;
  }

  /** There is room for more, and perhaps more. */
  isHungry(now: number): boolean {
    return this.#toRead !== 'nothing' && this.#hasRoom(now);
  }

  /** Nothing is to be done for the destination, and nothing was sent for a while. */
  isIdle(now: number, idleMs: number): boolean {
    return this.#held.size === 0 && this.#toRead === 'nothing' && now - this.activeAt > idleMs;
  }
}
