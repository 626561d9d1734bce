import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { Sql } from '../../platform/database.ts';
import type { Destination } from './destination.ts';
import type { Holdings } from './holdings.ts';
import { destinationsOf } from './store.ts';

/**
 * Destinations of which what is held has to be read again, because a webhook of theirs is no longer what it was. Nothing is
 * sent to them until then: what came along with a webhook from elsewhere is older than what was read, and others may have
 * to wait for it.
 */
export class Changes {
  readonly #sql: Sql;
  readonly #holdings: Holdings;
  /** Where these are called now is not known yet. */
  readonly #webhooks: WebhookId[] = [];
  readonly #forgetting = new Set<Destination>();

  constructor(sql: Sql, holdings: Holdings) {
    this.#sql = sql;
    this.#holdings = holdings;
  }

  /** `null`: any may have changed. */
  onWebhookChanged(id: WebhookId | null): void {
    for (const destination of this.#holdings.all)
      if (id === null || destination.knows(id)) this.#forgetting.add(destination);
    if (id !== null && this.#holdings.size > 0) this.#webhooks.push(id);
  }

  /** It is to be read again for another reason. */
  add(destination: Destination): void {
    this.#forgetting.add(destination);
  }

  drop(destination: Destination): void {
    this.#forgetting.delete(destination);
  }

  concern(destination: Destination): boolean {
    return this.#webhooks.length > 0 || this.#forgetting.has(destination);
  }

  /** Nothing is sent to anybody until it is known whom they concern. */
  get isHoldingUp(): boolean {
    return this.#webhooks.length > 0;
  }

  /** Those to forget. Whoever has is to `drop` it. */
  async find(): Promise<readonly Destination[]> {
    const webhooks = [...this.#webhooks];
    if (webhooks.length > 0) {
      for (const id of await destinationsOf(this.#sql, webhooks)) {
        const destination = this.#holdings.find(id);
        if (destination !== undefined) this.#forgetting.add(destination);
      }
      this.#webhooks.splice(0, webhooks.length);
    }
    return [...this.#forgetting];
  }
}
