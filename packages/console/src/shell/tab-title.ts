import { useEffect, useSyncExternalStore } from 'react';

/** The number of pending items by source, shown in the title of the tab. */
const pendingCounts = new Map<string, number>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function total(): number {
  return [...pendingCounts.values()].reduce((sum, count) => sum + count, 0);
}

/** Counts the items while the component is mounted. */
export function usePendingCount(what: string, count: number): void {
  useEffect(() => {
    const setCount = (value: number): void => {
      pendingCounts.set(what, value);
      for (const listener of listeners) listener();
    };
    setCount(count);
    return () => setCount(0);
  }, [what, count]);
}

/** The title of the page with the number in front. */
export function useTabTitle(title: string): void {
  const count = useSyncExternalStore(subscribe, total);
  useEffect(() => {
    document.title = count === 0 ? title : `(${count}) ${title}`;
  }, [title, count]);
}
