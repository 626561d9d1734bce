import { describeEndedCall } from '@usher/call/ended-call';
import type { EngagedOperator, Engagement } from '@usher/sdk/api-types';
import type { Message } from './messages.ts';
import type { UnsentMessage } from './outbox.ts';
import { operatorHeadings, describeTransfer } from './operator-headings.ts';
import { texts } from '../texts.ts';

/** A line of the log. */
export type Line =
  | {
      readonly kind: 'message';
      readonly id: string;
      readonly message: Message;
      readonly isLastOwn: boolean;
      /** The operator to name above the message; `null`: none. */
      readonly operator: EngagedOperator | null;
    }
  | { readonly kind: 'unsent'; readonly id: string; readonly unsent: UnsentMessage }
  | { readonly kind: 'event'; readonly id: string; readonly at: string; readonly text: string };

interface LogState {
  readonly messages: readonly Message[];
  readonly unsent: readonly UnsentMessage[];
  readonly engagement: Engagement | null;
}

/** Messages, transfers and calls in order of time, then the messages that are not sent yet. */
export function linesOf({ messages, unsent, engagement }: LogState): Line[] {
  const lastOwn = messages.findLast(({ from }) => from === 'visitor');
  const headings = operatorHeadings(messages, engagement);
  const messageLines = messages.map((message) => {
    const { id, timestamp: at } = message;
    const operator = headings.get(id) ?? null;
    return { at, line: { kind: 'message', id, message, isLastOwn: message === lastOwn, operator } as const };
  });
  const operatorLines = (engagement?.sub_engagements ?? []).map(({ id, started_at: at }, index) => {
    const text = index === 0 ? texts.connected : describeTransfer(engagement, id);
    return { at, line: { kind: 'event', id, at, text } as const };
  });
  const callLines = (engagement?.calls ?? []).flatMap((call) => {
    const [at, text] = [call.ended_at, describeEndedCall(call, texts)];
    return at === null || text === null ? [] : [{ at, line: { kind: 'event', id: call.id, at, text } as const }];
  });
  const isEnded = engagement?.state === 'ended';
  return [
    ...[...operatorLines, ...callLines, ...messageLines]
      .toSorted((one, other) => (one.at < other.at ? -1 : 1))
      .map(({ line }) => line),
    ...unsent
      .filter(({ id }) => !messages.some((message) => message.id === id))
      .map((each) => ({
        kind: 'unsent' as const,
        id: each.id,
        unsent: isEnded && each.refused === undefined ? { ...each, refused: texts.errors.engagement_ended } : each,
      })),
  ];
}
