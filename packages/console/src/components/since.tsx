import { useSyncExternalStore, type ReactElement } from 'react';

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

/** `0:07`, `12:30`, `3:05:00`. */
export function inClock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor((whole % 3_600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** How long something has lasted, counting on. */
export function Since({ at }: { readonly at: string }): ReactElement {
  const seconds = (useNow() - Date.parse(at)) / 1_000;
  return (
    <time className="tabular" dateTime={at} title={new Date(at).toLocaleString()}>
      {inClock(seconds)}
    </time>
  );
}
