import { createContext, use, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useMe } from '../../data/use-me.ts';
import { useLive, useLiveFeed } from '../../live/use-live.ts';
import type { Live } from '../../live/live.ts';
import { useSession } from '../../session/use-session.ts';
import { NameBook } from './name-book.ts';
import { readBoard, readQueues } from './read-board.ts';
import { BoardStore } from './store/board-store.ts';
import type { Topic } from './store/topics.ts';

export interface Board {
  readonly store: BoardStore;
  readonly names: NameBook;
}

export const BoardContext = createContext<Board | null>(null);

export function useBoard(): Board {
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
/** Queues are read anew no more often than this, however many are changed. */
const staleMs = 300;

/** The board of the sites: read, and from then on told. */
export function useNewBoard(siteIds: readonly string[]): { readonly board: Board; readonly error: unknown } {
  const { api } = useSession();
  const live = useLiveFeed();
  const key = siteIds.join(' ');
  const [error, setError] = useState<unknown>(null);
  const { board, anew, stop } = useMemo(() => {
    const sites = key.split(' ');
    let aborted = new AbortController();
    let soon: ReturnType<typeof setTimeout> | undefined;
    const read = (what: typeof readBoard): void => {
      const { signal } = aborted;
      what({ api, store, siteIds: sites, signal }).then(
        () => setError(null),
        (failure: unknown) => {
          if (!signal.aborted) setError(failure);
        },
      );
    };
    const store: BoardStore = new BoardStore({
      siteIds: sites,
      schedule: (run) => requestAnimationFrame(run),
      onQueuesStale: () => {
        soon ??= setTimeout(() => {
          soon = undefined;
          read(readQueues);
        }, staleMs);
      },
    });
    const names = new NameBook(
      async (ids) => (await api.call('GET /visitors', { query: { ids } })).visitors,
      store.topics,
    );
    return {
      board: { store, names },
      anew: (what: 'all' | 'queues') => {
        if (aborted.signal.aborted) aborted = new AbortController();
        read(what === 'all' ? readBoard : readQueues);
      },
      stop: () => {
        aborted.abort();
        clearTimeout(soon);
      },
    };
  }, [api, key]);

  useEffect(() => {
    const forgetWaiting = onceOpen(live, () => anew('all'));
    return () => {
      forgetWaiting();
      stop();
    };
  }, [live, anew, stop]);
  useLive(['queue.state', 'queue_ticket.state', 'engagement.state', 'operator.state'], (item) =>
    board.store.apply(item),
  );
  // What happened to queues while the connection was lost is not told afterwards; of all else it is.
  useLive(['feed.open'], ({ data }) => anew((data as { resumed: boolean }).resumed ? 'queues' : 'all'));
  useLive(['feed.reset'], () => anew('all'));
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

/** The sites of the chosen ones that the caller supervises. */
export function useManagedSites(): readonly string[] {
  const { siteIds, can } = useMe();
  return useMemo(() => siteIds.filter((id) => can('manager', id)), [siteIds, can]);
}
