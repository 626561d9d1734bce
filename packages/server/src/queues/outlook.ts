import { media as allMedia, type Medium } from '@usher/contract/media';
import type { QueueId } from '../platform/ids.ts';
import type { QueueFacts } from './status.ts';

/** What visitors can expect of a set of queues. */
export interface Outlook {
  /** The media of the queues that at least one available operator, busy or not, takes. */
  readonly staffedMedia: readonly Medium[];
  /** When the hours of the first queue begin; `null`: a queue is within its hours, or none will be. */
  readonly opensAt: number | null;
}

type OutlookFacts = Pick<QueueFacts, 'id' | 'open' | 'media' | 'staff'>;

/** `openings` has the next opening of each queue that is outside its hours. */
export function outlookOf(queues: readonly OutlookFacts[], openings: ReadonlyMap<QueueId, number>): Outlook {
  const isServed = (medium: Medium): boolean =>
    queues.some(({ media, staff }) => media.includes(medium) && staff.some((taken) => taken.includes(medium)));
  const opensAt = Math.min(...queues.map(({ id, open }) => (open ? -Infinity : (openings.get(id) ?? Infinity))));
  return { staffedMedia: allMedia.filter(isServed), opensAt: Number.isFinite(opensAt) ? opensAt : null };
}
