import { media as allMedia, type Medium } from '@usher/contract/media';
import type { QueueId } from '../platform/ids.ts';
import type { QueueFacts } from './status.ts';

/** What those who wait, or who find everything closed, may hope for. */
export interface Outlook {
  /** By what an operator who is available now, busy or not, could serve a visitor of one of the queues. */
  readonly staffedMedia: readonly Medium[];
  /** When the first of the queues opens by its hours; `null`: one is open by them, or none ever will be. */
  readonly opensAt: number | null;
}

type OutlookFacts = Pick<QueueFacts, 'id' | 'open' | 'media' | 'staff'>;

/** `openings` has the queues that are closed by their hours now and will open. */
export function outlookOf(queues: readonly OutlookFacts[], openings: ReadonlyMap<QueueId, number>): Outlook {
  const isServed = (medium: Medium): boolean =>
    queues.some(({ media, staff }) => media.includes(medium) && staff.some((taken) => taken.includes(medium)));
  const opensAt = Math.min(...queues.map(({ id, open }) => (open ? -Infinity : (openings.get(id) ?? Infinity))));
  return { staffedMedia: allMedia.filter(isServed), opensAt: Number.isFinite(opensAt) ? opensAt : null };
}
