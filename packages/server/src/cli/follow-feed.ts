import { setTimeout as pause } from 'node:timers/promises';
import { NotNow, type Api } from './api.ts';
import { blocksOf, type Block } from '@usher/client/sse';

/** Waits before each attempt to connect again; the last one from then on. */
const retryDelaysMs = [100, 250, 500, 1_000, 2_000, 5_000] as const;

export interface FeedItem {
  readonly type: string;
  /** JSON. */
  readonly data: string;
}

interface Following {
  readonly signal: AbortSignal;
  /** Tells whoever watches how the connection is doing. */
  readonly say: (text: string) => void;
  /** What to say once it is there for the first time. */
  readonly greeting: string;
}

/**
 * Everything on the feed, each item once, until the signal: when the connection is lost it is made again, and goes on behind
 * the last item that was taken. A server that never answered, and a key that is no longer good, end it with an error.
 */
export async function* followFeed(api: Api, { signal, say, greeting }: Following): AsyncGenerator<FeedItem> {
  let lastId: string | null = null;
  let heardAt = new Date();
  let wasOpen = false;
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const block of blocksOf(await api.openFeed(lastId))) {
        if (block.type === 'feed.open') {
          say(wasOpen ? 'Connected again.' : greeting);
          wasOpen = true;
        } else if (isGap(block)) say(gapSince(heardAt));
        else if (block.data !== null) yield { type: block.type, data: block.data };
        lastId = block.id ?? lastId;
        heardAt = new Date();
        failures = 0;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof NotNow) || !wasOpen) throw error;
      if (failures === 1) say(`${error.message} Trying again until it does.`);
      const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)] ?? 0;
      failures += 1;
      await pause(Math.max(delayMs, error.retryAfterMs), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Where only the states of things are unknown (`moves_unknown`), no event is missing. */
function isGap({ type, data }: Block): boolean {
  return type === 'feed.reset' && data !== null && (JSON.parse(data) as { reason?: string }).reason === 'unknown_id';
}

function gapSince(heardAt: Date): string {
  const since = heardAt.toISOString();
  return `Too long away to go on where it was: events may be missing. See them with usher events --since ${since}.`;
}
