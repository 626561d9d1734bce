import { useSyncExternalStore, type ReactElement } from 'react';
import { formatClock } from './duration.ts';
import { formatTime } from './time.ts';

/** One timer for all running times. */
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

/** How far the server's clock is ahead of ours: running times use server time. */
let skewMs = 0;

export function setClockSkew(ms: number): void {
  skewMs = ms;
}

/** The server's time in whole seconds, updated every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor((now + skewMs) / 1_000) * 1_000);
}

/** A running time since an instant. */
export function ElapsedTime({ at }: { readonly at: string }): ReactElement {
  const seconds = (useNow() - Date.parse(at)) / 1_000;
  return (
    <time className="tabular" dateTime={at} title={formatTime(at, 'full')}>
      {formatClock(seconds)}
    </time>
  );
}
