import type { AccountId } from '../platform/ids.ts';
import { BoundedMap } from '../platform/bounded-map.ts';
import type { RowChanges } from '../platform/database/row-changes.ts';

/** An account whose epoch is evicted is read again, as after a change. */
const maxAccounts = 100_000;

/** An object for each account that is replaced by another one when the account changes. */
export class AccountEpochs {
  readonly #changes: RowChanges;
  readonly #epochs = new BoundedMap<string, object>(maxAccounts);

  /** `tables`: the notifications of a change, which carry the id of the account. */
  constructor(changes: RowChanges, tables: readonly string[]) {
    this.#changes = changes;
    for (const table of tables) changes.on(table, (accountId) => this.#epochs.delete(accountId));
    changes.onReset(() => this.#epochs.clear());
  }

  /** While notifications are not received, every call begins an epoch: what was read before may be outdated. */
  current(accountId: AccountId): object {
    if (!this.#changes.live) return {};
    const known = this.#epochs.get(accountId);
    if (known !== undefined) return known;
    const epoch = {};
    this.#epochs.set(accountId, epoch);
    return epoch;
  }

  end(accountId: AccountId): void {
    this.#epochs.delete(accountId);
  }
}
