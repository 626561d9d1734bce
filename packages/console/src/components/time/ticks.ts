/** Ticks of charts: at round values, without duplicates, and few enough to read. */

/** The maximum of intervals on an axis. */
const maxIntervals = 5;

/** From 0 to at least `max`, by 1, 2 or 5 times a power of ten; never by less than 1. */
export function valueTicks(max: number): number[] {
  const minStep = Math.max(max, 1) / maxIntervals;
  const power = 10 ** Math.floor(Math.log10(minStep));
  const step = Math.max(1, [1, 2, 5, 10].map((times) => times * power).find((each) => each >= minStep) ?? 1);
  return ticksBy(step, max);
}

const durationSteps = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400];

/** From 0 to at least `maxSec`, by a natural step: 15 s, 1 min, 5 min, an hour. */
export function durationTicks(maxSec: number): number[] {
  const step =
    durationSteps.find((each) => each * maxIntervals >= maxSec) ?? Math.ceil(maxSec / maxIntervals / 86_400) * 86_400;
  return ticksBy(step, maxSec);
}

function ticksBy(step: number, max: number): number[] {
  return Array.from({ length: Math.max(1, Math.ceil(max / step)) + 1 }, (_, index) => index * step);
}

/** The axis of a chart, from 0 to the last tick. */
export function axisOf(ticks: readonly number[]): { ticks: number[]; domain: number[]; interval: number } {
  return { ticks: [...ticks], domain: [0, ticks.at(-1) ?? 1], interval: 0 };
}

const minuteMs = 60_000;

/**
 * The instants at a multiple of `everyMin` minutes of local time. Where DST ends, some local times occur twice: the first one
 * gets the tick.
 */
export function timeTicks(instants: readonly string[], everyMin: number): string[] {
  const seen = new Set<string>();
  return instants.filter((instant) => {
    const at = new Date(instant);
    const minute = at.getHours() * 60 + at.getMinutes();
    const wallClock = `${at.toDateString()} ${minute}`;
    const isRound = at.getTime() % minuteMs === 0 && minute % everyMin === 0;
    if (!isRound || seen.has(wallClock)) return false;
    seen.add(wallClock);
    return true;
  });
}
