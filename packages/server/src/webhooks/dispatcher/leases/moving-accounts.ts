import { findMovingAccounts } from '../../../identity/moving.ts';
import type { RowChanges } from '../../../platform/database/row-changes.ts';
import type { Sql } from '../../../platform/database/database.ts';
import type { AccountId } from '../../../platform/ids.ts';

/** The accounts that are being moved to another installation: nothing is sent for them. Read again whenever an account has changed. */
export class MovingAccounts {
  readonly #sql: Sql;
  #ids: ReadonlySet<AccountId> = new Set();
  #isStale = true;

  constructor(sql: Sql, rowChanges: RowChanges, onStale: () => void) {
    this.#sql = sql;
    const markStale = (): void => {
      this.#isStale = true;
      onStale();
    };
    rowChanges.on('accounts', markStale);
    rowChanges.onReset(markStale);
  }

  get ids(): Iterable<AccountId> {
    return this.#ids;
  }

  has(id: AccountId): boolean {
    return this.#ids.has(id);
  }

  async refresh(): Promise<void> {
    if (!this.#isStale) return;
    this.#isStale = false;
    try {
      this.#ids = await findMovingAccounts(this.#sql);
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }
}
