import type { QueueStatsInterval } from '@usher/client/api-types';

/** The bounds of a day in the reader's time zone. The two days of a DST change have 23 and 25 hours. */
export function boundsOf(day: string): { readonly from: Date; readonly to: Date } | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return null;
  const at = (days: number): Date => new Date(Number(year), Number(month) - 1, Number(date) + days);
  // `Date` turns an invalid date, such as 31 February, into another one.
  return nameOf(at(0)) === day ? { from: at(0), to: at(1) } : null;
}

/** `2026-11-15`, in the reader's time zone. */
export function nameOf(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** One interval of the charts; `null` for intervals in the future and for averages of nobody. */
export interface Step {
  /** The start of the interval. Unique, unlike the local time, which occurs twice when DST ends. */
  readonly at: string;
  readonly arrivals: number | null;
  readonly engaged: number | null;
  readonly abandoned: number | null;
  /** Visitors who waited too long or whose queue became unstaffed. */
  readonly sentAway: number | null;
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
      sentAway: past ? interval.expired + interval.unstaffed : null,
      averageWaitSec: interval.average_wait_sec,
      longestWaitSec: interval.longest_wait_sec,
      withinPercent: interval.within_service_level === null ? null : Math.round(interval.within_service_level * 100),
    };
  });
}

interface Whole {
  readonly arrivals: number;
  readonly engaged: number;
  readonly abandoned: number;
  readonly sentAway: number;
  readonly averageWaitSec: number | null;
  readonly longestWaitSec: number | null;
  readonly within: number | null;
}

/** The totals of the intervals. Averages and shares are weighted by the visitors of each interval. */
export function wholeOf(intervals: readonly QueueStatsInterval[]): Whole {
  const sum = (figure: (each: QueueStatsInterval) => number): number =>
    intervals.reduce((all, each) => all + figure(each), 0);
  const [engaged, abandoned] = [sum((each) => each.engaged), sum((each) => each.abandoned)];
  const waits = intervals.flatMap(({ longest_wait_sec: longest }) => longest ?? []);
  const judged = engaged + abandoned;
  return {
    arrivals: sum((each) => each.arrivals),
    engaged,
    abandoned,
    sentAway: sum((each) => each.expired + each.unstaffed),
    averageWaitSec: engaged === 0 ? null : sum((each) => (each.average_wait_sec ?? 0) * each.engaged) / engaged,
    longestWaitSec: waits.length === 0 ? null : Math.max(...waits),
    within:
      judged === 0 ? null : sum((each) => (each.within_service_level ?? 0) * (each.engaged + each.abandoned)) / judged,
  };
}
