import type { DestinationId } from '../../../events/subscriptions/destination.ts';
import type { Sql } from '../../../platform/database/database.ts';
import type { Delivery } from '../delivery.ts';
import { AnswerTimeouts } from './answer-timeouts.ts';
import { moveToWebhookDestination, writeOutcomes, type Outcome } from './outcomes.ts';

/** Outcomes written by one statement. */
const batchSize = 500;
/** Outcomes are written in batches: after this time, or when there are this many. */
const writeAfterMs = 20;
const writeThreshold = 200;

/**
 * When to write.
 *
 *   idle       nothing is pending, or the pending outcomes are being written
 *   scheduled  something is pending, until the timer ends
 *   due        the timer has ended, or the last write has failed
 *
 *              add        timer  write begins  write fails
 *   idle       scheduled  –      same          due
 *   scheduled  same       due    same          due
 *   due        same       –      idle          –
 */
type Schedule = { readonly state: 'idle' | 'due' } | { readonly state: 'scheduled'; readonly timer: NodeJS.Timeout };

/** Outcomes that are not yet written. They are kept until they are written, or until the lease of their destination is lost. */
export class PendingOutcomes {
  /** Written together with the outcomes. */
  readonly answerTimeouts: AnswerTimeouts;
  readonly #sql: Sql;
  readonly #owner: string;
  readonly #onDue: () => void;
  #outcomes: Outcome[] = [];
  #moved: Delivery[] = [];
  #schedule: Schedule = { state: 'idle' };

  constructor(sql: Sql, owner: string, onDue: () => void) {
    this.#sql = sql;
    this.#owner = owner;
    this.#onDue = onDue;
    this.answerTimeouts = new AnswerTimeouts(sql, owner);
  }

  get size(): number {
    return this.#outcomes.length + this.#moved.length;
  }

  get isDue(): boolean {
    return this.#schedule.state === 'due' || this.size >= writeThreshold;
  }

  add(outcome: Outcome): void {
    this.#outcomes.push(outcome);
    this.#writeSoon();
  }

  /** Adds a delivery whose webhook has another destination by now. */
  addMoved(delivery: Delivery): void {
    this.#moved.push(delivery);
    this.#writeSoon();
  }

  hasFor(id: DestinationId): boolean {
    return (
      this.#outcomes.some(({ delivery }) => delivery.destinationId === id) ||
      this.#moved.some(({ destinationId }) => destinationId === id)
    );
  }

  /** The lease of the destination was lost: drops its outcomes. */
  drop(id: DestinationId): void {
    this.#outcomes = this.#outcomes.filter(({ delivery }) => delivery.destinationId !== id);
  }

  /**
   * Writes a batch. Returns the outcomes, and the destinations that are still ours: nothing was written for the others. `null`:
   * there was nothing to write.
   */
  async write(): Promise<Written | null> {
    if (this.#schedule.state === 'due') this.#schedule = { state: 'idle' };
    if (this.size === 0) return null;
    const written = await this.#write().catch((error: unknown) => {
      if (this.#schedule.state === 'scheduled') clearTimeout(this.#schedule.timer);
      this.#schedule = { state: 'due' };
      throw error;
    });
    if (this.size > 0) this.#writeSoon();
    return written;
  }

  async #write(): Promise<Written> {
    // This comes first: if it fails, nothing was written that would be written twice.
    await this.answerTimeouts.write();
    const moved = this.#moved.slice(0, batchSize);
    const changedIds = moved.map(({ id }) => id);
    const movedTo = changedIds.length === 0 ? [] : await moveToWebhookDestination(this.#sql, changedIds);
    this.#moved = this.#moved.slice(moved.length);
    const outcomes = this.#outcomes.slice(0, batchSize);
    const ours =
      outcomes.length === 0 ? new Set<DestinationId>() : await writeOutcomes(this.#sql, this.#owner, outcomes);
    const written = new Set(outcomes);
    this.#outcomes = this.#outcomes.filter((outcome) => !written.has(outcome));
    return { moved, movedTo, outcomes, ours };
  }

  #writeSoon(): void {
    if (this.size >= writeThreshold) this.#onDue();
    if (this.#schedule.state !== 'idle') return;
    const timer = setTimeout(() => {
      this.#schedule = { state: 'due' };
      this.#onDue();
    }, writeAfterMs).unref();
    this.#schedule = { state: 'scheduled', timer };
  }
}

interface Written {
  readonly moved: readonly Delivery[];
  readonly movedTo: readonly DestinationId[];
  readonly outcomes: readonly Outcome[];
  readonly ours: ReadonlySet<DestinationId>;
}
