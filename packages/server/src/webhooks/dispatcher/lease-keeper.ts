import type { ClockWatch } from '../../platform/clock-watch.ts';
import type { Sql } from '../../platform/database.ts';
import type { DatabaseSession } from '../../platform/database-session.ts';
import type { DestinationId } from '../../events/destination.ts';
import { newId, type AccountId } from '../../platform/ids.ts';
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
import { moveDueTimes } from './move-due-times.ts';

/** A lease counts for less than it is, for the time it takes to hear of it. */
const leaseMarginMs = 2_000;
/** After a step of the clock no lease is judged by its time for so long: all owners that are there have renewed by then. */
const untrustedMs = leaseSec * 1_000;
/** Due times that were not moved with the clock are looked for so often; after a step at once. */
const checkTimesMs = 60_000;

/** On which terms a destination is ours. */
export interface LeaseTerms {
  /** By the monotonic clock of this process. */
  readonly leasedUntil: number;
  /** The session that others see the owner by. */
  readonly session: number | null;
}

interface LeaseKeeperParts {
  readonly sql: Sql;
  readonly session: DatabaseSession;
  readonly clock: ClockWatch;
}

/**
 * Leases destinations in the name of this process, and says until when each may be used.
 *
 * A destination may be used while its lease lasts, by the monotonic clock, and while the session that it was leased or last
 * renewed by is there. A process that has lost its session uses nothing until it has renewed by the next one: others may have
 * taken over by then, which the epoch tells.
 */
export class LeaseKeeper {
  /** Leases are in this name; a process that starts again is another. */
  readonly owner = newId<string>();
  readonly #parts: LeaseKeeperParts;
  readonly #gone = new GoneSessions();
  #checkTimesAt = 0;
  /** Renewals take turns: the one by the newest session must be the last that is written. */
  #renewing: Promise<unknown> = Promise.resolve();

  constructor(parts: LeaseKeeperParts) {
    this.#parts = parts;
    parts.clock.onStep(() => {
      this.#checkTimesAt = 0;
    });
  }

  /** Whether anything that is leased now could be used. */
  get isThere(): boolean {
    return this.#parts.session.isHeld();
  }

  mayUse({ leasedUntil, session }: LeaseTerms, now: number): boolean {
    return now <= leasedUntil && session === this.#parts.session.number && this.#parts.session.isHeld(now);
  }

  /** What happened to clocks and to other processes since this was last asked. */
  async lookAround(): Promise<void> {
    const now = performance.now();
    if (now >= this.#checkTimesAt) {
      await moveDueTimes(this.#parts.sql);
      this.#checkTimesAt = now + checkTimesMs;
    }
    this.#gone.note(await findGoneSessions(this.#parts.sql), now);
  }

  async leaseAny(most: number): Promise<{ leases: Lease[]; terms: LeaseTerms; oldestDueSec: number }> {
    const claimant = this.#claimant();
    const terms = termsOf(claimant);
    return { ...(await leaseAny(this.#parts.sql, claimant, most)), terms };
  }

  async leaseOf(accounts: readonly AccountId[], most: number): Promise<{ leases: Lease[]; terms: LeaseTerms }> {
    const claimant = this.#claimant();
    const terms = termsOf(claimant);
    return { leases: await leaseOf(this.#parts.sql, claimant, accounts, most), terms };
  }

  /** Those that are still ours, and the terms from now on. */
  async renew(held: readonly HeldLease[]): Promise<{ ours: ReadonlySet<DestinationId>; terms: LeaseTerms }> {
    const run = this.#renewing.then(async () => {
      const claimant = this.#claimant();
      const terms = termsOf(claimant);
      return { ours: await renewLeases(this.#parts.sql, claimant, held), terms };
    });
    this.#renewing = run.catch(() => undefined);
    return run;
  }

  async release(held: readonly HeldLease[]): Promise<void> {
    await releaseLeases(this.#parts.sql, this.owner, held);
  }

  #claimant(): Claimant {
    const { clock, session } = this.#parts;
    const isTrusted = clock.sinceStepMs() > untrustedMs;
    return {
      owner: this.owner,
      session: session.number,
      gone: this.#gone.at(performance.now()),
      expectedNow: isTrusted ? clock.databaseNow() : null,
    };
  }
}

type HeldLease = Parameters<typeof renewLeases>[2][number];

/** Reckoned from before the statement is sent: the lease cannot have begun earlier. */
function termsOf({ session }: Claimant): LeaseTerms {
  return { leasedUntil: performance.now() + leaseSec * 1_000 - leaseMarginMs, session };
}
