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

/** Reconnects until the reader leaves the loop, the signal is aborted or the server refuses. */
export async function* subscribe(
  transport: Transport,
  options: SubscribeOptions = {},
): AsyncGenerator<SubscribedItem, void, undefined> {
  const { signal, onState } = options;
  const position: Position = { lastId: options.lastEventId ?? null };
  let failures = 0;
  for (;;) {
    if (signal?.aborted === true) return;
    onState?.(failures === 0 ? 'connecting' : 'lost');
    let wasOpen = false;
    let retryAfterMs = 0;
    try {
      for await (const item of itemsOf(transport, options, position)) {
        if (!wasOpen) onState?.('open');
        wasOpen = true;
        yield item;
      }
    } catch (error) {
      if (error instanceof UsherError && permanent.has(error.status)) throw error;
      if (error instanceof UsherError) retryAfterMs = (error.retryAfterSec ?? 0) * 1000;
    }
    failures = wasOpen ? 1 : failures + 1;
    const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1] ?? 0;
    await pause(Math.max(delayMs * (1 + Math.random()), retryAfterMs), signal).catch(() => undefined);
  }
}

interface Position {
  lastId: string | null;
}

/** The items of one connection after the position, which follows them. */
async function* itemsOf(
  transport: Transport,
  { signal, holdPresence = false }: SubscribeOptions,
  position: Position,
): AsyncGenerator<SubscribedItem, void, undefined> {
  const attempt = new AbortController();
  const abort = (): void => attempt.abort();
  signal?.addEventListener('abort', abort);
  try {
    const response = await transport.send(
      {
        method: 'GET',
        path: `/feed${holdPresence ? '?hold_presence=true' : ''}`,
        headers: position.lastId === null ? {} : { 'last-event-id': position.lastId },
        signal: attempt.signal,
        timeoutMs: openMs,
        maxRetries: 0,
        isStream: true,
      },
      async (answer) => answer,
    );
    for await (const { id, type, data } of blocksOf(chunksOf(response, attempt))) {
      // The position moves before the item is handed over: a reader that leaves the loop has had the item.
      position.lastId = id ?? position.lastId;
      if (data !== null) yield { type, data: JSON.parse(data) as unknown, id } as SubscribedItem;
      if (signal?.aborted === true) return;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    attempt.abort();
  }
}

/**
 * Reads the stream with a reader, because not all browsers can iterate a stream. The limit of silence counts only while bytes are
 * awaited: a reader that takes its time with an item loses no connection.
 */
async function* chunksOf({ body }: Response, attempt: AbortController): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  let limitMs = openMs;
  try {
    for (;;) {
      const silence = setTimeout(() => attempt.abort(), limitMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      limitMs = silenceMs;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
