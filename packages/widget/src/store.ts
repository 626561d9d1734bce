/** A value that changes, and those who want to know. */
export class Store<T extends object> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(changes: Partial<T>): void {
    this.#value = { ...this.#value, ...changes };
    for (const changed of this.#listeners) changed();
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => void this.#listeners.delete(changed);
  }
}
