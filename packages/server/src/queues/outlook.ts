import type { Medium } from '@usher/contract/media';
import type { QueueId } from '../platform/ids.ts';
import { mediaIn, mediaSetOf } from './media-set.ts';
import type { QueueFacts } from './status.ts';

/** What visitors can expect of a set of queues. */
export interface Outlook {
  /** The media of the queues that at least one available operator, busy or not, takes. */
  readonly staffedMedia: readonly Medium[];
  /** When the hours of the first queue begin; `null`: a queue is within its hours, or none will be. */
  readonly opensAt: number | null;
}

type OutlookFacts = Pick<QueueFacts, 'id' | 'open' | 'staffedMedia'>;

/** `openings` has the next opening of each queue that is outside its hours. */
export function outlookOf(queues: readonly OutlookFacts[], openings: ReadonlyMap<QueueId, number>): Outlook {
  const staffed = queues.reduce((media, { staffedMedia }) => media | mediaSetOf(staffedMedia), 0);
  const opensAt = queues.reduce(
    (first, { id, open }) => Math.min(first, open ? -Infinity : (openings.get(id) ?? Infinity)),
    Infinity,
  );
  return { staffedMedia: mediaIn(staffed), opensAt: Number.isFinite(opensAt) ? opensAt : null };
}
