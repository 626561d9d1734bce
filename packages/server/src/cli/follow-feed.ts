import { setTimeout as pause } from 'node:timers/promises';
import { TemporaryError, type Api } from './api.ts';
import { blocksOf, type Block } from '@usher/sdk/sse';

/** Delays before each attempt to reconnect; the last one repeats. */
const retryDelaysMs = [100, 250, 500, 1_000, 2_000, 5_000] as const;

export interface FeedItem {
  readonly type: string;
  /** JSON. */
  readonly data: string;
}

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Prints the state of the connection. */
  readonly say: (text: string) => void;
  /** Printed when the feed opens for the first time. */
  readonly greeting: string;
}

/**
 * Yields each item of the live feed once, until the signal. After a lost connection it reconnects and continues after the last
 * item. It throws if the server never responded, or if the key is no longer valid.
 */
export async function* followFeed(api: Api, { signal, say, greeting }: FollowOptions): AsyncGenerator<FeedItem> {
  let lastId: string | null = null;
  let lastItemAt = new Date();
  let wasOpen = false;
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const block of blocksOf(await api.openFeed(lastId))) {
        if (block.type === 'feed.open') {
          say(wasOpen ? 'Reconnected.' : greeting);
          wasOpen = true;
        } else if (isGap(block)) say(gapSince(lastItemAt));
        else if (block.data !== null) yield { type: block.type, data: block.data };
        lastId = block.id ?? lastId;
        lastItemAt = new Date();
        failures = 0;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TemporaryError) || !wasOpen) throw error;
      if (failures === 1) say(`${error.message} Retrying until it responds.`);
      const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)] ?? 0;
      failures += 1;
      await pause(Math.max(delayMs, error.retryAfterMs), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Only `unknown_id` means that events may be missing. With `moves_unknown` only the states of resources are unknown. */
function isGap({ type, data }: Block): boolean {
  return type === 'feed.reset' && data !== null && (JSON.parse(data) as { reason?: string }).reason === 'unknown_id';
}

function gapSince(lastItemAt: Date): string {
  const since = lastItemAt.toISOString();
  return `Disconnected for too long: events may be missing. List them with usher events --since ${since}.`;
}
