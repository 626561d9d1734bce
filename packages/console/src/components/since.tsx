import { useSyncExternalStore, type ReactElement } from 'react';
import { inClock } from './duration.ts';
import { formatTime } from './time.ts';

/** One clock for everything that counts seconds, however many there are. */
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** How far the server's clock is ahead of ours: what is counted is its time. */
let skewMs = 0;

export function setClockSkew(ms: number): void {
  skewMs = ms;
}

/** The server's time in whole seconds, as it passes. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor((now + skewMs) / 1_000) * 1_000);
}

/** How long something has lasted, counting on. */
export function Since({ at }: { readonly at: string }): ReactElement {
  const seconds = (useNow() - Date.parse(at)) / 1_000;
  return (
    <time className="tabular" dateTime={at} title={formatTime(at, 'full')}>
      {inClock(seconds)}
    </time>
  );
}
