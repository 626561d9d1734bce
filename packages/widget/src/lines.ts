import { describeEndedCall } from '@usher/call/ended-call';
import type { EngagedOperator, Engagement } from '@usher/client/api-types';
import type { Message } from './messages.ts';
import type { Unsent } from './outbox.ts';
import { speakersOf, transferInWords } from './speakers.ts';
import { words } from './words.ts';

/** A line of the conversation as it is shown. */
export type Line =
  | {
      readonly kind: 'message';
      readonly id: string;
      readonly message: Message;
      readonly isLastOwn: boolean;
      /** The operator who is named above the message; `null`: nobody is. */
      readonly operator: EngagedOperator | null;
    }
  | { readonly kind: 'unsent'; readonly id: string; readonly unsent: Unsent }
  | { readonly kind: 'event'; readonly id: string; readonly at: string; readonly text: string };

interface Shown {
  readonly messages: readonly Message[];
  readonly unsent: readonly Unsent[];
  readonly engagement: Engagement | null;
}

/** What was said and what has happened, in order, and at the end what is on its way. */
export function linesOf({ messages, unsent, engagement }: Shown): Line[] {
  const lastOwn = messages.findLast(({ from }) => from === 'visitor');
  const speakers = speakersOf(messages, engagement);
  const said = messages.map((message) => {
    const { id, timestamp: at } = message;
    const operator = speakers.get(id) ?? null;
    return { at, line: { kind: 'message', id, message, isLastOwn: message === lastOwn, operator } as const };
  });
  const happened = (engagement?.sub_engagements ?? []).map(({ id, started_at: at }, index) => {
    const text = index === 0 ? words.connected : transferInWords(engagement, id);
    return { at, line: { kind: 'event', id, at, text } as const };
  });
  const calls = (engagement?.calls ?? []).flatMap((call) => {
    const [at, text] = [call.ended_at, describeEndedCall(call, words)];
    return at === null || text === null ? [] : [{ at, line: { kind: 'event', id: call.id, at, text } as const }];
  });
  const isOver = engagement?.state === 'ended';
  return [
    ...[...happened, ...calls, ...said].toSorted((one, other) => (one.at < other.at ? -1 : 1)).map(({ line }) => line),
    ...unsent
      .filter(({ id }) => !messages.some((message) => message.id === id))
      .map((each) => ({
        kind: 'unsent' as const,
        id: each.id,
        unsent: isOver && each.refused === undefined ? { ...each, refused: words.endedBeforeSent } : each,
      })),
  ];
}
