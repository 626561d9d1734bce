/** A promise that was not kept, or an error of the simulation, with the steps that led to it. */
export class FailedHistory extends Error {
  readonly #steps: readonly string[];

  constructor(steps: readonly string[], cause: unknown) {
    super('the history has failed', { cause });
    this.#steps = steps;
  }

  /** A getter, because printing an error prints its fields. */
  get steps(): readonly string[] {
    return this.#steps;
  }
}
