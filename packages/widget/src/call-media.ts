import type { Engagement } from '@usher/client/api-types';
import { isCall } from '@usher/contract/media';

/** As media upgrades say it. */
interface Media {
  readonly audio: 'two_way' | null;
  readonly video: 'one_way' | 'two_way' | null;
}

/**
 * What is to be heard and seen in an engagement: what was agreed on last, else what it began with; `null`: it is a chat. That
 * it is by video now may be told before what was agreed on: then it is what was being asked. Nobody's camera goes on for a
 * moment because of that.
 */
export function callMediaOf(
  medium: Engagement['media'],
  { accepted, pending }: { readonly accepted: readonly Media[]; readonly pending: Media | null },
): Media | null {
  if (!isCall(medium)) return null;
  const hasVideo = medium === 'video';
  const fits = (each: Media | null): boolean => each !== null && (each.video !== null) === hasVideo;
  const agreed = accepted.findLast(fits) ?? (fits(pending) ? pending : null);
  if (agreed === null) return { audio: 'two_way', video: hasVideo ? 'two_way' : null };
  return { audio: agreed.audio, video: agreed.video };
}

export function isSame(one: Media | null, other: Media | null): boolean {
  return one?.audio === other?.audio && one?.video === other?.video;
}
