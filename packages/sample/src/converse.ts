import { elapsed, type Action, type Clock, type Sides } from './action.ts';
import { chance, pick } from './chance.ts';
import type { Actor } from './host.ts';
import { operatorFillers, scripts, type OperatorLine, type Script } from './lines.ts';
import type { WorldEngagement } from './world.ts';

/** Somebody real who says nothing for so long is not waited for any longer. Seconds of the sample's time. */
const silentOperatorSec = 180;
const silentVisitorSec = 600;
/** One types for so long before a message. */
const typingSec = 1.5;
/** After its last word a visitor of ours lingers for so long. */
const lingersSec = 8;

/** The next word, or the end. The side that did not speak last has its turn; ours take it, the others are waited for. */
export function conversation(engagement: WorldEngagement, sides: Sides, clock: Clock): Action[] {
  const { id: engagementId, said, last, startedAt } = engagement;
  const script = pick(scripts, chance(clock.seed, 'script', engagementId));
  const ending = endOf(engagement, sides, script, clock);
  if (ending !== null) return [{ key: `end ${engagementId}`, do: 'end', engagementId, as: ending }];
  const turn = last?.from === 'visitor' ? 'operator' : 'visitor';
  const as = sides[turn];
  const line = as === undefined ? null : (turn === 'visitor' ? visitorLine : operatorLine)(engagement, script);
  if (as === undefined || line === null) return [];
  const count = said.visitor + said.operator;
  const waited = elapsed(clock, last?.at ?? startedAt);
  const due = 2 + 4 * chance(clock.seed, 'pause', engagementId, count);
  if (waited >= due) return [{ key: `say ${engagementId} ${count}`, do: 'say', engagementId, as, ...line }];
  if (waited < due - typingSec) return [];
  return [{ key: `type ${engagementId} ${count}`, do: 'type', engagementId, as }];
}

/** Who ends it now; `null`: nobody. */
function endOf(engagement: WorldEngagement, { visitor, operator }: Sides, script: Script, clock: Clock): Actor | null {
  const { id, said, last, startedAt } = engagement;
  const silent = elapsed(clock, last?.at ?? startedAt);
  if (visitor !== undefined && operator !== undefined) {
    if (elapsed(clock, startedAt) < 20 + 70 * chance(clock.seed, 'lasts', id)) return null;
    return chance(clock.seed, 'ends', id) < 0.7 ? visitor : operator;
  }
  if (visitor !== undefined) {
    const isDone = said.visitor >= script.visitor.length && silent > lingersSec;
    return isDone || silent > silentOperatorSec ? visitor : null;
  }
  return operator !== undefined && silent > silentVisitorSec ? operator : null;
}

type Line = Pick<Extract<Action, { do: 'say' }>, 'content' | 'offers' | 'chooses'>;

/** Given a choice it chooses; else it says its next line. */
function visitorLine({ id, said, last }: WorldEngagement, { visitor }: Script): Line | null {
  const [first, ...rest] = last?.options ?? [];
  if (first !== undefined) {
    const { text, value } = pick([first, ...rest], chance(0, 'choice', id, said.visitor));
    return { content: text, chooses: value };
  }
  const next = visitor[said.visitor];
  return next === undefined ? null : { content: next };
}

function operatorLine({ id, said }: WorldEngagement, { operator }: Script): Line {
  // A welcome message counts as the operator's: what is said follows what the visitor has said.
  const next: OperatorLine | undefined = operator[said.visitor - 1];
  const { text, options } = next ?? { text: pick(operatorFillers, chance(0, 'filler', id, said.operator)) };
  return options === undefined ? { content: text } : { content: text, offers: options.map(asCard) };
}

function asCard(text: string): { text: string; value: string } {
  return { text, value: text.toLowerCase().replaceAll(/\W+/g, '_') };
}
