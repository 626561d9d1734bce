import type { SubscribedItem } from '@usher/sdk/feed';
import type { Api } from '../commands/api.ts';

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
  let lastItemAt = new Date();
  let wasOpen = false;
  const onFailure = (error: unknown, failures: number): void => {
    if (!wasOpen) throw error;
    // The first attempt follows at once.
    if (failures === 2) say(`${error instanceof Error ? error.message : ''} Retrying until it responds.`);
  };
  for await (const item of api.feed(onFailure)) {
    if (signal.aborted) return;
    if (item.type === 'feed.open') {
      say(wasOpen ? 'Reconnected.' : greeting);
      wasOpen = true;
    } else if (isGap(item)) say(gapSince(lastItemAt));
    else yield { type: item.type, data: JSON.stringify(item.data) };
    lastItemAt = new Date();
  }
}

/** Only `unknown_id` means that events may be missing. With `moves_unknown` only the states of resources are unknown. */
function isGap({ type, data }: SubscribedItem): boolean {
  return type === 'feed.reset' && (data as { reason?: string }).reason === 'unknown_id';
}

function gapSince(lastItemAt: Date): string {
  const since = lastItemAt.toISOString();
  return `Disconnected for too long: events may be missing. List them with usher events --since ${since}.`;
}
