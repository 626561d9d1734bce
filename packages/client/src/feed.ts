import type { FeedReader, FeedState as ReaderState } from '@usher/sdk/feed';
import type { Api } from './api.ts';
import type { FeedItem } from './feed-item.ts';

export type { FeedItem };

/** `ended`: the server refuses the reader permanently, for example because the token is no longer valid. */
export type FeedState = ReaderState | 'ended';

interface FeedOptions {
  readonly api: Api;
  /** Whether the feed renews the presence of the reader. Asked at each attempt. */
  readonly holdPresence: () => boolean;
  readonly onItem: (item: FeedItem) => void;
  readonly onState: (state: FeedState) => void;
  /** An attempt ended because no byte arrived, without an error. A proxy may be buffering the answer. */
  readonly onSilence?: () => void;
}

/**
 * The live feed in a browser: delivers each item once and in order, across reconnections. Two items concern the feed itself and are
 * delivered like all others: `feed.open` (a GET from now on, together with the following items, is complete) and `feed.reset` (read
 * everything again). `start` and `stop` are idempotent and may be called at any time.
 */
export class Feed {
  readonly #reader: FeedReader;
  readonly #onItem: FeedOptions['onItem'];
  readonly #onState: FeedOptions['onState'];
  #running: AbortController | null = null;

  constructor({ api, onItem, ...options }: FeedOptions) {
    this.#reader = api.feed(options);
    this.#onItem = onItem;
    this.#onState = options.onState;
  }

  start(): void {
    if (this.#running !== null) return;
    this.#running = new AbortController();
    void this.#run(this.#running.signal);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = null;
  }

  /** Reconnects now instead of waiting. For use when the network or the page is back. */
  hurry(): void {
    this.#reader.hurry();
  }

  async #run(stopped: AbortSignal): Promise<void> {
    try {
      for await (const item of this.#reader.items(stopped)) {
        // If the feed was restarted meanwhile, its position is already after this item.
        if (!stopped.aborted || this.#running !== null) this.#deliver(item);
      }
    } catch {
      if (stopped.aborted) return;
      this.#running = null;
      this.#onState('ended');
    }
  }

  /** An error of the listener must not end the feed. */
  #deliver(item: FeedItem): void {
    try {
      this.#onItem(item);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
