import type { Media } from '@usher/call/media';
import type { Engagement } from '@usher/sdk/api-types';
import { isCall } from '@usher/contract/media';

/** What a call is called in texts. In one-way video only the operator is seen. */
export type CallKind = 'audio' | 'video' | 'one_way_video';

export function callKindOf({ video }: Media): CallKind {
  if (video === null) return 'audio';
  return video === 'two_way' ? 'video' : 'one_way_video';
}

/**
 * The media of an engagement: those of the last accepted upgrade, or those it began with; `null`: the engagement is a chat. The feed
 * may report video before it reports that the upgrade was accepted. The requested media is used then, so that no camera starts by
 * mistake.
 */
export function callMediaOf(
  medium: Engagement['media'],
  { accepted, pending }: { readonly accepted: readonly Media[]; readonly pending: Media | null },
): Media | null {
  if (!isCall(medium)) return null;
  const hasVideo = medium === 'video';
  const fits = (media: Media | null): boolean => media !== null && (media.video !== null) === hasVideo;
  const agreed = accepted.findLast(fits) ?? (fits(pending) ? pending : null);
  if (agreed === null) return { audio: 'two_way', video: hasVideo ? 'two_way' : null };
  return { audio: agreed.audio, video: agreed.video };
}

export function isSame(one: Media | null, other: Media | null): boolean {
  return one?.audio === other?.audio && one?.video === other?.video;
}
