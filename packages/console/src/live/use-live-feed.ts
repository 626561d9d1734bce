import type { FeedItem, FeedState } from '@usher/client/feed';
import { createContext, use, useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import type { LiveFeed } from './live-feed.ts';

export const LiveContext = createContext<LiveFeed | null>(null);

export function useLiveFeed(): LiveFeed {
  const live = use(LiveContext);
  if (live === null) throw new Error('useLiveFeed needs a LiveContext');
  return live;
}

export function useFeedState(): FeedState {
  const live = useLiveFeed();
  return useSyncExternalStore(live.subscribe, live.state);
}

/** Calls back for every item of these types (`*`: all types) while the component is mounted. */
export function useFeedItems(types: readonly string[], listener: (item: FeedItem) => void): void {
  const live = useLiveFeed();
  const onItem = useEffectEvent(listener);
  const names = types.join(' ');
  useEffect(() => live.on(names.split(' '), (item) => onItem(item)), [live, names]);
}
