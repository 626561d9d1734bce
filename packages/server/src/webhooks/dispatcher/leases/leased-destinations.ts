import type { DestinationId } from '../../../events/subscriptions/destination.ts';
import type { AccountId } from '../../../platform/ids.ts';
import { Destination } from '../destination.ts';
import type { LeaseTerms } from './lease-keeper.ts';
import type { Lease } from './leases.ts';

const none: ReadonlySet<Destination> = new Set();

/** The destinations that this process has leased. */
export class LeasedDestinations {
  /** Destinations that may have something to read. */
  readonly dirty = new Set<Destination>();
  /** Destinations with lanes to resume. */
  readonly resuming = new Set<Destination>();
  readonly #all = new Map<DestinationId, Destination>();
  readonly #ofAccount = new Map<AccountId, Set<Destination>>();

  get size(): number {
    return this.#all.size;
  }

  get all(): readonly Destination[] {
    return [...this.#all.values()];
  }

  find(id: DestinationId): Destination | undefined {
    return this.#all.get(id);
  }

  ofAccount(id: AccountId): ReadonlySet<Destination> {
    return this.#ofAccount.get(id) ?? none;
  }

  isOurs(destination: Destination): boolean {
    return this.#all.get(destination.id) === destination;
  }

  take(lease: Lease, terms: LeaseTerms): void {
    const onDirty = (dirty: Destination): void => {
      // A destination whose lease was lost may still have requests in flight that settle.
      if (this.isOurs(dirty)) this.dirty.add(dirty);
    };
    const destination = new Destination(lease, { now: performance.now(), terms, onDirty });
    this.#all.set(lease.id, destination);
    this.dirty.add(destination);
    const others = this.#ofAccount.get(lease.accountId) ?? new Set();
    this.#ofAccount.set(lease.accountId, others.add(destination));
  }

  drop(destination: Destination): void {
    this.dirty.delete(destination);
    this.resuming.delete(destination);
    if (this.isOurs(destination)) this.#all.delete(destination.id);
    const others = this.#ofAccount.get(destination.accountId);
    others?.delete(destination);
    if (others?.size === 0) this.#ofAccount.delete(destination.accountId);
  }
}
