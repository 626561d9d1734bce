import { texts } from '../texts.ts';

/** The period of the chart, its interval, and the distance of its ticks. */
export const spans = {
  hour: { label: texts.oneHour, ms: 3_600_000, stepSec: 60, everyMin: 10, tick: 'time' },
  day: { label: texts.oneDay, ms: 86_400_000, stepSec: 900, everyMin: 180, tick: 'time' },
  week: { label: texts.sevenDays, ms: 604_800_000, stepSec: 7_200, everyMin: 1_440, tick: 'day' },
} as const;
export type SpanName = keyof typeof spans;

/** The period up to the end of the current interval, so that the request changes once per interval. */
export function spanUntil(nowMs: number, ms: number, stepMs: number): { readonly from: string; readonly to: string } {
  const end = (Math.floor(nowMs / stepMs) + 1) * stepMs;
  return { from: new Date(end - ms).toISOString(), to: new Date(end).toISOString() };
}

interface Numbers {
  readonly delivered: number;
  readonly failed: number;
  readonly given_up: number;
}

export function sumOf(steps: readonly Numbers[]): Numbers {
  const sum = { delivered: 0, failed: 0, given_up: 0 };
  for (const step of steps) {
    sum.delivered += step.delivered;
    sum.failed += step.failed;
    sum.given_up += step.given_up;
  }
  return sum;
}
