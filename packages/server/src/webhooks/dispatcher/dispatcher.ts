import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import type { Hints } from '../../events/hints.ts';
import type { RowChanges } from '../../platform/database/row-changes.ts';
import type { ClockWatch } from '../../platform/clock/clock-watch.ts';
import { isDatabaseUnavailable, type Sql } from '../../platform/database/database.ts';
import type { DatabaseSession } from '../../platform/database/database-session.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { AccountProbes } from './account-probes.ts';
import { StaleDestinations } from './reading/stale-destinations.ts';
import type { Transport } from './transport.ts';
import type { Destination } from './destination.ts';
import { LeasedDestinations } from './leases/leased-destinations.ts';
import { LeaseKeeper, type LeaseTerms } from './leases/lease-keeper.ts';
import { MovingAccounts } from './leases/moving-accounts.ts';
import type { Lease } from './leases/leases.ts';
import { Loop } from './loop.ts';
import type { Outcome } from './outcomes/outcomes.ts';
import { Reader } from './reading/reader.ts';
import { Sender } from './sender.ts';
import { WebhookHealth } from './outcomes/webhook-health.ts';
import type { WebhookCache } from './reading/webhook-cache.ts';
import { PendingOutcomes } from './outcomes/pending-outcomes.ts';

/** Minimum time between reads while requests are in flight. */
const readGapMs = 5;
/** Destinations leased by one statement. */
const leaseBatch = 64;
const maxDestinations = 5_000;
const renewMs = 5_000;
/** The lease of a destination that is idle for this long is released. */
const idleMs = 10_000;
const pollMs = 1_000;
/** A destination with blocked lanes is reloaded this often. */
const reloadMs = 60_000;
/** Pause after a failed round, usually because the database is unavailable. */
const pauseMs = 250;

export interface DispatcherDependencies {
  readonly sql: Sql;
  readonly hints: Hints;
  readonly rowChanges: RowChanges;
  readonly session: DatabaseSession;
  readonly clock: ClockWatch;
  readonly webhookCache: WebhookCache;
  readonly transport: Transport;
  readonly log: Log;
  readonly watch: DispatcherWatch;
}

/** Receives the numbers for the metrics. */
export interface DispatcherWatch {
  outcome(outcome: Outcome): void;
  batch(kind: 'read' | 'written', size: number): void;
  oldestDue(seconds: number): void;
  /** Another process has taken a lease that this one still had. */
  leaseLost(): void;
  roundFailed(): void;
}

/**
 * Delivers what is due. A destination belongs to the process that has its lease; that process reads the due deliveries in
 * batches, keeps their order in memory, and writes their outcomes in batches. Nothing is written when a delivery is sent: a
 * process that takes over a destination sends all deliveries without an outcome again.
 *
 * One loop runs all statements, one at a time: so a read cannot return a delivery that a write is just deleting, which would be
 * sent twice.
 */
export class Dispatcher {
  readonly #deps: DispatcherDependencies;
  readonly #loop: Loop;
  readonly #health: WebhookHealth;
  readonly #leases: LeaseKeeper;
  readonly #leased = new LeasedDestinations();
  readonly #reader: Reader;
  readonly #moving: MovingAccounts;
  readonly #stale: StaleDestinations;
  readonly #pendingOutcomes: PendingOutcomes;
  readonly #sender: Sender;
  readonly #probes = new AccountProbes<AccountId>();
  #lastReadAt = 0;
  /** The next round leases free destinations of every account. */
  #isPollDue = true;
  readonly #timers: NodeJS.Timeout[];

  constructor(deps: DispatcherDependencies) {
    this.#deps = deps;
    const wake = (): void => this.#loop.wake();
    this.#loop = new Loop({
      round: async () => this.#round(),
      onFailure: (error) => {
        deps.watch.roundFailed();
        this.#logError(error, 'dispatcher round failed; retrying');
      },
      pauseMs,
    });
    this.#health = new WebhookHealth(deps);
    this.#leases = new LeaseKeeper(deps);
    this.#pendingOutcomes = new PendingOutcomes(deps.sql, this.#leases.owner, wake);
    this.#moving = new MovingAccounts(deps.sql, deps.rowChanges, wake);
    this.#stale = new StaleDestinations(deps.sql, this.#leased);
    this.#reader = new Reader({
      sql: deps.sql,
      leased: this.#leased,
      onBatch: (size) => deps.watch.batch('read', size),
      onNewEpoch: () => {
        for (const destination of this.#leased.all) this.#stale.add(destination);
      },
    });
    this.#sender = new Sender({
      ...deps,
      leased: this.#leased,
      leases: this.#leases,
      moving: this.#moving,
      stale: this.#stale,
      pendingOutcomes: this.#pendingOutcomes,
      health: this.#health,
      wake,
      logError: (error, what) => this.#logError(error, what),
    });
    deps.hints.on((accountId, source) => this.#onHint(accountId, source));
    deps.rowChanges.on('webhooks', (id) => this.#onWebhookChanged(id as WebhookId));
    deps.rowChanges.onReset(() => this.#onWebhookChanged(null));
    // Others may take a lease of a lost session, until it is renewed with the new session.
    deps.session.onOpened(() => void this.#renew());
    // Our leases expire by the old clock, and delayed deliveries become due at other times.
    deps.clock.onStep(() => {
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
    return this.#leased.all;
  }

  get sending(): number {
    return this.#sender.count;
  }

  /** Stops sending; resolves when requests in flight are done, their outcomes written and all leases released. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    const lastRound = this.#loop.stop();
    await this.#sender.drain();
    await lastRound;
    try {
      while (this.#pendingOutcomes.size > 0) await this.#write();
      const leased = this.#leased.all;
      if (leased.length > 0) await this.#leases.release(leased);
    } catch (error) {
      this.#logError(error, 'could not write the last outcomes before the stop; these deliveries are sent again');
    }
    for (const destination of this.#leased.all) this.#deps.transport.closeDestination(destination);
  }

  #onHint(accountId: AccountId, source: 'here' | 'elsewhere'): void {
    const leased = this.#leased.ofAccount(accountId);
    for (const destination of leased) destination.markDirty();
    // An event of another process: that process leases free destinations.
    if (source === 'here') this.#probes.request(accountId);
    else if (leased.size === 0) return;
    this.#loop.wake();
  }

  /** A webhook has changed: its destinations are reloaded. `null`: any webhook may have changed. */
  #onWebhookChanged(id: WebhookId | null): void {
    this.#stale.onWebhookChanged(id);
    this.#loop.wake();
  }

  #poll(): void {
    this.#isPollDue = true;
    const now = performance.now();
    this.#probes.prune(now);
    this.#giveBackIdle(now);
    for (const destination of this.#leased.all) {
      // A delayed delivery becomes due, and a pause ends, by time alone; nobody notifies us.
      destination.markDirty();
      // Another process may have removed a head that others wait for.
      if (destination.lanes.blockedCount > 0 && now - destination.reloadedAt > reloadMs) this.#stale.add(destination);
      this.#sender.pump(destination);
    }
    this.#loop.wake();
  }

  async #round(): Promise<void> {
    if (this.#pendingOutcomes.isDue) await this.#write();
    await this.#reloadStale();
    await this.#releaseMoving();
    await this.#lease();
    await this.#read();
  }

  /**
   * Reloads stale destinations, but not before their outcomes are written: otherwise it would be lost that a delivery has failed
   * and that others wait for it.
   */
  async #reloadStale(): Promise<void> {
    const wasUndetermined = this.#stale.isUndetermined;
    const staleDestinations = await this.#stale.find();
    if (staleDestinations.some(({ id }) => this.#pendingOutcomes.hasFor(id))) await this.#write();
    for (const destination of staleDestinations) {
      this.#loop.wake();
      if (this.#pendingOutcomes.hasFor(destination.id)) continue;
      destination.reload();
      this.#stale.drop(destination);
    }
    if (wasUndetermined) for (const destination of this.#leased.all) this.#sender.pump(destination);
  }

  /** Releases the destinations of accounts that are being moved, once nothing is in flight there and every outcome is written. */
  async #releaseMoving(): Promise<void> {
    await this.#moving.refresh();
    const done: Destination[] = [];
    for (const accountId of this.#moving.ids)
      for (const destination of this.#leased.ofAccount(accountId))
        if (destination.sending === 0 && !this.#pendingOutcomes.hasFor(destination.id)) done.push(destination);
    if (done.length === 0) return;
    for (const destination of done) this.#drop(destination);
    await this.#leases.release(done);
  }

  async #write(): Promise<void> {
    const written = await this.#pendingOutcomes.write();
    if (written === null) return;
    const { moved, movedTo, outcomes, ours } = written;
    for (const delivery of moved) this.#leased.find(delivery.destinationId)?.release(delivery);
    // Moved deliveries may be older than those already read there.
    for (const id of movedTo) {
      const destination = this.#leased.find(id);
      if (destination !== undefined) this.#stale.add(destination);
    }
    this.#deps.watch.batch('written', outcomes.length);
    for (const outcome of outcomes) {
      const { delivery } = outcome;
      const destination = this.#leased.find(delivery.destinationId);
      if (destination === undefined || destination.epoch !== outcome.epoch) continue;
      if (ours.has(destination.id)) {
        destination.release(delivery);
        this.#deps.watch.outcome(outcome);
      } else this.#lose(destination);
    }
    await this.#health.write();
    this.#loop.wake();
  }

  async #lease(): Promise<void> {
    const room = Math.min(leaseBatch, maxDestinations - this.#leased.size);
    const now = performance.now();
    // Without a session a lease could not be used.
    if (room <= 0 || !this.#leases.canLease) return;
    if (this.#isPollDue) {
      this.#isPollDue = false;
      await this.#leases.checkSessionsAndClock();
      // After a long outage of the database our leases have expired. Renew them: leasing them again would send deliveries in flight again.
      if (this.#leased.all.some(({ terms }) => terms.leasedUntil < now)) await this.#renew();
      const { leases, terms, oldestDueSec } = await this.#leases.leaseAny(room);
      this.#deps.watch.oldestDue(oldestDueSec);
      if (leases.length === leaseBatch) this.#isPollDue = true;
      this.#addLeases(leases, terms);
      return;
    }
    const due = this.#probes.due(now);
    if (due === null) return;
    if ('inMs' in due) return this.#loop.wakeWithin(due.inMs);
    const { leases, terms } = await this.#leases.leaseOf(due.accounts, room).catch((error: unknown) => {
      this.#probes.putBack(due.accounts);
      throw error;
    });
    this.#probes.record(due.accounts, new Set(leases.map(({ accountId }) => accountId)), now);
    this.#addLeases(leases, terms);
  }

  #addLeases(leases: readonly Lease[], terms: LeaseTerms): void {
    for (const lease of leases) {
      const before = this.#leased.find(lease.id);
      if (before !== undefined) this.#drop(before);
      this.#leased.take(lease, terms);
    }
    if (leases.length > 0) this.#loop.wake();
  }

  async #read(): Promise<void> {
    const now = performance.now();
    if (this.#sender.count > 0 && now - this.#lastReadAt < readGapMs) return this.#loop.wakeWithin(readGapMs);
    const read = await this.#reader.read(now);
    if (read.length > 0) this.#lastReadAt = now;
    for (const destination of read) this.#sender.pump(destination);
    // Destinations that are dirty now became so meanwhile, or did not fit into the read.
    if (read.length > 0 && this.#leased.dirty.size > 0) this.#loop.wakeWithin(readGapMs);
    for (const destination of await this.#reader.resumeLanes()) this.#sender.pump(destination);
  }

  async #renew(): Promise<void> {
    const leased = this.#leased.all;
    if (leased.length === 0) return;
    try {
      const { ours, terms } = await this.#leases.renew(leased);
      for (const destination of leased) {
        if (ours.has(destination.id)) destination.terms = terms;
        else if (this.#leased.isOurs(destination)) this.#lose(destination);
        this.#sender.pump(destination);
      }
    } catch (error) {
      this.#logError(error, 'could not renew the leases of destinations; retrying');
    }
  }

  #lose(destination: Destination): void {
    this.#deps.watch.leaseLost();
    this.#drop(destination);
  }

  /** The lease was lost or released. */
  #drop(destination: Destination): void {
    this.#leased.drop(destination);
    this.#stale.drop(destination);
    this.#pendingOutcomes.drop(destination.id);
    this.#deps.transport.closeDestination(destination);
  }

  /** Releases idle destinations. Any process may lease them again when they have something due. */
  #giveBackIdle(now: number): void {
    const idle = this.#leased.all.filter((each) => each.sending === 0 && each.isIdle(now, idleMs));
    if (idle.length === 0) return;
    for (const destination of idle) this.#drop(destination);
    this.#leases
      .release(idle)
      .catch((error: unknown) =>
        this.#logError(error, 'could not release idle destinations; their leases will expire'),
      );
  }

  #logError(error: unknown, what: string): void {
    if (!isDatabaseUnavailable(error)) this.#deps.log.error({ err: error }, what);
  }
}
