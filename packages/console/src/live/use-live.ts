import type { FeedItem, FeedState } from '@usher/client/feed';
import { createContext, use, useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import type { Live } from './live.ts';

export const LiveContext = createContext<Live | null>(null);

export function useLiveFeed(): Live {
  const live = use(LiveContext);
  if (live === null) throw new Error('there is no live feed around this component');
  return live;
}

export function useLiveState(): FeedState {
  const live = useLiveFeed();
  return useSyncExternalStore(live.subscribe, live.state);
}

/** Calls back for every item of these types (`*`: all types) while the component is mounted. */
export function useLive(types: readonly string[], listener: (item: FeedItem) => void): void {
  const live = useLiveFeed();
  const told = useEffectEvent(listener);
  const names = types.join(' ');
  useEffect(() => live.on(names.split(' '), (item) => told(item)), [live, names]);
}
