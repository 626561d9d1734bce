import { chance } from './chance.ts';
import { arrivalsPerMinute } from './plan.ts';
import { queues, type PolicyName } from './scene.ts';

/** A past visit to a queue, for reports. */
interface Visit {
  readonly queue: string;
  readonly enteredAt: Date;
  readonly leftAt: Date;
  readonly outcome: 'engaged' | 'canceled' | 'visitor_left' | 'moved';
}

const hours = 24;
/** The share of the current arrival rate, because a whole day is inserted at once. */
const rateShare = 0.1;

/**
 * Visits of the last 24 hours, so that charts are not empty. They are visits only: without visitors, engagements and events.
 */
export function pastVisits(seed: number, now: Date, isOpen: (policy: PolicyName, at: number) => boolean): Visit[] {
  return queues.flatMap(({ name: queue, policy, share: ofArrivals, fallback }) => {
    const found: Visit[] = [];
    for (let minute = hours * 60; minute > 1; minute -= 1) {
      const at = now.getTime() - minute * 60_000;
      const draw = (what: string): number => chance(seed, 'past', queue, minute, what);
      if (!isOpen(policy, at) || draw('comes') > (arrivalsPerMinute(at) * rateShare * ofArrivals) / 100) continue;
      found.push({ queue, ...courseOf(at, draw, fallback !== undefined) });
    }
    return found;
  });
}

function courseOf(at: number, draw: (what: string) => number, mayMove: boolean): Omit<Visit, 'queue'> {
  const fate = draw('fate');
  const outcome = fate < 0.8 ? 'engaged' : fate < 0.9 ? 'canceled' : fate < 0.96 || !mayMove ? 'visitor_left' : 'moved';
  // Most visitors are served soon, a few wait long.
  const waitSec = 2 + 55 * draw('wait') ** 3;
  return { enteredAt: new Date(at), leftAt: new Date(at + waitSec * 1000), outcome };
}
