import type { ClockWatch } from '../../../platform/clock/clock-watch.ts';
import type { Sql } from '../../../platform/database/database.ts';
import type { DatabaseSession } from '../../../platform/database/database-session.ts';
import type { DestinationId } from '../../../events/subscriptions/destination.ts';
import { newId, type AccountId } from '../../../platform/ids.ts';
import { GoneSessions } from './gone-sessions.ts';
import {
  findGoneSessions,
  leaseAny,
  leaseOf,
  leaseSec,
  releaseLeases,
  renewLeases,
  type Claimant,
  type Lease,
} from './leases.ts';
import { moveDueTimes } from '../reading/move-due-times.ts';

/** We use a lease for this much less than its duration, to allow for latency. */
const leaseMarginMs = 2_000;
/** For this long after a step of the clock no lease expires by time: all live owners have renewed by then. */
const untrustedMs = leaseSec * 1_000;
/** Due times that were not moved with the clock are searched this often, and at once after a step. */
const checkTimesMs = 60_000;

/** Until when, and with which session, a lease may be used. */
export interface LeaseTerms {
  /** By the monotonic clock of this process. */
  readonly leasedUntil: number;
  /** The database session of the owner, by which others see that it is alive. */
  readonly session: number | null;
}

interface LeaseKeeperDependencies {
  readonly sql: Sql;
  readonly session: DatabaseSession;
  readonly clock: ClockWatch;
}

/**
 * Leases destinations for this process, and decides until when each may be used.
 *
 * A destination may be used while its lease lasts, by the monotonic clock, and while the session that leased or last renewed it
 * is alive. A process that has lost its session uses no lease until it has renewed with the next session: others may have taken
 * over meanwhile, which the epoch shows.
 */
export class LeaseKeeper {
  /** The owner of our leases; a restarted process has another one. */
  readonly owner = newId<string>();
  readonly #deps: LeaseKeeperDependencies;
  readonly #gone = new GoneSessions();
  #checkTimesAt = 0;
  /** Renewals run one at a time, so that the one with the newest session is written last. */
  #renewing: Promise<unknown> = Promise.resolve();

  constructor(deps: LeaseKeeperDependencies) {
    this.#deps = deps;
    deps.clock.onStep(() => {
      this.#checkTimesAt = 0;
    });
  }

  /** Whether a lease taken now could be used. */
  get canLease(): boolean {
    return this.#deps.session.isAlive();
  }

  mayUse({ leasedUntil, session }: LeaseTerms, now: number): boolean {
    return now <= leasedUntil && session === this.#deps.session.number && this.#deps.session.isAlive(now);
  }

  /** Finds sessions that are gone, and moves due times after a step of the clock. */
  async checkSessionsAndClock(): Promise<void> {
    const now = performance.now();
    this.#gone.note(await findGoneSessions(this.#deps.sql), now);
    if (now < this.#checkTimesAt) return;
    // Set first: a step during the move makes the next check look again.
    this.#checkTimesAt = now + checkTimesMs;
    let isDone = false;
    try {
      isDone = await moveDueTimes(this.#deps.sql);
    } finally {
      if (!isDone) this.#checkTimesAt = 0;
    }
  }

  async leaseAny(limit: number): Promise<{ leases: Lease[]; terms: LeaseTerms; oldestDueSec: number }> {
    const claimant = this.#claimant();
    const terms = termsOf(claimant);
    return { ...(await leaseAny(this.#deps.sql, claimant, limit)), terms };
  }

  async leaseOf(accounts: readonly AccountId[], limit: number): Promise<{ leases: Lease[]; terms: LeaseTerms }> {
    const claimant = this.#claimant();
    const terms = termsOf(claimant);
    return { leases: await leaseOf(this.#deps.sql, claimant, accounts, limit), terms };
  }

  /** Renews the leases; returns those that are still ours and their new terms. */
  async renew(leases: readonly LeaseKey[]): Promise<{ ours: ReadonlySet<DestinationId>; terms: LeaseTerms }> {
    const run = this.#renewing.then(async () => {
      const claimant = this.#claimant();
      const terms = termsOf(claimant);
      return { ours: await renewLeases(this.#deps.sql, claimant, leases), terms };
    });
    this.#renewing = run.catch(() => undefined);
    return run;
  }

  async release(leases: readonly LeaseKey[]): Promise<void> {
    await releaseLeases(this.#deps.sql, this.owner, leases);
  }

  #claimant(): Claimant {
    const { clock, session } = this.#deps;
    const isTrusted = clock.sinceStepMs() > untrustedMs;
    return {
      owner: this.owner,
      session: session.number,
      gone: this.#gone.at(performance.now()),
      expectedNow: isTrusted ? clock.databaseNow() : null,
    };
  }
}

type LeaseKey = Parameters<typeof renewLeases>[2][number];

/** Calculated before the statement is sent, because the lease cannot begin earlier. */
function termsOf({ session }: Claimant): LeaseTerms {
  return { leasedUntil: performance.now() + leaseSec * 1_000 - leaseMarginMs, session };
}
