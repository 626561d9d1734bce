import { elapsed, type Action, type Clock, type Sides } from './action.ts';
import { chance, pick } from './chance.ts';
import type { Actor } from './host.ts';
import { operatorFillers, scripts, type OperatorLine, type Script } from './lines.ts';
import type { WorldEngagement } from './world.ts';

/** How long a simulated side waits for a silent real one before it ends the engagement. In simulated seconds. */
const silentOperatorSec = 180;
const silentVisitorSec = 600;
/** How long a side types before a message. */
const typingSec = 1.5;
/** How long a simulated visitor stays after their last message. */
const lingerSec = 8;

/** The next message, or the end. It is the turn of the side that did not send the last message; only a simulated side acts. */
export function conversation(engagement: WorldEngagement, sides: Sides, clock: Clock): Action[] {
  const { id: engagementId, messageCounts, last, startedAt } = engagement;
  const script = pick(scripts, chance(clock.seed, 'script', engagementId));
  const ending = endOf(engagement, sides, script, clock);
  if (ending !== null) return [{ key: `end ${engagementId}`, do: 'end', engagementId, as: ending }];
  const turn = last?.from === 'visitor' ? 'operator' : 'visitor';
  const as = sides[turn];
  const line = as === undefined ? null : (turn === 'visitor' ? visitorLine : operatorLine)(engagement, script);
  if (as === undefined || line === null) return [];
  const count = messageCounts.visitor + messageCounts.operator;
  const waited = elapsed(clock, last?.at ?? startedAt);
  const due = 2 + 4 * chance(clock.seed, 'pause', engagementId, count);
  if (waited >= due) return [{ key: `say ${engagementId} ${count}`, do: 'send', engagementId, as, ...line }];
  if (waited < due - typingSec) return [];
  return [{ key: `type ${engagementId} ${count}`, do: 'type', engagementId, as }];
}

/** The side that ends the engagement now; `null`: neither. */
function endOf(engagement: WorldEngagement, { visitor, operator }: Sides, script: Script, clock: Clock): Actor | null {
  const { id, messageCounts, last, startedAt } = engagement;
  const silent = elapsed(clock, last?.at ?? startedAt);
  if (visitor !== undefined && operator !== undefined) {
    if (elapsed(clock, startedAt) < 20 + 70 * chance(clock.seed, 'lasts', id)) return null;
    return chance(clock.seed, 'ends', id) < 0.7 ? visitor : operator;
  }
  if (visitor !== undefined) {
    const isDone = messageCounts.visitor >= script.visitor.length && silent > lingerSec;
    return isDone || silent > silentOperatorSec ? visitor : null;
  }
  return operator !== undefined && silent > silentVisitorSec ? operator : null;
}

type Line = Pick<Extract<Action, { do: 'send' }>, 'content' | 'offers' | 'chooses'>;

/** The visitor's next line, or a choice if the last message offers options. */
function visitorLine({ id, messageCounts, last }: WorldEngagement, { visitor }: Script): Line | null {
  const [first, ...rest] = last?.options ?? [];
  if (first !== undefined) {
    const { text, value } = pick([first, ...rest], chance(0, 'choice', id, messageCounts.visitor));
    return { content: text, chooses: value };
  }
  const next = visitor[messageCounts.visitor];
  return next === undefined ? null : { content: next };
}

function operatorLine({ id, messageCounts }: WorldEngagement, { operator }: Script): Line {
  // Counted by the visitor's messages, because a welcome message counts as one of the operator's.
  const next: OperatorLine | undefined = operator[messageCounts.visitor - 1];
  const { text, options } = next ?? { text: pick(operatorFillers, chance(0, 'filler', id, messageCounts.operator)) };
  return options === undefined ? { content: text } : { content: text, offers: options.map(optionOf) };
}

function optionOf(text: string): { text: string; value: string } {
  return { text, value: text.toLowerCase().replaceAll(/\W+/g, '_') };
}
