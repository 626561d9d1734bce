import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { openFeed, type FeedItem, type OpenFeed } from './feed.ts';

interface FeedReader {
  /** The process to connect to; `null`: none is running. */
  readonly findServer: () => { readonly url: string } | null;
  readonly token: string;
  /** Called when the feed was opened for the first time. */
  readonly onOpen: () => void;
  readonly onItem: (item: FeedItem) => void;
}

/** Reads a feed until `over` is aborted, and resumes with the last id whenever the feed ends. Returns the number of resets. */
export async function keepReading(
  { findServer, token, onOpen, onItem }: FeedReader,
  over: AbortSignal,
): Promise<number> {
  let resets = 0;
  let lastId: string | undefined;
  const end = once(over, 'abort').then(() => null);
  while (!over.aborted) {
    const server = findServer();
    // A frozen process does not answer, so the end is not waited for.
    const feed = server === null ? null : await Promise.race([openIfPossible(server, { token, lastId }), end]);
    if (feed === null) {
      await pause(50);
      continue;
    }
    if (lastId === undefined) onOpen();
    let read = 0;
    const take = (): void => {
      for (const item of feed.items.slice(read)) {
        if (item.type === 'feed.reset' && item.data.reason !== 'moves_unknown') resets += 1;
        else onItem(item);
      }
      read = feed.items.length;
    };
    const looking = setInterval(take, 20);
    await Promise.race([feed.ended, end]);
    clearInterval(looking);
    await feed.close();
    take();
    lastId = feed.lastId();
  }
  return resets;
}

async function openIfPossible(
  server: { readonly url: string },
  { token, lastId }: { readonly token: string; readonly lastId: string | undefined },
): Promise<OpenFeed | null> {
  return openFeed(server, { token, ...(lastId === undefined ? {} : { lastId }) }).catch(() => null);
}
