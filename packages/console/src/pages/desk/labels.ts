import type { Engagement, MediaUpgradeRequest } from '@usher/sdk/api-types';
import { texts } from './texts.ts';

export const endReasonLabels: Readonly<Record<NonNullable<Engagement['end_reason']>, string>> = {
  visitor_hung_up: texts.endedByVisitor,
  operator_hung_up: texts.endedByYou,
  visitor_left: texts.visitorDisconnected,
  operator_left: texts.youWereDisconnected,
  error: texts.endedWithError,
};

/** Which call an upgrade asks for: the key of its texts. */
export function upgradeKind({ video }: Pick<MediaUpgradeRequest, 'video'>): 'audio' | 'video' | 'oneWayVideo' {
  if (video === null) return 'audio';
  return video === 'two_way' ? 'video' : 'oneWayVideo';
}

/** `Today`, `Yesterday`, or the date. */
export function dayLabel(at: Date, now: Date): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / 86_400_000);
  if (days === 0) return texts.today;
  if (days === 1) return texts.yesterday;
  return at.toLocaleDateString(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

function startOfDay(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}
