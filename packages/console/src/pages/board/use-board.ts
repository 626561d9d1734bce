import { createContext, use, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useMe } from '../../data/use-me.ts';
import { useFeedItems, useLiveFeed } from '../../live/use-live-feed.ts';
import type { LiveFeed } from '../../live/live-feed.ts';
import { useSession } from '../../session/use-session.ts';
import { LiveBoard } from './live-board.ts';
import type { Topic } from './store/topics.ts';

export const BoardContext = createContext<LiveBoard | null>(null);

export function useBoard(): LiveBoard {
  const board = use(BoardContext);
  if (board === null) throw new Error('useBoard needs a BoardContext');
  return board;
}

/** Renders the component again when the topic changes; the data is read from the store. */
export function useTopic(topic: Topic): number {
  const { topics } = useBoard().store;
  const subscribe = useCallback((listener: () => void) => topics.subscribe(topic, listener), [topics, topic]);
  return useSyncExternalStore(subscribe, () => topics.version(topic));
}

/** Reads before the feed is open may miss changes; a board waits for the feed at most this long. */
const maxFeedWaitMs = 700;
/** The board of the sites: read once, then kept current by the feed. */
export function useLiveBoard(siteIds: readonly string[]): { readonly board: LiveBoard; readonly error: unknown } {
  const { api } = useSession();
  const live = useLiveFeed();
  const [error, onError] = useState<unknown>(null);
  const board = useMemo(() => new LiveBoard({ api, siteIds, onError }), [api, siteIds]);
  useEffect(() => {
    // Queues are shown as early as possible; the complete read afterwards includes what was missed meanwhile.
    if (live.state() !== 'open') board.read('queues');
    const cancel = whenFeedOpen(live, () => board.read('all'));
    return () => {
      cancel();
      board.stop();
    };
  }, [live, board]);
  useFeedItems(
    ['queue.state', 'queue_ticket.state', 'transfer_ticket.state', 'engagement.state', 'operator.state'],
    (item) => board.store.apply(item),
  );
  // After a lost connection the feed does not repeat changes of queues, but of everything else.
  useFeedItems(['feed.open'], ({ data }) => board.read((data as { resumed: boolean }).resumed ? 'queues' : 'all'));
  useFeedItems(['feed.reset'], () => board.read('all'));
  return { board, error };
}

/** Runs `run` when the feed is open, or after `maxFeedWaitMs`. */
function whenFeedOpen(live: LiveFeed, run: () => void): () => void {
  if (live.state() === 'open') {
    run();
    return () => undefined;
  }
  const stop = (): void => {
    clearTimeout(timer);
    unsubscribe();
  };
  const timer = setTimeout(() => {
    stop();
    run();
  }, maxFeedWaitMs);
  // `feed.open`, which follows, reads everything.
  const unsubscribe = live.subscribe(() => {
    if (live.state() === 'open') stop();
  });
  return stop;
}

/** The chosen sites that the operator supervises; the same array while the sites stay the same. */
export function useManagedSites(): readonly string[] {
  const { siteIds, can } = useMe();
  const ids = siteIds.filter((id) => can('manager', id)).join(' ');
  return useMemo(() => (ids === '' ? [] : ids.split(' ')), [ids]);
}
