import type { EngagedOperator, Engagement } from '@usher/client/api-types';
import type { Message } from './messages.ts';
import { words } from './words.ts';

type Served = Pick<Engagement, 'operators' | 'sub_engagements'>;

/** Who serves in that sub-engagement, as visitors may know them. `null`: that is not known yet. */
export function operatorOf(engagement: Served | null, subEngagementId: string | undefined): EngagedOperator | null {
  const sub = engagement?.sub_engagements.find(({ id }) => id === subEngagementId);
  return engagement?.operators.find(({ id }) => id === sub?.operator_id) ?? null;
}

/** The operators who are named above messages, by the message: above the first of several that they sent in a row. */
export function speakersOf(
  messages: readonly Message[],
  engagement: Served | null,
): ReadonlyMap<string, EngagedOperator> {
  const speakers = new Map<string, EngagedOperator>();
  let last: string | null = null;
  for (const { id, from, subEngagementId } of messages) {
    const operator = from === 'operator' ? operatorOf(engagement, subEngagementId) : null;
    if (operator !== null && operator.id !== last) speakers.set(id, operator);
    last = operator?.id ?? null;
  }
  return speakers;
}

export function transferInWords(engagement: Served | null, subEngagementId: string): string {
  return words.nowWith(operatorOf(engagement, subEngagementId)?.display_name);
}
