import type { DestinationId } from '../../events/destination.ts';
import type { Sql } from '../../platform/database.ts';
import type { Delivery } from './delivery.ts';
import { Patience } from './patience.ts';
import { moveStrays, writeOutcomes, type Outcome } from './outcomes.ts';

/** Written in one statement. */
const inBatch = 500;

/** What became of deliveries, and is yet to be written down. It is kept until it is, or until it is another's to say. */
export class WriteOffs {
  /** Which destinations do not answer is written with what became of their deliveries. */
  readonly patience: Patience;
  readonly #sql: Sql;
  readonly #owner: string;
  #outcomes: Outcome[] = [];
  #strays: Delivery[] = [];

  constructor(sql: Sql, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
    this.patience = new Patience(sql, owner);
  }

  get size(): number {
    return this.#outcomes.length + this.#strays.length;
  }

  add(outcome: Outcome): void {
    this.#outcomes.push(outcome);
  }

  /** One whose webhook has another destination by now. */
  addStray(delivery: Delivery): void {
    this.#strays.push(delivery);
  }

  concern(id: DestinationId): boolean {
    return this.#outcomes.some(({ delivery }) => delivery.destinationId === id);
  }

  /** The destination was taken from us. */
  drop(id: DestinationId): void {
    this.#outcomes = this.#outcomes.filter(({ delivery }) => delivery.destinationId !== id);
  }

  /** Answers what was seen to, and which destinations of it are still ours: of others nothing was written. */
  async write(): Promise<Written> {
    // First: if it fails, nothing has been written that would be written twice.
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
}

interface Written {
  readonly strays: readonly Delivery[];
  readonly movedTo: readonly DestinationId[];
  readonly outcomes: readonly Outcome[];
  readonly ours: ReadonlySet<DestinationId>;
}
