import type { FeedItem } from './feed-item.ts';
import { ProblemError } from './problem.ts';
import { blocksOf } from './sse.ts';

export type { FeedItem };

/** `ended`: whoever reads is not let in any more, or the server refuses for good. */
export type FeedState = 'connecting' | 'open' | 'lost' | 'ended';

interface FeedOptions {
  /** Asks for the feed from behind the id. Throws a `ProblemError` where that is refused. */
  readonly open: (lastId: string | null, signal: AbortSignal) => Promise<Response>;
  readonly onItem: (item: FeedItem) => void;
  readonly onState: (state: FeedState) => void;
  /** An attempt was given up because nothing came, although nobody refused or failed: something may hold answers back. */
  readonly onSilence?: () => void;
}

/** Waits before each attempt to connect again, up to twice as long by chance; the last one from then on. */
const retryDelaysMs = [100, 250, 500, 1_000, 2_000, 4_000] as const;
/** An attempt that is not answered within this time is given up: the next may find a better way. */
const openMs = 8_000;
/** The server says something every 15 s: one that is silent for so long is gone, whatever the network says. */
const silenceMs = 40_000;

/**
 * The live feed in a browser: each item once, in order, over any number of lost connections. Two items are about the feed
 * itself and are handed on as all others: `feed.open` (what is read by GET from now on is complete together with what
 * follows), and `feed.reset` (read everything anew). `start` and `stop` may be called at any time, any number of times.
 */
export class Feed {
  readonly #options: FeedOptions;
  #lastId: string | null = null;
  #running: AbortController | null = null;
  #attempt: AbortController | null = null;
  #wake: (() => void) | null = null;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#running !== null) return;
    this.#running = new AbortController();
    void this.#run(this.#running.signal);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = null;
    this.#attempt?.abort();
    this.#wake?.();
  }

  /** The network is back, or the page: no use in waiting any longer. */
  hurry(): void {
    this.#wake?.();
  }

  async #run(stopped: AbortSignal): Promise<void> {
    let failures = 0;
    while (!stopped.aborted) {
      this.#options.onState(failures === 0 ? 'connecting' : 'lost');
      const outcome = await this.#read(stopped);
      if (stopped.aborted) return;
      if (outcome === 'refused') {
        this.#running = null;
        this.#options.onState('ended');
        return;
      }
      failures = outcome === 'was open' ? 1 : failures + 1;
      this.#options.onState('lost');
      await this.#pause(retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1] ?? 0);
    }
  }

  async #read(stopped: AbortSignal): Promise<'refused' | 'failed' | 'was open'> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    let wasOpen = false;
    let silence = setTimeout(() => {
      attempt.abort();
      if (!stopped.aborted) this.#options.onSilence?.();
    }, openMs);
    const heard = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => attempt.abort(), silenceMs);
    };
    try {
      const response = await this.#options.open(this.#lastId, attempt.signal);
      for await (const { id, type, data } of blocksOf(chunksOf(response, heard))) {
        if (stopped.aborted) return 'was open';
        if (!wasOpen) this.#options.onState('open');
        wasOpen = true;
        if (data !== null) this.#hand({ type, data: JSON.parse(data) as unknown });
        this.#lastId = id ?? this.#lastId;
      }
    } catch (error) {
      if (error instanceof ProblemError && [400, 401, 403, 404].includes(error.status)) return 'refused';
    } finally {
      clearTimeout(silence);
      attempt.abort();
    }
    return wasOpen ? 'was open' : 'failed';
  }

  /** A fault of the reader's must not look like a lost connection, which would bring the same item again and again. */
  #hand(item: FeedItem): void {
    try {
      this.#options.onItem(item);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  async #pause(atLeastMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, atLeastMs * (1 + Math.random()));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}

/** By hand, because not every browser lets a stream be iterated. */
async function* chunksOf(response: Response, heard: () => void): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
