import type { Media } from '@usher/call/signal';
import type { Engagement } from '@usher/client/api-types';

/**
 * What is to be heard and seen in an engagement: what was agreed on last, else what it began with. `null`: it is a chat.
 */
export function callMediaOf(medium: Engagement['media'], accepted: readonly Media[]): Media | null {
  if (medium === 'text' || medium === 'phone') return null;
  const hasVideo = medium === 'video';
  const agreed = accepted.at(-1);
  if (agreed !== undefined && (agreed.video !== null) === hasVideo) return { audio: agreed.audio, video: agreed.video };
  return { audio: 'two_way', video: hasVideo ? 'two_way' : null };
}

export function isSame(one: Media | null, other: Media | null): boolean {
  return one?.audio === other?.audio && one?.video === other?.video;
}
