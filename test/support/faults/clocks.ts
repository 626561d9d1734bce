import type { WhoseClock } from '../database/stepped-clocks.ts';
import type { Fault } from './fault.ts';

const hourSec = 3_600;

/** The offsets one after the other. Each is a step of an hour from the one before. */
const steps = (['database', 'process', 'both'] satisfies WhoseClock[]).flatMap((whose) =>
  [-hourSec, 0, hourSec, 0].map((aheadSec) => ({ whose, aheadSec })),
);

export const clockFaults: readonly Fault[] = [
  {
    name: 'Clocks step by an hour',
    world: 'clocks',
    times: { short: 0, long: 2 * steps.length },
    async inject({ world, load, round }) {
      const step = steps[round % steps.length];
      if (step === undefined) return;
      world.stepped.set(step.whose, step.aheadSec);
      await load.goesOn(100);
      await load.catchesUp();
    },
  },
];
