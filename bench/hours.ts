import { weekdays } from '@usher/contract/opening-times';
import type { Entry } from './measuring/harness.ts';
import type { Size } from './measuring/lab.ts';
import type { HoursPolicy } from '../packages/server/src/schedules/business-hours.ts';
import { type CompiledHours, compileHours, isOpen, nextChange } from '../packages/server/src/schedules/hours.ts';

/** How many instants are evaluated, and how many times. */
interface HoursSize {
  readonly instantCount: number;
  readonly rounds: number;
}

const sizes: Readonly<Record<Size, HoursSize>> = {
  full: { instantCount: 20_000, rounds: 25 },
  short: { instantCount: 500, rounds: 2 },
};

/** The average time of a call of `isOpen` and of `nextChange` on compiled policies. */
async function measureHours({
  instantCount,
  rounds,
}: HoursSize): Promise<{ isOpenMicroseconds: number; nextChangeMicroseconds: number }> {
  const policies = mixedPolicies().map(compileHours);
  const instants = spreadInstants(instantCount);
  const average = (call: HoursCall): number => averageMicroseconds(call, { policies, instants, rounds });
  const isOpenMicroseconds = average(isOpen);
  // Yields to the event loop between the two, so that a signal can interrupt the run.
  await new Promise((resolve) => setImmediate(resolve));
  return { isOpenMicroseconds, nextChangeMicroseconds: average(nextChange) };
}

type HoursCall = (hours: CompiledHours, instant: number) => unknown;

interface HoursLoad {
  readonly policies: readonly CompiledHours[];
  readonly instants: readonly number[];
  readonly rounds: number;
}

function averageMicroseconds(call: HoursCall, { policies, instants, rounds }: HoursLoad): number {
  let results = 0;
  const round = () => {
    let next = 0;
    for (const instant of instants) {
      const hours = policies[next % policies.length];
      if (hours !== undefined && call(hours, instant) !== null) results += 1;
      next += 1;
    }
  };
  round();
  const startedAt = performance.now();
  for (let done = 0; done < rounds; done += 1) round();
  const elapsedMs = performance.now() - startedAt;
  // Using the results keeps the compiler from removing the calls.
  if (results === 0) throw new Error('no call returned a result');
  return (elapsedMs * 1_000) / (rounds * instants.length);
}

/** Pseudo-random instants from 2020 to 2040, the same in each run, so that runs can be compared. */
function spreadInstants(count: number): number[] {
  const [from, to] = [Date.UTC(2020, 0, 1), Date.UTC(2040, 0, 1)];
  let state = 1;
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return from + Math.floor((state / 2_147_483_647) * (to - from));
  });
}

function mixedPolicies(): HoursPolicy[] {
  const office = { opens_at: '09:00', closes_at: '17:00', days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri'] };
  const night = { opens_at: '20:00', closes_at: '04:00', days_of_week: weekdays };
  const always = { opens_at: '00:00', closes_at: '24:00', days_of_week: weekdays };
  const sunday = { opens_at: '10:00', closes_at: '12:00', days_of_week: ['sun'] };
  const quarters = Array.from({ length: 24 }, (_, hour) => {
    const hh = String(hour).padStart(2, '0');
    return { opens_at: `${hh}:00`, closes_at: `${hh}:15`, days_of_week: weekdays };
  });
  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Tokyo', 'UTC'];
  return zones.flatMap((timezone) => [
    { timezone, business_hours: [office] },
    { timezone, business_hours: [night, sunday] },
    { timezone, business_hours: [sunday] },
    { timezone, business_hours: quarters },
    { timezone, business_hours: [always] },
    { timezone, business_hours: [always], exceptions: closedDays(20) },
    { timezone, business_hours: [office], exceptions: closedDays(400) },
  ]);
}

/** Every 18th day, beginning with 2020-01-01. */
function closedDays(count: number): { date: string }[] {
  const first = Temporal.PlainDate.from('2020-01-01');
  return Array.from({ length: count }, (_, index) => ({ date: first.add({ days: 18 * index }).toString() }));
}

export const hours: Entry = {
  name: 'hours',
  async prepare({ size }) {
    const microseconds = async (which: keyof Awaited<ReturnType<typeof measureHours>>): Promise<number> =>
      (await measureHours(sizes[size]))[which];
    return [
      { name: 'isOpen', unit: 'µs', measure: async () => microseconds('isOpenMicroseconds'), atMost: 2 },
      { name: 'nextChange', unit: 'µs', measure: async () => microseconds('nextChangeMicroseconds'), atMost: 50 },
    ];
  },
};
