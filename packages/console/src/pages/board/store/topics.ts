/** The topics of a board: a list subscribes to the ones it shows. */
export type Topic = 'queues' | 'tickets' | 'engagements' | 'operators' | 'names';

/**
 * Notifies listeners of changes at most once per frame. `schedule` runs its argument before the next frame; a hidden page has no
 * frames and renders nothing.
 */
export class Topics {
  readonly #schedule: (run: () => void) => void;
  readonly #listeners = new Map<Topic, Set<() => void>>();
  readonly #versions = new Map<Topic, number>();
  readonly #touched = new Set<Topic>();

  constructor(schedule: (run: () => void) => void) {
    this.#schedule = schedule;
  }

  touch(topic: Topic): void {
    if (this.#touched.size === 0) this.#schedule(() => this.#tell());
    this.#touched.add(topic);
  }

  /** Incremented with each notification. */
  version(topic: Topic): number {
    return this.#versions.get(topic) ?? 0;
  }

  subscribe(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  #tell(): void {
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const topic of touched) this.#versions.set(topic, this.version(topic) + 1);
    for (const topic of touched) for (const listener of this.#listeners.get(topic) ?? []) listener();
  }
}
