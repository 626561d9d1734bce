import type { FeedItem } from './api-types.ts';
import { UsherError } from './errors.ts';
import { blocksOf } from './sse.ts';
import type { Transport } from './transport.ts';
import { pause } from './waiting.ts';

/** `lost`: the connection ended, and the reader reconnects. */
export type FeedState = 'connecting' | 'open' | 'lost';

export interface SubscribeOptions {
  /** Ends the subscription: the iteration ends without an error. */
  readonly signal?: AbortSignal;
  /** Continues after the item with this id. Default: from now on. */
  readonly lastEventId?: string;
  /** Renews the operator's presence while connected. It expires 30 s after the connection ends. */
  readonly holdPresence?: boolean;
  /** Called when the state of the connection changes. */
  readonly onState?: (state: FeedState) => void;
  /** Called when an attempt ended because no byte arrived, without an error. A proxy may be buffering the answer. */
  readonly onSilence?: () => void;
}

/** An item with its position in the feed. */
export type SubscribedItem = FeedItem & {
  /** For `lastEventId` of a later subscription. `null`: the item has no position. */
  readonly id: string | null;
};

export interface FeedResource {
  /**
   * The live feed: each item once and in order, across reconnections. `feed.open` is the first item: what is read after it,
   * together with the items that follow, is complete. After `feed.reset`, read everything again. Leave the loop or abort the
   * signal to end it. It throws only if the server refuses the reader.
   */
  subscribe(options?: SubscribeOptions): AsyncIterable<SubscribedItem>;
}

/** Delays before reconnecting, each extended by a random factor of up to 2. The last delay repeats. */
const retryDelaysMs = [100, 250, 500, 1_000, 2_000, 4_000] as const;
/** An attempt without an answer in this time is repeated. */
const openMs = 8_000;
/** The server sends something every 15 s. After this silence the connection counts as lost. */
const silenceMs = 40_000;
/** Refusals that another attempt does not change. */
const permanent: ReadonlySet<number> = new Set([400, 401, 403, 404, 422]);

export function subscribe(transport: Transport, options: SubscribeOptions = {}): AsyncGenerator<SubscribedItem, void> {
  const { holdPresence = false, ...others } = options;
  return new FeedReader(transport, { ...others, holdPresence: () => holdPresence }).items(options.signal);
}

export interface ReaderOptions extends Omit<SubscribeOptions, 'holdPresence' | 'signal'> {
  /** Asked at each attempt. */
  readonly holdPresence: () => boolean;
  /** Called before the next attempt, with the number of attempts that failed in a row. What it throws ends the iteration. */
  readonly onFailure?: (error: unknown, failures: number) => void;
}

/** Reads the feed, and remembers its position from one `items()` to the next. */
export class FeedReader {
  readonly #transport: Transport;
  readonly #options: ReaderOptions;
  #lastId: string | null;
  #endPause = (): void => undefined;

  constructor(transport: Transport, options: ReaderOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#lastId = options.lastEventId ?? null;
  }

  /** Reconnects until the caller leaves the loop, the signal is aborted or the server refuses. */
  async *items(signal?: AbortSignal): AsyncGenerator<SubscribedItem, void> {
    const { onState, onFailure } = this.#options;
    let failures = 0;
    while (!isAborted(signal)) {
      if (failures === 0) onState?.('connecting');
      let wasOpen = false;
      let failure: unknown = null;
      try {
        for await (const item of this.#itemsOfConnection(signal)) {
          if (!wasOpen) onState?.('open');
          wasOpen = true;
          yield item;
        }
      } catch (error) {
        if (error instanceof UsherError && permanent.has(error.status)) throw error;
        failure = error;
      }
      if (isAborted(signal)) return;
      failures = wasOpen ? 1 : failures + 1;
      onState?.('lost');
      onFailure?.(failure, failures);
      const retryAfterMs = failure instanceof UsherError ? (failure.retryAfterSec ?? 0) * 1000 : 0;
      const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1] ?? 0;
      await this.#pause(Math.max(delayMs * (1 + Math.random()), retryAfterMs), signal);
    }
  }

  /** Reconnects now instead of waiting. For use when the network or the page is back. */
  hurry(): void {
    this.#endPause();
  }

  async *#itemsOfConnection(signal: AbortSignal | undefined): AsyncGenerator<SubscribedItem, void> {
    const attempt = new AbortController();
    const abort = (): void => attempt.abort();
    signal?.addEventListener('abort', abort);
    const silence = setTimeout(() => {
      attempt.abort();
      this.#options.onSilence?.();
    }, openMs);
    try {
      const response = await this.#transport.send(
        {
          method: 'GET',
          path: `/feed${this.#options.holdPresence() ? '?hold_presence=true' : ''}`,
          headers: this.#lastId === null ? {} : { 'last-event-id': this.#lastId },
          signal: attempt.signal,
          maxRetries: 0,
          isStream: true,
        },
        async (answer) => answer,
      );
      for await (const { id, type, data } of blocksOf(chunksOf(response, attempt, () => clearTimeout(silence)))) {
        if (isAborted(signal)) return;
        // The position moves before the item is handed over: a reader that leaves the loop has had the item.
        this.#lastId = id ?? this.#lastId;
        if (data !== null) yield { type, data: JSON.parse(data) as unknown, id } as SubscribedItem;
      }
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener('abort', abort);
      attempt.abort();
    }
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const ended = new AbortController();
    const end = (): void => ended.abort();
    this.#endPause = end;
    signal?.addEventListener('abort', end);
    await pause(ms, ended.signal).catch(() => undefined);
    signal?.removeEventListener('abort', end);
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/**
 * Reads the stream with a reader, because not all browsers can iterate a stream. The limit of silence counts only while bytes are
 * awaited: a reader that takes its time with an item loses no connection.
 */
async function* chunksOf(
  { body }: Response,
  attempt: AbortController,
  onFirst: () => void,
): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const silence = setTimeout(() => attempt.abort(), silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      onFirst();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
