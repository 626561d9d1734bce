import { createContext, use, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useMe } from '../../data/use-me.ts';
import { useLive, useLiveFeed } from '../../live/use-live.ts';
import type { Live } from '../../live/live.ts';
import { useSession } from '../../session/use-session.ts';
import { LiveBoard } from './live-board.ts';
import type { Topic } from './store/topics.ts';

export const BoardContext = createContext<LiveBoard | null>(null);

export function useBoard(): LiveBoard {
  const board = use(BoardContext);
  if (board === null) throw new Error('there is no board around this component');
  return board;
}

/** Draws the component anew when something of the topic has changed; the store says what. */
export function useTopic(topic: Topic): number {
  const { topics } = useBoard().store;
  const subscribe = useCallback((listener: () => void) => topics.subscribe(topic, listener), [topics, topic]);
  return useSyncExternalStore(subscribe, () => topics.version(topic));
}

/** What is read before the feed is open may miss something; so long a board can wait for it. */
const patienceMs = 700;
/** The board of the sites: read, and from then on told. */
export function useNewBoard(siteIds: readonly string[]): { readonly board: LiveBoard; readonly error: unknown } {
  const { api } = useSession();
  const live = useLiveFeed();
  const [error, onError] = useState<unknown>(null);
  const board = useMemo(() => new LiveBoard({ api, siteIds, onError }), [api, siteIds]);
  useEffect(() => {
    // Queues are shown as soon as they can be; what was missed of them meanwhile is read with all the rest.
    if (live.state() !== 'open') board.read('queues');
    const forget = onceOpen(live, () => board.read('all'));
    return () => {
      forget();
      board.stop();
    };
  }, [live, board]);
  useLive(
    ['queue.state', 'queue_ticket.state', 'transfer_ticket.state', 'engagement.state', 'operator.state'],
    (item) => board.store.apply(item),
  );
  // What happened to queues while the connection was lost is not told afterwards; of all else it is.
  useLive(['feed.open'], ({ data }) => board.read((data as { resumed: boolean }).resumed ? 'queues' : 'all'));
  useLive(['feed.reset'], () => board.read('all'));
  return { board, error };
}

/** Runs it when the feed is open, or cannot be waited for any longer. */
function onceOpen(live: Live, run: () => void): () => void {
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
  }, patienceMs);
  // With `feed.open`, which comes with it, everything is read.
  const unsubscribe = live.subscribe(() => {
    if (live.state() === 'open') stop();
  });
  return stop;
}

/** The sites of the chosen ones that the caller supervises; the same list while they are the same. */
export function useManagedSites(): readonly string[] {
  const { siteIds, can } = useMe();
  const ids = siteIds.filter((id) => can('manager', id)).join(' ');
  return useMemo(() => (ids === '' ? [] : ids.split(' ')), [ids]);
}
