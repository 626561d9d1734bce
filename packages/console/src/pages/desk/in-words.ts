import type { Engagement, MediaUpgradeRequest } from '@usher/client/api-types';

export const endWords: Readonly<Record<NonNullable<Engagement['end_reason']>, string>> = {
  visitor_hung_up: 'The visitor ended it.',
  operator_hung_up: 'You ended it.',
  visitor_left: 'The visitor is gone.',
  operator_left: 'You were gone too long.',
  error: 'It failed.',
};

export function upgradeInWords({ audio, video }: Pick<MediaUpgradeRequest, 'audio' | 'video'>): string {
  const seen = { one_way: 'to see you', two_way: 'video' } as const;
  const parts = [...(audio === null ? [] : ['audio']), ...(video === null ? [] : [seen[video]])];
  return video === 'two_way' ? 'a video call' : video === null ? 'an audio call' : parts.join(' and ');
}

/** `today`, `yesterday`, or the date. */
export function dayInWords(at: Date, now: Date): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / 86_400_000);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return at.toLocaleDateString(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

function startOfDay(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}
