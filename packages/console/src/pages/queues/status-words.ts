import type { Queue } from '@usher/client/api-types';

type Status = Queue['status'];
type Judged = Pick<Queue, 'status' | 'self_status' | 'capacity' | 'visitors_count'>;

export const statusNames: Readonly<Record<Status, string>> = {
  opened: 'Open',
  closed: 'Closed',
  full: 'Full',
  unstaffed: 'Unstaffed',
};

export const statusColors: Readonly<Record<Status, string>> = {
  opened: 'green',
  closed: 'gray',
  full: 'orange',
  unstaffed: 'yellow',
};

/** Why a queue is as it is; `onward` is the fallback that lets its visitors in. */
export function whyOf(queue: Judged, onward: string | null): string {
  const own = ownReason(queue);
  if (queue.status !== 'opened' || queue.self_status === 'opened') return own;
  return `${own}; visitors go on to ${onward ?? 'its fallback'}`;
}

function ownReason({ self_status, capacity, visitors_count }: Judged): string {
  switch (self_status) {
    case 'closed':
      return 'Outside its hours';
    case 'unstaffed':
      return 'Nobody staffs it';
    case 'full':
      return capacity === 0 ? 'It has no places now' : `${visitors_count} of ${capacity} places taken`;
    case 'opened':
      return visitors_count === 0 ? 'Nobody waits' : `${visitors_count} of ${capacity} places taken`;
  }
}

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
