import type { FeedItem } from './feed-item.ts';
import { ProblemError } from './problem.ts';
import { blocksOf } from '@usher/sdk/sse';

export type { FeedItem };

/** `ended`: the server refuses the reader permanently, for example because the token is no longer valid. */
export type FeedState = 'connecting' | 'open' | 'lost' | 'ended';

interface FeedOptions {
  /** Opens the feed after the given id. Throws a `ProblemError` if the server refuses. */
  readonly open: (lastId: string | null, signal: AbortSignal) => Promise<Response>;
  readonly onItem: (item: FeedItem) => void;
  readonly onState: (state: FeedState) => void;
  /** An attempt was aborted because no byte arrived, without an error. A proxy may be buffering the answer. */
  readonly onSilence?: () => void;
}

/** Delays before reconnecting, each extended by a random factor of up to 2. The last delay repeats. */
const retryDelaysMs = [100, 250, 500, 1_000, 2_000, 4_000] as const;
/** An attempt without an answer in this time is aborted and repeated. */
const openMs = 8_000;
/** The server sends something every 15 s. After this silence the connection counts as lost. */
const silenceMs = 40_000;

/**
 * The live feed in a browser: delivers each item once and in order, across reconnections. Two items concern the feed itself and are
 * delivered like all others: `feed.open` (a GET from now on, together with the following items, is complete) and `feed.reset` (read
 * everything again). `start` and `stop` are idempotent and may be called at any time.
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

  /** Reconnects now instead of waiting. For use when the network or the page is back. */
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
    const onBytes = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => attempt.abort(), silenceMs);
    };
    try {
      const response = await this.#options.open(this.#lastId, attempt.signal);
      for await (const { id, type, data } of blocksOf(chunksOf(response, onBytes))) {
        if (stopped.aborted) return 'was open';
        if (!wasOpen) this.#options.onState('open');
        wasOpen = true;
        if (data !== null) this.#deliver({ type, data: JSON.parse(data) as unknown });
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

  /** An error of the reader must not look like a lost connection, because the same item would be delivered again and again. */
  #deliver(item: FeedItem): void {
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

/** Reads the stream with a reader, because not all browsers can iterate a stream. */
async function* chunksOf(response: Response, onBytes: () => void): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
