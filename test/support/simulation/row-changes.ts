import type { RowChanges } from '../../../packages/server/src/platform/database/row-changes.ts';

/** Notifications of a simulated process, which the scheduler delivers or loses. */
export class SimulatedRowChanges implements RowChanges {
  readonly live = true;
  readonly numbers = { lagMs: 0, reconnects: 0, notifications: 0 };
  readonly #listeners: { readonly table: string; readonly onChange: (id: string) => void }[] = [];
  readonly #resets: (() => void)[] = [];

  on(table: string, onChange: (id: string) => void): void {
    this.#listeners.push({ table, onChange });
  }

  onReset(clear: () => void): void {
    this.#resets.push(clear);
  }

  /** The notification of a changed row has arrived. */
  announce(table: string, id: string): void {
    for (const each of this.#listeners) if (each.table === table) each.onChange(id);
  }

  /** Notifications were lost, and the process knows it. */
  reset(): void {
    for (const clear of this.#resets) clear();
  }

  async caughtUp(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    return Promise.resolve();
  }
}
