import type { QueueStatsInterval } from '@usher/sdk/api-types';

/** The bounds of a day in the reader's time zone. The two days of a DST change have 23 and 25 hours. */
export function dayBounds(day: string): { readonly from: Date; readonly to: Date } | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return null;
  const at = (days: number): Date => new Date(Number(year), Number(month) - 1, Number(date) + days);
  // `Date` turns an invalid date, such as 31 February, into another one.
  return localDate(at(0)) === day ? { from: at(0), to: at(1) } : null;
}

/** `2026-11-15`, in the reader's time zone. */
export function localDate(at: Date): string {
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
}

/** One interval of the charts; `null` for intervals in the future and for averages without visitors. */
export interface Step {
  /** The start of the interval. Unique, unlike the local time, which occurs twice when DST ends. */
  readonly at: string;
  readonly arrivals: number | null;
  readonly engaged: number | null;
  readonly abandoned: number | null;
  /** Visitors who waited too long or whose queue became unstaffed. */
  readonly turnedAway: number | null;
  readonly averageWaitSec: number | null;
  readonly longestWaitSec: number | null;
  readonly withinPercent: number | null;
}

export function stepsOf(intervals: readonly QueueStatsInterval[], now: Date): Step[] {
  return intervals.map((interval) => {
    const at = new Date(interval.from);
    const past = at <= now;
    return {
      at: interval.from,
      arrivals: past ? interval.arrivals : null,
      engaged: past ? interval.engaged : null,
      abandoned: past ? interval.abandoned : null,
      turnedAway: past ? interval.expired + interval.unstaffed : null,
      averageWaitSec: interval.average_wait_sec,
      longestWaitSec: interval.longest_wait_sec,
      withinPercent: interval.within_service_level === null ? null : Math.round(interval.within_service_level * 100),
    };
  });
}

interface DayTotals {
  readonly arrivals: number;
  readonly engaged: number;
  readonly abandoned: number;
  readonly turnedAway: number;
  readonly averageWaitSec: number | null;
  readonly longestWaitSec: number | null;
  readonly within: number | null;
}

/** The totals of the intervals. Averages and shares are weighted by the visitors of each interval. */
export function totalsOf(intervals: readonly QueueStatsInterval[]): DayTotals {
  const sum = (figure: (each: QueueStatsInterval) => number): number =>
    intervals.reduce((all, each) => all + figure(each), 0);
  const [engaged, abandoned] = [sum((each) => each.engaged), sum((each) => each.abandoned)];
  const waits = intervals.flatMap(({ longest_wait_sec: longest }) => longest ?? []);
  const counted = engaged + abandoned;
  return {
    arrivals: sum((each) => each.arrivals),
    engaged,
    abandoned,
    turnedAway: sum((each) => each.expired + each.unstaffed),
    averageWaitSec: engaged === 0 ? null : sum((each) => (each.average_wait_sec ?? 0) * each.engaged) / engaged,
    longestWaitSec: waits.length === 0 ? null : Math.max(...waits),
    within:
      counted === 0
        ? null
        : sum((each) => (each.within_service_level ?? 0) * (each.engaged + each.abandoned)) / counted,
  };
}
