/** A promise that was not kept, or an error of the simulation, with the steps that led to it. */
export class FailedHistory extends Error {
  readonly #names: readonly string[];
  readonly #steps: readonly number[];

  /** `steps`: the numbers of those with clients and faults that were begun. */
  constructor(names: readonly string[], steps: readonly number[], cause: unknown) {
    super('the history has failed', { cause });
    this.#names = names;
    this.#steps = steps;
  }

  /** Getters, because printing an error prints its fields. */
  get names(): readonly string[] {
    return this.#names;
  }

  get steps(): readonly number[] {
    return this.#steps;
  }
}
