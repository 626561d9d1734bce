import { texts } from '../texts.ts';

/** An elapsed time: `0:07`, `12:30`, `3:05:00`. */
export function formatClock(seconds: number): string {
  const totalSec = Math.max(0, Math.floor(seconds));
  const pad = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(totalSec / 3_600);
  const minutes = Math.floor((totalSec % 3_600) / 60);
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(totalSec % 60)}` : `${minutes}:${pad(totalSec % 60)}`;
}

/** A duration by its two largest units: `1 h 30 min`, `2 d`, `45 s`. */
export function formatDuration(seconds: number): string {
  const units = [
    [texts.days, 86_400],
    [texts.hours, 3_600],
    [texts.minutes, 60],
    [texts.seconds, 1],
  ] as const;
  const amounts: string[] = [];
  let rest = Math.max(0, Math.floor(seconds));
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) amounts.push(unit(count));
    rest -= count * size;
  }
  return amounts.slice(0, 2).join(' ') || texts.seconds(0);
}
