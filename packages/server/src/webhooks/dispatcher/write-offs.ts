import type { DestinationId } from '../../events/destination.ts';
import type { Sql } from '../../platform/database.ts';
import type { Delivery } from './delivery.ts';
import { Patience } from './patience.ts';
import { moveStrays, writeOutcomes, type Outcome } from './outcomes.ts';

/** Written in one statement. */
const inBatch = 500;
/** Outcomes are written together: those that there are after that time, or so many. */
const writeAfterMs = 20;
const writesAtOnce = 200;

/**
 * When to write.
 *
 *   idle       nothing waits, or what waits is being written
 *   scheduled  something waits, until the timer ends
 *   due        the timer has ended, or the last write has failed
 *
 *              add        timer  write begins  write fails
 *   idle       scheduled  –      same          due
 *   scheduled  same       due    same          due
 *   due        same       –      idle          –
 */
type Schedule = { readonly state: 'idle' | 'due' } | { readonly state: 'scheduled'; readonly timer: NodeJS.Timeout };

/** What became of deliveries, and is yet to be written. Kept until it is written, or until it is another process's to say. */
export class WriteOffs {
  /** Which destinations do not answer is written with what became of their deliveries. */
  readonly patience: Patience;
  readonly #sql: Sql;
  readonly #owner: string;
  readonly #onDue: () => void;
  #outcomes: Outcome[] = [];
  #strays: Delivery[] = [];
  #schedule: Schedule = { state: 'idle' };

  constructor(sql: Sql, owner: string, onDue: () => void) {
    this.#sql = sql;
    this.#owner = owner;
    this.#onDue = onDue;
    this.patience = new Patience(sql, owner);
  }

  get size(): number {
    return this.#outcomes.length + this.#strays.length;
  }

  get isDue(): boolean {
    return this.#schedule.state === 'due' || this.size >= writesAtOnce;
  }

  add(outcome: Outcome): void {
    this.#outcomes.push(outcome);
    this.#writeSoon();
  }

  /** A delivery whose webhook has another destination by now. */
  addStray(delivery: Delivery): void {
    this.#strays.push(delivery);
    this.#writeSoon();
  }

  concern(id: DestinationId): boolean {
    return this.#outcomes.some(({ delivery }) => delivery.destinationId === id);
  }

  /** The destination was taken from us. */
  drop(id: DestinationId): void {
    this.#outcomes = this.#outcomes.filter(({ delivery }) => delivery.destinationId !== id);
  }

  /**
   * Answers what was written, and which of its destinations are still ours: of others nothing was written. `null`: there was
   * nothing to write.
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
    // First: if this fails, nothing has been written that would be written twice.
    await this.patience.write();
    const strays = this.#strays.slice(0, inBatch);
    const strayIds = strays.map(({ id }) => id);
    const movedTo = strayIds.length === 0 ? [] : await moveStrays(this.#sql, strayIds);
    this.#strays = this.#strays.slice(strays.length);
    const outcomes = this.#outcomes.slice(0, inBatch);
    const ours =
      outcomes.length === 0 ? new Set<DestinationId>() : await writeOutcomes(this.#sql, this.#owner, outcomes);
    const written = new Set(outcomes);
    this.#outcomes = this.#outcomes.filter((outcome) => !written.has(outcome));
    return { strays, movedTo, outcomes, ours };
  }

  #writeSoon(): void {
    if (this.size >= writesAtOnce) this.#onDue();
    if (this.#schedule.state !== 'idle') return;
    const timer = setTimeout(() => {
      this.#schedule = { state: 'due' };
      this.#onDue();
    }, writeAfterMs).unref();
    this.#schedule = { state: 'scheduled', timer };
  }
}

interface Written {
  readonly strays: readonly Delivery[];
  readonly movedTo: readonly DestinationId[];
  readonly outcomes: readonly Outcome[];
  readonly ours: ReadonlySet<DestinationId>;
}
