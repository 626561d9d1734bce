import type { Queue } from '@usher/client/api-types';

export const statusColors: Readonly<Record<Queue['self_status'], string>> = {
  opened: 'green',
  closed: 'gray',
  full: 'orange',
  unstaffed: 'yellow',
};

/** `1 h 30 min`, `2 d`, `45 s`: how long, in words. */
export function inUnits(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const parts: string[] = [];
  let rest = Math.max(0, Math.floor(seconds));
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}
