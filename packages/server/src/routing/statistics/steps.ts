import { zoneClock } from '../../schedules/time-zones.ts';

export const granularities = ['all', 'fifteen_minute', 'thirty_minute', 'hour', 'day'] as const;
export type Granularity = (typeof granularities)[number];

const minuteMs = 60_000;
const lengthsMs: Readonly<Record<Exclude<Granularity, 'all' | 'day'>, number>> = {
  fifteen_minute: 15 * minuteMs,
  thirty_minute: 30 * minuteMs,
  hour: 60 * minuteMs,
};

interface Range {
  /** Epoch milliseconds, half-open. */
  readonly from: number;
  readonly to: number;
  readonly granularity: Granularity;
  readonly timeZone: string;
}

/**
 * The starts of the steps of a range (epoch milliseconds, ascending). Steps follow the clocks of the time zone: an hour starts at
 * a full local hour, a day at local midnight, so that a day on which the clocks change has 23 or 25 hours. The first step may
 * start before the range, but it counts only what is in the range.
 */
export function stepsOf({ from, to, granularity, timeZone }: Range): number[] {
  switch (granularity) {
    case 'all':
      return [from];
    case 'day':
      return daysOf(from, to, timeZone);
    case 'fifteen_minute':
    case 'thirty_minute':
    case 'hour':
      return clockSteps(from, to, { timeZone, lengthMs: lengthsMs[granularity] });
  }
}

function daysOf(from: number, to: number, timeZone: string): number[] {
  const starts: number[] = [];
  let day = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timeZone).startOfDay();
  while (day.epochMilliseconds < to || starts.length === 0) {
    starts.push(day.epochMilliseconds);
    day = day.toPlainDate().add({ days: 1 }).toZonedDateTime(timeZone);
  }
  return starts;
}

function clockSteps(
  from: number,
  to: number,
  { timeZone, lengthMs }: { timeZone: string; lengthMs: number },
): number[] {
  const clock = zoneClock(timeZone);
  const alignedBefore = (at: number, offsetMs: number): number =>
    Math.floor((at + offsetMs) / lengthMs) * lengthMs - offsetMs;
  const starts: number[] = [];
  let at = alignedBefore(from, clock.stretchAt(from).offsetMs);
  while (at < to || starts.length === 0) {
    starts.push(at);
    const { offsetMs, endsAt } = clock.stretchAt(at);
    const next = alignedBefore(at, offsetMs) + lengthMs;
    // If the clocks change within a step, the step ends at the next aligned start by the new offset.
    at = next <= endsAt ? next : alignedBefore(endsAt - 1, clock.stretchAt(endsAt).offsetMs) + lengthMs;
  }
  return starts;
}

/** Consecutive steps of the same length. */
export interface StepRun {
  /** Where the first of them begins. */
  readonly start: Date;
  readonly seconds: number;
}

/** Longer than any range. */
const endlessSec = 400 * 86_400;

/**
 * The steps as runs, oldest first. There are few, as only a change of the clocks makes a step shorter or longer. It is unknown where
 * the last step ends, so it is a run without an end.
 */
export function runsOf(steps: readonly Date[]): readonly StepRun[] {
  const runs: StepRun[] = [];
  for (const [index, start] of steps.entries()) {
    const next = steps[index + 1];
    const seconds = next === undefined ? endlessSec : (next.getTime() - start.getTime()) / 1_000;
    if (runs.at(-1)?.seconds !== seconds) runs.push({ start, seconds });
  }
  return runs;
}
