import { weekdays } from '@usher/contract/opening-times';
import type { Entry } from './harness.ts';
import type { Size } from './lab.ts';
import type { HoursPolicy } from '../packages/server/src/schedules/business-hours.ts';
import { type CompiledHours, compileHours, isOpen, nextChange } from '../packages/server/src/schedules/hours.ts';

/** How many instants are asked about, and how often. */
interface HoursSize {
  readonly instantCount: number;
  readonly rounds: number;
}

const sizes: Readonly<Record<Size, HoursSize>> = {
  full: { instantCount: 20_000, rounds: 25 },
  short: { instantCount: 500, rounds: 2 },
};

/** What a call of `isOpen` and of `nextChange` takes on average, once the policies are compiled. Targets: 2 and 50. */
async function measureHours({
  instantCount,
  rounds,
}: HoursSize): Promise<{ isOpenMicroseconds: number; nextChangeMicroseconds: number }> {
  const policies = mixedPolicies().map(compileHours);
  const instants = spreadInstants(instantCount);
  const average = (call: HoursCall): number => averageMicroseconds(call, { policies, instants, rounds });
  const isOpenMicroseconds = average(isOpen);
  // The event loop gets a turn between the two, so that a harness around them stays responsive.
  await new Promise((resolve) => setImmediate(resolve));
  return { isOpenMicroseconds, nextChangeMicroseconds: average(nextChange) };
}

type HoursCall = (hours: CompiledHours, instant: number) => unknown;

interface Questions {
  readonly policies: readonly CompiledHours[];
  readonly instants: readonly number[];
  readonly rounds: number;
}

function averageMicroseconds(call: HoursCall, { policies, instants, rounds }: Questions): number {
  let answers = 0;
  const round = () => {
    let next = 0;
    for (const instant of instants) {
      const hours = policies[next % policies.length];
      if (hours !== undefined && call(hours, instant) !== null) answers += 1;
      next += 1;
    }
  };
  round();
  const startedAt = performance.now();
  for (let done = 0; done < rounds; done += 1) round();
  const elapsedMs = performance.now() - startedAt;
  // Uses what was answered, so that no call can be optimised away.
  if (answers === 0) throw new Error('nothing was ever open or closed');
  return (elapsedMs * 1_000) / (rounds * instants.length);
}

/** A pseudo-random sequence from 2020 to 2040, the same in each run, so that runs compare. */
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

/** Every 18th day from 2020 on. */
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
