import type { WebhookId } from '../../../events/subscriptions/attach-webhooks.ts';
import type { Sql } from '../../../platform/database/database.ts';
import type { Destination } from '../destination.ts';
import type { LeasedDestinations } from '../leases/leased-destinations.ts';
import { destinationsOf } from '../store.ts';

/**
 * Destinations that must be reloaded because one of their webhooks has changed. Nothing is sent to them until then: deliveries
 * that moved here with a webhook are older than those in memory, which may have to wait for them.
 */
export class StaleDestinations {
  readonly #sql: Sql;
  readonly #leased: LeasedDestinations;
  /** Changed webhooks whose current destination is not known yet. */
  readonly #changedWebhooks: WebhookId[] = [];
  readonly #stale = new Set<Destination>();

  constructor(sql: Sql, leased: LeasedDestinations) {
    this.#sql = sql;
    this.#leased = leased;
  }

  /** `null`: any webhook may have changed. */
  onWebhookChanged(id: WebhookId | null): void {
    for (const destination of this.#leased.all)
      if (id === null || destination.hasWebhook(id)) this.#stale.add(destination);
    if (id !== null && this.#leased.size > 0) this.#changedWebhooks.push(id);
  }

  /** Marks a destination as stale for another reason. */
  add(destination: Destination): void {
    this.#stale.add(destination);
  }

  drop(destination: Destination): void {
    this.#stale.delete(destination);
  }

  isStale(destination: Destination): boolean {
    return this.#changedWebhooks.length > 0 || this.#stale.has(destination);
  }

  /** The destinations of changed webhooks are not known yet, so nothing is sent to any destination. */
  get isUndetermined(): boolean {
    return this.#changedWebhooks.length > 0;
  }

  /** All stale destinations. Call `remove` for each one after its reload. */
  async find(): Promise<readonly Destination[]> {
    const webhooks = [...this.#changedWebhooks];
    if (webhooks.length > 0) {
      for (const id of await destinationsOf(this.#sql, webhooks)) {
        const destination = this.#leased.find(id);
        if (destination !== undefined) this.#stale.add(destination);
      }
      this.#changedWebhooks.splice(0, webhooks.length);
    }
    return [...this.#stale];
  }
}
