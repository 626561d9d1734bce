import type { Api } from '@usher/client/api';
import { Feed, type FeedItem, type FeedState } from '@usher/client/feed';

type Listener = (item: FeedItem) => void;

/**
 * The live feed of the signed-in operator, one for the whole page. A listener receives every item of the types it names, in
 * order; `feed.reset` means that everything must be read again.
 */
export class LiveFeed {
  readonly #feed: Feed;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #watchers = new Set<() => void>();
  readonly #onStop = new Set<() => void>();
  #state: FeedState = 'connecting';
  #holdsPresence = false;

  constructor(api: Api) {
    this.#feed = new Feed({
      api,
      holdPresence: () => this.#holdsPresence,
      onItem: (item) => this.#emit(item),
      onState: (state) => {
        this.#state = state;
        for (const watcher of this.#watchers) watcher();
      },
    });
  }

  start(): () => void {
    const reconnectNow = (): void => this.#feed.hurry();
    addEventListener('online', reconnectNow);
    this.#feed.start();
    return () => {
      removeEventListener('online', reconnectNow);
      this.#feed.stop();
      for (const end of this.#onStop) end();
    };
  }

  /** Registers work to be stopped at sign-out. */
  onStop(end: () => void): void {
    this.#onStop.add(end);
  }

  /** While it is held, the operator stays available, or away but present; it expires 30 s after the last page is closed. */
  holdPresence(hold: boolean): void {
    if (hold === this.#holdsPresence) return;
    this.#holdsPresence = hold;
    this.#feed.stop();
    this.#feed.start();
  }

  on(types: readonly string[], listener: Listener): () => void {
    for (const type of types) {
      const listeners = this.#listeners.get(type) ?? new Set();
      this.#listeners.set(type, listeners.add(listener));
    }
    return () => {
      for (const type of types) this.#listeners.get(type)?.delete(listener);
    };
  }

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  readonly state = (): FeedState => this.#state;

  #emit(item: FeedItem): void {
    for (const type of [item.type, '*']) for (const listener of this.#listeners.get(type) ?? []) listener(item);
  }
}
