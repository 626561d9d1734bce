import type { EngagedOperator, Engagement } from '@usher/sdk/api-types';
import type { Message } from './messages.ts';
import { texts } from '../texts.ts';

type OperatorsOfEngagement = Pick<Engagement, 'operators' | 'sub_engagements'>;

/** The operator of a sub-engagement, as visitors may see them; `null`: the engagement read last does not contain it. */
export function operatorOf(
  engagement: OperatorsOfEngagement | null,
  subEngagementId: string | undefined,
): EngagedOperator | null {
  const sub = engagement?.sub_engagements.find(({ id }) => id === subEngagementId);
  return engagement?.operators.find(({ id }) => id === sub?.operator_id) ?? null;
}

/** The operators to name above messages, by message id. An operator is named above the first of several messages in a row. */
export function operatorHeadings(
  messages: readonly Message[],
  engagement: OperatorsOfEngagement | null,
): ReadonlyMap<string, EngagedOperator> {
  const headings = new Map<string, EngagedOperator>();
  let lastId: string | null = null;
  for (const { id, from, subEngagementId } of messages) {
    const operator = from === 'operator' ? operatorOf(engagement, subEngagementId) : null;
    if (operator !== null && operator.id !== lastId) headings.set(id, operator);
    lastId = operator?.id ?? null;
  }
  return headings;
}

export function describeTransfer(engagement: OperatorsOfEngagement | null, subEngagementId: string): string {
  const operator = operatorOf(engagement, subEngagementId);
  return operator === null ? texts.nowChattingWithColleague : texts.nowChattingWith(operator.display_name);
}
