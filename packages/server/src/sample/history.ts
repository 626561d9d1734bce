import { newId, type QueueId } from '../platform/ids.ts';
import { compileHours, isOpen } from '../schedules/hours.ts';
import { chance } from './chance.ts';
import { arrivalsPerMinute } from './plan.ts';
import { policies, queues } from './scene.ts';

/** A visit to a queue that is over, as reports are made of. */
interface Visit {
  readonly queue_id: QueueId;
  readonly ticket_id: string;
  readonly entered_at: Date;
  readonly left_at: Date;
  readonly outcome: 'engaged' | 'canceled' | 'visitor_left' | 'moved';
}

const hours = 24;
/** Fewer than come now: a day of them is made at once. */
const share = 0.1;

/**
 * The day before, for charts that would be empty: visits to the queues of the sample, and nothing else. No visitor and no
 * engagement is made up for them, and nothing in the log of events.
 */
export function pastVisits(ids: ReadonlyMap<string, QueueId>, seed: number, now: Date): Visit[] {
  const opened = policies(now);
  return queues.flatMap((queue) => {
    const id = ids.get(queue.name);
    const open = compileHours(opened[queue.policy]);
    if (id === undefined) return [];
    const found: Visit[] = [];
    for (let minute = hours * 60; minute > 1; minute -= 1) {
      const at = now.getTime() - minute * 60_000;
      const draw = (what: string): number => chance(seed, 'past', queue.name, minute, what);
      if (!isOpen(open, at) || draw('comes') > (arrivalsPerMinute(at) * share * queue.share) / 100) continue;
      found.push({ queue_id: id, ticket_id: newId(), ...courseOf(at, draw, queue.fallback !== undefined) });
    }
    return found;
  });
}

function courseOf(at: number, draw: (what: string) => number, mayMove: boolean): Omit<Visit, 'queue_id' | 'ticket_id'> {
  const fate = draw('fate');
  const outcome = fate < 0.8 ? 'engaged' : fate < 0.9 ? 'canceled' : fate < 0.96 || !mayMove ? 'visitor_left' : 'moved';
  // Most are served soon, a few wait long.
  const waitSec = 2 + 55 * draw('wait') ** 3;
  return { entered_at: new Date(at), left_at: new Date(at + waitSec * 1000), outcome };
}
