import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { Hints } from '../../events/hints.ts';
import type { RowChanges } from '../../platform/row-changes.ts';
import type { ClockWatch } from '../../platform/clock-watch.ts';
import { isDatabaseUnavailable, type Sql } from '../../platform/database.ts';
import type { DatabaseSession } from '../../platform/database-session.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { Asking } from './asking.ts';
import { Changes } from './changes.ts';
import type { Courier } from './courier.ts';
import type { Destination } from './destination.ts';
import { Holdings } from './holdings.ts';
import { LeaseKeeper, type LeaseTerms } from './lease-keeper.ts';
import type { Lease } from './leases.ts';
import { Loop } from './loop.ts';
import type { Outcome } from './outcomes.ts';
import { Reader } from './reader.ts';
import { Sending } from './sending.ts';
import { Standing } from './standing.ts';
import type { WebhookBook } from './webhook-book.ts';
import { WriteOffs } from './write-offs.ts';

/** While requests are under way, reads are so far apart. */
const readGapMs = 5;
/** Destinations leased at once. */
const leasesAtOnce = 64;
const mostDestinations = 5_000;
const renewMs = 5_000;
/** A destination with nothing to do for so long is given back. */
const idleMs = 10_000;
const pollMs = 1_000;
/** What is held of a destination with blocked lanes is read anew so often. */
const forgetMs = 60_000;
/** After the database could not be reached. */
const pauseMs = 250;

export interface DispatcherParts {
  readonly sql: Sql;
  readonly hints: Hints;
  readonly rowChanges: RowChanges;
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
 * Delivers what is due. A destination belongs to the one process that has its lease; that process reads what is due for it in
 * batches, keeps the order in memory, and writes in batches what became of it. Nothing is written to say that a delivery is
 * being sent: whoever takes over a destination sends again what is not written off.
 *
 * One loop does what has to do with the database, one statement at a time: a read can therefore not show what a write has just
 * taken away, which would be sent twice.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #loop: Loop;
  readonly #standing: Standing;
  readonly #leases: LeaseKeeper;
  readonly #holdings = new Holdings();
  readonly #reader: Reader;
  readonly #changes: Changes;
  readonly #writeOffs: WriteOffs;
  readonly #sending: Sending;
  readonly #asking = new Asking<AccountId>();
  #readAt = 0;
  /** The next round looks for free destinations of every account. A request to the loop, independent of all its states. */
  #isPollDue = true;
  readonly #timers: NodeJS.Timeout[];

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    const wake = (): void => this.#loop.wake();
    this.#loop = new Loop({
      round: async () => this.#round(),
      onFailure: (error) => this.#complain(error, 'the dispatcher could not go on; it tries again'),
      pauseMs,
    });
    this.#standing = new Standing(parts);
    this.#leases = new LeaseKeeper(parts);
    this.#writeOffs = new WriteOffs(parts.sql, this.#leases.owner, wake);
    this.#changes = new Changes(parts.sql, this.#holdings);
    this.#reader = new Reader({
      sql: parts.sql,
      holdings: this.#holdings,
      onBatch: (size) => parts.watch.batch('read', size),
      onNewEpoch: () => {
        for (const destination of this.#holdings.all) this.#changes.add(destination);
      },
    });
    this.#sending = new Sending({
      ...parts,
      holdings: this.#holdings,
      leases: this.#leases,
      changes: this.#changes,
      writeOffs: this.#writeOffs,
      standing: this.#standing,
      wake,
      complain: (error, what) => this.#complain(error, what),
    });
    parts.hints.on((accountId, where) => this.#onHint(accountId, where));
    parts.rowChanges.on('webhooks', (id) => this.#onWebhookChanged(id as WebhookId));
    parts.rowChanges.onReset(() => this.#onWebhookChanged(null));
    // A lease by a session that was lost is anybody's, until it is renewed by the session that there is now.
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
    return this.#sending.count;
  }

  /** Sends nothing more; resolves when what is under way is done and written, and the destinations are free for others. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    const lastRound = this.#loop.stop();
    await this.#sending.drain();
    await lastRound;
    try {
      while (this.#writeOffs.size > 0) await this.#write();
      const held = this.#holdings.all;
      if (held.length > 0) await this.#leases.release(held);
    } catch (error) {
      this.#complain(error, 'what was delivered could not be written at the end; it is delivered again');
    }
    for (const destination of this.#holdings.all) this.#parts.courier.leave(destination);
  }

  #onHint(accountId: AccountId, where: 'here' | 'elsewhere'): void {
    for (const destination of this.#holdings.ofAccount(accountId)) destination.markDirty();
    // An event of another process: that process takes on what is nobody's.
    if (where === 'here') this.#asking.want(accountId);
    this.#loop.wake();
  }

  /** A webhook has changed: what is held of it is read again. `null`: any may have changed. */
  #onWebhookChanged(id: WebhookId | null): void {
    this.#changes.onWebhookChanged(id);
    this.#loop.wake();
  }

  #poll(): void {
    this.#isPollDue = true;
    const now = performance.now();
    this.#asking.forget(now);
    this.#giveBackIdle(now);
    for (const destination of this.#holdings.all) {
      // A delayed delivery becomes due, and a pause ends, by time alone: nobody tells us.
      destination.markDirty();
      // Somebody else may have taken a head away that others wait for.
      if (destination.lanes.blockedCount > 0 && now - destination.forgottenAt > forgetMs)
        this.#changes.add(destination);
      this.#sending.pump(destination);
    }
    this.#loop.wake();
  }

  async #round(): Promise<void> {
    if (this.#writeOffs.isDue) await this.#write();
    await this.#forget();
    await this.#lease();
    await this.#read();
  }

  /**
   * Forgets what is held of changed destinations, but not before its outcomes are written: that a delivery failed, and others
   * wait for it, would be forgotten with the rest, and could not be read either.
   */
  async #forget(): Promise<void> {
    const isHeld = this.#changes.isHoldingUp;
    const forgetting = await this.#changes.find();
    if (forgetting.some(({ id }) => this.#writeOffs.concern(id))) await this.#write();
    for (const destination of forgetting) {
      this.#loop.wake();
      if (this.#writeOffs.concern(destination.id)) continue;
      destination.forget();
      this.#changes.drop(destination);
    }
    if (isHeld) for (const destination of this.#holdings.all) this.#sending.pump(destination);
  }

  async #write(): Promise<void> {
    const written = await this.#writeOffs.write();
    if (written === null) return;
    const { strays, movedTo, outcomes, ours } = written;
    for (const stray of strays) this.#holdings.find(stray.destinationId)?.writeOff(stray);
    // The strays are older than what was read there.
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
    this.#loop.wake();
  }

  async #lease(): Promise<void> {
    const room = Math.min(leasesAtOnce, mostDestinations - this.#holdings.size);
    const now = performance.now();
    // What cannot be used is not leased.
    if (room <= 0 || !this.#leases.isThere) return;
    if (this.#isPollDue) {
      this.#isPollDue = false;
      await this.#leases.lookAround();
      // The database was away for so long: what is ours still is not taken anew, which would send again what is under way.
      if (this.#holdings.all.some(({ terms }) => terms.leasedUntil < now)) await this.#renew();
      const { leases, terms, oldestDueSec } = await this.#leases.leaseAny(room);
      this.#parts.watch.oldestDue(oldestDueSec);
      if (leases.length === leasesAtOnce) this.#isPollDue = true;
      this.#take(leases, terms);
      return;
    }
    const due = this.#asking.due(now);
    if (due === null) return;
    if ('inMs' in due) return this.#loop.wakeWithin(due.inMs);
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
    if (leases.length > 0) this.#loop.wake();
  }

  async #read(): Promise<void> {
    const now = performance.now();
    if (this.#sending.count > 0 && now - this.#readAt < readGapMs) return this.#loop.wakeWithin(readGapMs);
    const fed = await this.#reader.read(now);
    if (fed.length > 0) this.#readAt = now;
    for (const destination of fed) this.#sending.pump(destination);
    // What is dirty now came meanwhile, or did not fit.
    if (fed.length > 0 && this.#holdings.dirty.size > 0) this.#loop.wakeWithin(readGapMs);
    for (const destination of await this.#reader.resumeLanes()) this.#sending.pump(destination);
  }

  async #renew(): Promise<void> {
    const held = this.#holdings.all;
    if (held.length === 0) return;
    try {
      const { ours, terms } = await this.#leases.renew(held);
      for (const destination of held) {
        if (ours.has(destination.id)) destination.terms = terms;
        else if (this.#holdings.isOurs(destination)) this.#drop(destination);
        this.#sending.pump(destination);
      }
    } catch (error) {
      this.#complain(error, 'leases of destinations could not be renewed; it is tried again');
    }
  }

  /** The destination is no longer ours. */
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
