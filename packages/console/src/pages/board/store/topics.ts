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
  readonly #dirty = new Set<Topic>();

  constructor(schedule: (run: () => void) => void) {
    this.#schedule = schedule;
  }

  markDirty(topic: Topic): void {
    if (this.#dirty.size === 0) this.#schedule(() => this.#notify());
    this.#dirty.add(topic);
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

  #notify(): void {
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    for (const topic of dirty) this.#versions.set(topic, this.version(topic) + 1);
    for (const topic of dirty) for (const listener of this.#listeners.get(topic) ?? []) listener();
  }
}
