import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../../events/subscriptions/destination.ts';
import type { AccountId } from '../../platform/ids.ts';
import { hostOf } from '../../channels/channels.ts';
import { Breaker } from './breaker.ts';
import type { Delivery, DeliveryId } from './delivery.ts';
import { Lanes, type LaneName } from './lanes.ts';
import type { LeaseTerms } from './leases/lease-keeper.ts';
import type { Lease } from './leases/leases.ts';
import type { DeliveryQuery } from './store.ts';

/** Deliveries read for a destination at once, and the limit in memory. */
const batch = 500;
const maxInMemory = 1_000;
/** More deliveries are read when fewer than this are ready: enough to send while outcomes are written and the next ones read. */
const lowWaterMark = 256;
/** With this many blocked lanes, no fresh deliveries are read, only delayed ones. */
export const maxBlockedLanes = 10_000;
/** Fresh deliveries are read from the beginning this often, whatever the watermark is. */
const rescanMs = 5_000;
/** `rescanMs` for a destination with blocked lanes: a rescan skips everything that waits in them, which may be much. */
const rescanBlockedMs = 60_000;
/** Blocked lanes that a read excludes. With more of them, their deliveries are read and dropped. */
const maxExcludedLanes = 2_000;

/**
 * What has to be read of a destination next.
 *
 *   nothing     clean: everything known has been read
 *   newer       there may be more: delayed deliveries that are due, and fresh ones above `#readUpTo`
 *   everything  as `newer`, with fresh ones from the beginning: some below `#readUpTo` were dropped, or the log has a new epoch
 *   heads       it is not known which lanes are blocked; their heads are read first, then everything
 *
 *                          markDirty   rescan      takeQuery  startHeads   reload, failHeads
 *   nothing                newer       everything  –          –            heads
 *   newer                  same        everything  nothing    –            heads
 *   everything             same        same        nothing    –            heads
 *   heads (a new one is)   same        same        –          everything   same
 */
type ToRead = 'nothing' | 'newer' | 'everything' | 'heads';

interface DestinationOptions {
  readonly now: number;
  readonly terms: LeaseTerms;
  /** Called when the destination becomes dirty. Not for a new destination, which is dirty from the start. */
  readonly onDirty: (destination: Destination) => void;
}

/** A destination that this process has leased, with the deliveries that it has read. */
export class Destination {
  readonly id: DestinationId;
  readonly accountId: AccountId;
  readonly origin: string;
  /** The host to connect to; `null`: the host comes from the settings. */
  readonly hostname: string | null;
  readonly epoch: number;
  readonly lanes = new Lanes();
  readonly breaker = new Breaker();
  /** Until when, and with which session, the lease may be used. */
  terms: LeaseTerms;
  /** Nothing is sent before this time. Independent of `isResolving`: requests in flight may fail while the name is resolved again. */
  pausedUntil = 0;
  /** At most one lookup of the name is in progress. Another destination of the same host may resolve the name earlier. */
  isResolving = false;
  sending = 0;
  /** The last request was accepted, but not answered in time. Stored with the lease: see `AnswerTimeouts`. */
  isUnresponsive: boolean;
  /** When something was last sent. */
  activeAt: number;
  /** When the destination was last reloaded. */
  reloadedAt: number;
  /** Every delivery that was read and whose outcome is not yet written. */
  readonly #inMemory = new Map<DeliveryId, Delivery>();
  /**
   * Every fresh delivery up to this `seq` has been read. This is the watermark at the last read for this destination, not the
   * current one: deliveries above it may have been committed since.
   */
  #readUpTo = 0;
  /** The highest `seq` that has been read. */
  #highestRead = 0;
  readonly #resuming: LaneName[] = [];
  #toRead: ToRead = 'heads';
  #rescannedAt: number;
  readonly #onDirty: (destination: Destination) => void;

  constructor({ id, accountId, origin, epoch, isUnresponsive }: Lease, { now, terms, onDirty }: DestinationOptions) {
    this.id = id;
    this.accountId = accountId;
    this.origin = origin;
    this.hostname = hostOf(origin);
    this.epoch = epoch;
    this.isUnresponsive = isUnresponsive;
    this.terms = terms;
    this.activeAt = now;
    this.reloadedAt = now;
    this.#rescannedAt = now;
    this.#onDirty = onDirty;
  }

  /** Call this when there may be unread deliveries. */
  markDirty(): void {
    if (this.#toRead === 'nothing') this.#setToRead('newer');
  }

  /** The next read starts from the beginning, because deliveries below `#readUpTo` were dropped. */
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

  /** Call this before the heads of the lanes are read. Afterwards block these lanes, or call `failHeads`. */
  startHeads(): void {
    if (this.#toRead !== 'heads') throw new Error(`the heads of ${this.id} have been read already`);
    this.#toRead = 'everything';
  }

  failHeads(): void {
    this.#setToRead('heads');
  }

  get inMemoryCount(): number {
    return this.#inMemory.size;
  }

  /** Whether the delivery is in memory: waiting, being sent, or with an unwritten outcome. */
  has(id: DeliveryId): boolean {
    return this.#inMemory.has(id);
  }

  /** What to read now; marks the destination clean. `null`: it is clean or full, or its breaker is open. */
  takeQuery(now: number): DeliveryQuery | null {
    if (this.#toRead === 'nothing' || this.#toRead === 'heads' || !this.#hasRoom(now)) return null;
    const { blockedCount } = this.lanes;
    const isEmpty = this.#inMemory.size + blockedCount === 0;
    const isOverdue = now - this.#rescannedAt > (blockedCount === 0 ? rescanMs : rescanBlockedMs);
    const isRescan = this.#toRead === 'everything' || isEmpty || isOverdue;
    if (isRescan) this.#rescannedAt = now;
    this.#toRead = 'nothing';
    const after = isRescan ? 0 : this.#readUpTo;
    // Deliveries in memory are read again if the read starts before them.
    const inMemoryAgain = after < this.#highestRead ? this.#inMemory.size : 0;
    const fresh = blockedCount < maxBlockedLanes ? batch + inMemoryAgain : 0;
    const excluded = blockedCount > 0 && blockedCount <= maxExcludedLanes ? this.lanes.excludeBlocked() : [];
    return { id: this.id, after, fresh, due: batch + this.#inMemory.size, excluded };
  }

  #hasRoom(now: number): boolean {
    return (
      this.lanes.readyCount < lowWaterMark && this.#inMemory.size < maxInMemory && this.breaker.state(now) !== 'open'
    );
  }

  /** Adds the deliveries that the query has read. `safe` is the watermark: everything up to it was visible. */
  receive(deliveries: readonly Delivery[], query: DeliveryQuery, safe: number): void {
    // Deliveries were dropped during the read and must come first, so this read is ignored.
    if (this.#toRead === 'everything' || this.#toRead === 'heads') return;
    let fresh = 0;
    let due = 0;
    let last = 0;
    let added = 0;
    for (const delivery of deliveries) {
      if (delivery.isDelayed) due += 1;
      else {
        fresh += 1;
        last = delivery.seq;
      }
      if (this.#inMemory.has(delivery.id)) continue;
      if (!this.lanes.add(delivery)) continue;
      this.#inMemory.set(delivery.id, delivery);
      added += 1;
    }
    // As many as the limit: there may be more.
    const isCut = query.fresh > 0 && fresh >= query.fresh;
    if (query.fresh > 0) this.#readUpTo = isCut ? Math.min(last, safe) : Math.max(query.after, safe);
    this.#highestRead = Math.max(this.#highestRead, last);
    // If nothing was added, the same deliveries would be read again.
    if (isCut || (due >= query.due && added > 0)) this.markDirty();
  }

  /** The outcome of the delivery is known and will be written. `pass`: the next delivery of its lane may be sent. */
  advanceLane(delivery: Delivery, then: 'pass' | 'wait'): void {
    if (then === 'wait') for (const { id } of this.lanes.wait(delivery)) this.#inMemory.delete(id);
    else if (this.lanes.pass(delivery) && delivery.engagementId !== null)
      this.#resuming.push({ webhookId: delivery.webhookId, engagementId: delivery.engagementId });
  }

  get isResuming(): boolean {
    return this.#resuming.length > 0;
  }

  /** Unread lanes that may continue now. Each is read by its own statement. */
  takeResuming(): readonly LaneName[] {
    return this.#resuming.splice(0);
  }

  /** Adds the deliveries that were read for an unread lane. */
  resume(lane: LaneName, deliveries: readonly Delivery[], more: boolean): void {
    const fresh = deliveries.filter(({ id }) => !this.#inMemory.has(id));
    if (!this.lanes.resume(lane, fresh, more)) return;
    for (const delivery of fresh) this.#inMemory.set(delivery.id, delivery);
    // All of these are in memory already, with unwritten outcomes: the lane is read again later.
    if (fresh.length === 0 && more) this.#resuming.push(lane);
  }

  putBackResuming(lanes: readonly LaneName[]): void {
    this.#resuming.push(...lanes);
  }

  /** Drops the delivery from memory once its outcome is written. */
  release(delivery: Delivery): void {
    this.#inMemory.delete(delivery.id);
  }

  /** Drops everything that is not being sent and reads it again, because a webhook of the destination has changed. */
  reload(): void {
    for (const { id } of this.lanes.clear()) this.#inMemory.delete(id);
    this.reloadedAt = performance.now();
    this.#resuming.length = 0;
    this.#setToRead('heads');
  }

  /** Whether the webhook has a delivery in memory or a blocked lane here. */
  hasWebhook(webhookId: WebhookId): boolean {
    if (this.lanes.hasWebhook(webhookId)) return true;
    for (const delivery of this.#inMemory.values()) if (delivery.webhookId === webhookId) return true;
    return false;
  }

  /** Whether the destination is dirty and has room for more deliveries. */
  wantsMore(now: number): boolean {
    return this.#toRead !== 'nothing' && this.#hasRoom(now);
  }

  /** Whether the destination has nothing to do, and nothing was sent for a while. */
  isIdle(now: number, idleMs: number): boolean {
    return this.#inMemory.size === 0 && this.#toRead === 'nothing' && now - this.activeAt > idleMs;
  }
}
