import { BoundedMap } from '../bounded-map.ts';
import type { SharedLimit, UsesOfAll } from './shared-uses.ts';

/** The maximum number of counted keys; beyond it the oldest is evicted. */
const maxKeys = 100_000;
const windowMs = 60_000;

/** The uses of a key within a minute. */
interface Window {
  taken: number;
  /** Those of them that the other processes do not know of. */
  unannounced: number;
  readonly endsAt: number;
}

/** Counts the uses of keys per minute, in all processes. A window begins with the first use of a key and ends a minute later. */
export class Windows {
  readonly #windows = new BoundedMap<string, Window>(maxKeys);
  readonly #shared: SharedLimit;

  constructor(name: string, shared: UsesOfAll) {
    this.#shared = shared.open(name, ({ key, uses }) => {
      this.at(key, performance.now()).taken += uses;
    });
  }

  at(key: string, now: number): Window {
    const open = this.#windows.get(key);
    if (open !== undefined && open.endsAt > now) return open;
    const begun = { taken: 0, unannounced: 0, endsAt: now + windowMs };
    this.#windows.delete(key);
    this.#windows.set(key, begun);
    return begun;
  }

  /** Counts a use of a limit in the window of the key, or with -1 gives one back. */
  count(key: string, window: Window, uses: 1 | -1, limit: number): void {
    window.taken += uses;
    window.unannounced += uses;
    if (Math.abs(window.unannounced) < this.#shared.stepOf(limit)) return;
    this.#shared.announce({ key, uses: window.unannounced, rate: null });
    window.unannounced = 0;
  }
}
