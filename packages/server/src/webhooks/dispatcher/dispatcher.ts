import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { Hints } from '../../events/hints.ts';
import type { ChangeFeed } from '../../platform/change-feed.ts';
import type { ClockWatch } from '../../platform/clock-watch.ts';
import { isDatabaseUnavailable, type Sql } from '../../platform/database.ts';
import type { DatabaseSession } from '../../platform/database-session.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { Asking } from './asking.ts';
import { Changes } from './changes.ts';
import { mostToDestination, type Courier } from './courier.ts';
import { decide } from './decide.ts';
import type { Delivery } from './delivery.ts';
import type { Destination } from './destination.ts';
import { Holdings } from './holdings.ts';
import { LeaseKeeper, type LeaseTerms } from './lease-keeper.ts';
import type { Lease } from './leases.ts';
import type { Outcome } from './outcomes.ts';
import { Reader } from './reader.ts';
import { Standing } from './standing.ts';
import { failedUnmade, turnedAway, whyNot } from './untried.ts';
import type { WebhookBook } from './webhook-book.ts';
import { WriteOffs } from './write-offs.ts';

/** Requests under way in this process, in all. */
const mostSending = 2_048;
/** A destination may have that part of what is free, so that there is always some left for the next one. */
const shareOfFree = 1 / 16;

/** Outcomes are written together, as many as there are after that time, or so many. */
const writeAfterMs = 20;
const writesAtOnce = 200;
/** While something is under way, reads are so far apart. */
const readGapMs = 5;
/** Destinations taken on at once. */
const leasesAtOnce = 64;
const mostDestinations = 5_000;
const renewMs = 5_000;
/** One for which there is nothing to do is given back. */
const idleMs = 10_000;
const pollMs = 1_000;
/** What is known of lanes that wait is read anew so often. */
const forgetMs = 60_000;
/** When the process stops, what is under way has so long. */
const drainMs = 7_000;
/** After the database could not be reached. */
const pauseMs = 250;

export interface DispatcherParts {
  readonly sql: Sql;
  readonly hints: Hints;
  readonly feed: ChangeFeed;
  readonly session: DatabaseSession;
  readonly clock: ClockWatch;
  readonly book: WebhookBook;
  readonly courier: Courier;
  readonly log: Log;
  readonly watch: DispatcherWatch;
}

/** Who counts. */
export interface DispatcherWatch {
  outcome(outcome: Outcome): void;
  batch(kind: 'read' | 'written', size: number): void;
  oldestDue(seconds: number): void;
}

/**
 * Delivers what is due. A destination belongs to the one process that has its lease; that reads what is due for it in
 * batches, keeps the order in memory, and writes in batches what became of it. Nothing is written to say that something is
 * being sent: whoever takes over a destination sends again what is not written off.
 *
 * What has to do with the database is done by one loop, one statement at a time: a read can therefore not show what a write
 * has just taken away, which would be sent twice.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #standing: Standing;
  readonly #leases: LeaseKeeper;
  readonly #holdings = new Holdings();
  readonly #reader: Reader;
  readonly #changes: Changes;
  readonly #writeOffs: WriteOffs;
  #sending = 0;
  readonly #asking = new Asking<AccountId>();
  #readAt = 0;
  #isPolling = true;
  #writesDue = false;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  readonly #timers: NodeJS.Timeout[];
  #writeTimer: NodeJS.Timeout | null = null;
  #wakeTimer: NodeJS.Timeout | null = null;
  #wakeAt = 0;
  #drained: (() => void) | null = null;
  #isCut = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#standing = new Standing(parts);
    this.#leases = new LeaseKeeper(parts);
    this.#writeOffs = new WriteOffs(parts.sql, this.#leases.owner);
    this.#changes = new Changes(parts.sql, this.#holdings);
    this.#reader = new Reader({
      sql: parts.sql,
      holdings: this.#holdings,
      onBatch: (size) => parts.watch.batch('read', size),
      onNewEpoch: () => {
        for (const destination of this.#holdings.all) this.#changes.add(destination);
      },
    });
    parts.hints.on((accountId, where) => this.#hear(accountId, where));
    parts.feed.on('webhooks', (id) => this.#heedChange(id as WebhookId));
    parts.feed.onReset(() => this.#heedChange(null));
    // What is leased by a session that was lost is anybody's, until it is renewed by the one that there is now.
    parts.session.onOpened(() => void this.#renew());
    // The times of our own leases are by the old clock, and delayed deliveries are due at other times.
    parts.clock.onStep(() => {
      void this.#renew();
      this.#poll();
    });
    this.#timers = [
      setInterval(() => this.#poll(), pollMs).unref(),
      setInterval(() => void this.#renew(), renewMs).unref(),
    ];
    this.#poll();
  }

  get destinations(): Iterable<Destination> {
    return this.#holdings.all;
  }

  get sending(): number {
    return this.#sending;
  }

  /** Sends nothing more; resolves when what is under way is done and written, and the destinations are free for others. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#drain();
    await this.#running;
    try {
      while (this.#writeOffs.size > 0) await this.#write();
      const held = this.#holdings.all;
      if (held.length > 0) await this.#leases.release(held);
    } catch (error) {
      this.#complain(error, 'what was delivered could not be written down at the end; it is delivered again');
    }
    for (const destination of this.#holdings.all) this.#parts.courier.leave(destination);
    for (const timer of [this.#writeTimer, this.#wakeTimer]) if (timer !== null) clearTimeout(timer);
  }

  /** What does not end in time is cut off, and is sent again by whoever is next. */
  async #drain(): Promise<void> {
    if (this.#sending === 0) return;
    const drained = Promise.withResolvers<void>();
    this.#drained = drained.resolve;
    const timer = setTimeout(() => {
      this.#isCut = true;
      drained.resolve();
    }, drainMs);
    await drained.promise;
    clearTimeout(timer);
  }

  #hear(accountId: AccountId, where: 'here' | 'elsewhere'): void {
    for (const destination of this.#holdings.ofAccount(accountId)) destination.markDirty();
    // Where it was done elsewhere, that process takes on what is nobody's.
    if (where === 'here') this.#asking.want(accountId);
    this.#wake();
  }

  /** A webhook is no longer what it was: what is held of it is read again. `null`: any may have changed. */
  #heedChange(id: WebhookId | null): void {
    this.#changes.heed(id);
    this.#wake();
  }

  #poll(): void {
    this.#isPolling = true;
    const now = performance.now();
    this.#asking.forget(now);
    this.#giveBackIdle(now);
    for (const destination of this.#holdings.all) {
      // What was put off falls due without a word; nor is it said that a pause is over.
      destination.markDirty();
      // One that others wait for may have been taken away by somebody else.
      if (destination.lanes.blockedCount > 0 && now - destination.forgottenAt > forgetMs)
        this.#changes.add(destination);
      this.#pump(destination);
    }
    this.#wake();
  }

  /** There may be something to do. */
  #wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      if (this.#again) this.#wakeSoon(0);
    });
  }

  /** After so long at the latest: whoever asks for an earlier moment has it. */
  #wakeSoon(ms: number): void {
    const at = performance.now() + ms;
    if (this.#stopped || (this.#wakeTimer !== null && this.#wakeAt <= at)) return;
    if (this.#wakeTimer !== null) clearTimeout(this.#wakeTimer);
    this.#wakeAt = at;
    this.#wakeTimer = setTimeout(() => {
      this.#wakeTimer = null;
      this.#wake();
    }, ms).unref();
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        if (this.#writesDue || this.#writeOffs.size >= writesAtOnce) await this.#write();
        await this.#forget();
        await this.#lease();
        await this.#read();
      }
    } catch (error) {
      this.#complain(error, 'the dispatcher could not go on; it tries again');
      this.#again = false;
      this.#wakeSoon(pauseMs);
    }
  }

  /**
   * Not before what is known of them is written: that a delivery failed, and others wait for it, would be forgotten with the
   * rest, and could not be read either.
   */
  async #forget(): Promise<void> {
    const isHeld = this.#changes.isHoldingUp;
    const forgetting = await this.#changes.find();
    if (forgetting.some(({ id }) => this.#writeOffs.concern(id))) await this.#write();
    for (const destination of forgetting) {
      this.#again = true;
      if (this.#writeOffs.concern(destination.id)) continue;
      destination.forget();
      this.#changes.drop(destination);
    }
    if (isHeld) for (const destination of this.#holdings.all) this.#pump(destination);
  }

  async #write(): Promise<void> {
    this.#writesDue = false;
    if (this.#writeOffs.size === 0) return;
    const { strays, movedTo, outcomes, ours } = await this.#writeOffs.write().catch((error: unknown) => {
      this.#writesDue = true;
      throw error;
    });
    for (const stray of strays) this.#holdings.find(stray.destinationId)?.writeOff(stray);
    // They are older than what was read there.
    for (const id of movedTo) {
      const destination = this.#holdings.find(id);
      if (destination !== undefined) this.#changes.add(destination);
    }
    this.#parts.watch.batch('written', outcomes.length);
    for (const outcome of outcomes) {
      const { delivery } = outcome;
      const destination = this.#holdings.find(delivery.destinationId);
      if (destination === undefined || destination.epoch !== outcome.epoch) continue;
      if (ours.has(destination.id)) {
        destination.writeOff(delivery);
        this.#parts.watch.outcome(outcome);
      } else this.#drop(destination);
    }
    await this.#standing.write();
    if (this.#writeOffs.size > 0) this.#writeSoon();
    this.#again = true;
  }

  #writeSoon(): void {
    if (this.#writeOffs.size >= writesAtOnce) this.#wake();
    this.#writeTimer ??= setTimeout(() => {
      this.#writeTimer = null;
      this.#writesDue = true;
      this.#wake();
    }, writeAfterMs).unref();
  }

  async #lease(): Promise<void> {
    const room = Math.min(leasesAtOnce, mostDestinations - this.#holdings.size);
    const now = performance.now();
    // What cannot be used is not leased.
    if (room <= 0 || !this.#leases.isThere) return;
    if (this.#isPolling) {
      this.#isPolling = false;
      await this.#leases.lookAround();
      // The database was away for so long: what is ours still is not taken anew, which would send again what is under way.
      if (this.#holdings.all.some(({ terms }) => terms.leasedUntil < now)) await this.#renew();
      const { leases, terms, oldestDueSec } = await this.#leases.leaseAny(room);
      this.#parts.watch.oldestDue(oldestDueSec);
      if (leases.length === leasesAtOnce) this.#isPolling = true;
      this.#take(leases, terms);
      return;
    }
    const due = this.#asking.due(now);
    if (due === null) return;
    if ('inMs' in due) return this.#wakeSoon(due.inMs);
    const { leases, terms } = await this.#leases.leaseOf(due.accounts, room).catch((error: unknown) => {
      this.#asking.putBack(due.accounts);
      throw error;
    });
    this.#asking.answer(due.accounts, new Set(leases.map(({ accountId }) => accountId)), now);
    this.#take(leases, terms);
  }

  #take(leases: readonly Lease[], terms: LeaseTerms): void {
    for (const lease of leases) {
      const before = this.#holdings.find(lease.id);
      if (before !== undefined) this.#drop(before);
      this.#holdings.take(lease, terms);
    }
    if (leases.length > 0) this.#again = true;
  }

  async #read(): Promise<void> {
    const now = performance.now();
    if (this.#sending > 0 && now - this.#readAt < readGapMs) return this.#wakeSoon(readGapMs);
    const fed = await this.#reader.read(now);
    if (fed.length > 0) this.#readAt = now;
    for (const destination of fed) this.#pump(destination);
    // What is dirty now came meanwhile, or did not fit.
    if (fed.length > 0 && this.#holdings.dirty.size > 0) this.#wakeSoon(readGapMs);
    for (const destination of await this.#reader.resumeLanes()) this.#pump(destination);
  }

  #pump(destination: Destination): void {
    while (this.#maySend(destination) && this.#isResolved(destination)) {
      const delivery = destination.lanes.take();
      if (delivery === undefined) break;
      destination.sending += 1;
      this.#sending += 1;
      destination.activeAt = performance.now();
      void this.#deliver(destination, delivery);
    }
    if (destination.isHungry(performance.now())) this.#wake();
  }

  #maySend(destination: Destination): boolean {
    const now = performance.now();
    if (this.#stopped || now < destination.pausedUntil || !this.#isOurs(destination, now)) return false;
    if (this.#changes.concern(destination)) return false;
    const state = destination.state(now);
    if (state !== 'closed') return state === 'half_open' && destination.sending === 0;
    const free = Math.floor((mostSending - this.#sending) * shareOfFree);
    return destination.sending < Math.min(mostToDestination, Math.max(1, free));
  }

  /**
   * A destination waits for its name here, where it holds no place that another could have. One whose name does not resolve is
   * sent to all the same: the attempt fails at once, and is written down as any other.
   */
  #isResolved(destination: Destination): boolean {
    const { courier } = this.#parts;
    if (courier.isPrepared(destination)) return true;
    if (destination.isResolving || destination.lanes.readyCount === 0) return false;
    destination.isResolving = true;
    void courier.prepare(destination).then(() => {
      destination.isResolving = false;
      if (!courier.isPrepared(destination)) destination.pausedUntil = performance.now() + pollMs;
      this.#pump(destination);
    });
    return false;
  }

  /** The lease is ours, and nobody can have taken it. */
  #isOurs(destination: Destination, now: number): boolean {
    return this.#holdings.isOurs(destination) && this.#leases.mayUse(destination.terms, now);
  }

  async #deliver(destination: Destination, delivery: Delivery): Promise<void> {
    const { book, courier } = this.#parts;
    try {
      const { payload, webhookId } = delivery;
      const webhook = book.peek(webhookId) ?? (await book.get(webhookId));
      const why = whyNot(webhook, delivery);
      // Reading it may have taken so long that it is another's to send.
      if (!this.#isOurs(destination, performance.now())) destination.putBack(delivery);
      else if (webhook !== null && webhook.destinationId !== destination.id) this.#sendOn(destination, delivery);
      else if (webhook === null || payload === null || why !== null)
        this.#settle(destination, turnedAway(delivery, destination.epoch, webhook));
      else {
        const at = new Date();
        const attempt = await courier.carry(destination, delivery, webhook, payload);
        if (attempt.unavailable === true) destination.breaker.unanswered(performance.now());
        else if (attempt.unavailable === false) destination.breaker.answered();
        this.#writeOffs.patience.note(destination, attempt);
        this.#standing.note(webhook, attempt);
        const decided = decide(delivery, attempt, Math.random());
        this.#settle(destination, { delivery, epoch: destination.epoch, at, ...decided, attempt, note: null });
      }
    } catch (error) {
      // The webhook could not be read: nothing was sent.
      this.#complain(error, 'a delivery could not be made; it is tried again');
      if (isDatabaseUnavailable(error)) {
        destination.putBack(delivery);
        destination.pausedUntil = performance.now() + pauseMs;
      } else {
        // It must not hold up others.
        this.#settle(destination, failedUnmade(delivery, destination.epoch));
      }
    }
    destination.sending -= 1;
    this.#sending -= 1;
    if (this.#sending === 0) this.#drained?.();
    this.#pump(destination);
  }

  /** Its webhook has moved. Sent from here, it would bring what is meant for the new address to the old one. */
  #sendOn(destination: Destination, delivery: Delivery): void {
    this.#goOn(destination, delivery, 'pass');
    this.#writeOffs.addStray(delivery);
    this.#writeSoon();
  }

  #goOn(destination: Destination, delivery: Delivery, then: 'pass' | 'wait'): void {
    destination.settle(delivery, then);
    if (!destination.isResuming) return;
    this.#holdings.resuming.add(destination);
    this.#wake();
  }

  #settle(destination: Destination, outcome: Outcome): void {
    const { delivery, state, parked } = outcome;
    // It was taken from us: what it has come to is for whoever has it now to find out.
    if (!this.#holdings.isOurs(destination) || this.#isCut) return;
    this.#goOn(destination, delivery, state === 'retrying' && !parked ? 'wait' : 'pass');
    this.#writeOffs.add(outcome);
    this.#writeSoon();
  }

  async #renew(): Promise<void> {
    const held = this.#holdings.all;
    if (held.length === 0) return;
    try {
      const { ours, terms } = await this.#leases.renew(held);
      for (const destination of held) {
        if (ours.has(destination.id)) destination.terms = terms;
        else if (this.#holdings.isOurs(destination)) this.#drop(destination);
        this.#pump(destination);
      }
    } catch (error) {
      this.#complain(error, 'leases of destinations could not be renewed; it is tried again');
    }
  }

  /** Another has it. */
  #drop(destination: Destination): void {
    this.#holdings.drop(destination);
    this.#changes.drop(destination);
    this.#writeOffs.drop(destination.id);
    this.#parts.courier.leave(destination);
  }

  /** Others may have them; or we again, when there is something to do. */
  #giveBackIdle(now: number): void {
    const idle = this.#holdings.all.filter((each) => each.sending === 0 && each.isIdle(now, idleMs));
    if (idle.length === 0) return;
    for (const destination of idle) this.#drop(destination);
    this.#leases
      .release(idle)
      .catch((error: unknown) =>
        this.#complain(error, 'idle destinations could not be given back; their leases run out'),
      );
  }

  #complain(error: unknown, what: string): void {
    if (!isDatabaseUnavailable(error)) this.#parts.log.error({ err: error }, what);
  }
}
