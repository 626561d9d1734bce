import type { HoursOutlook } from '@usher/sdk/api-types';
import { minutesOfDay } from '@usher/contract/opening-times';
import { formatDuration } from '../../components/time/duration.ts';
import { texts } from './texts.ts';
import { timeOf } from './week.ts';

/** An open part of a day, as fractions of the longest day. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly opensAt: number;
  readonly closesAt: number;
}

/** A DST change of the time zone. */
interface ClockChange {
  readonly at: number;
  readonly bySec: number;
  /** The UTC offset before the change. */
  readonly offsetBeforeSec: number;
}

export interface StripDay {
  readonly date: string;
  readonly hours: number;
  readonly startsAt: number;
  readonly endsAt: number;
  /** The length relative to the longest day, which is 1. */
  readonly length: number;
  readonly pieces: readonly Piece[];
  readonly changes: readonly (ClockChange & { readonly position: number })[];
}

const hourMs = 3_600_000;

/** Days drawn to one scale, so that a day of 25 hours is longer than one of 24. */
export function stripOf({ days, intervals, clock_changes }: HoursOutlook): StripDay[] {
  const spans = days.map(({ date, starts_at, ends_at }) => ({
    date,
    startsAt: Date.parse(starts_at),
    endsAt: Date.parse(ends_at),
  }));
  const longest = Math.max(24 * hourMs, ...spans.map(({ startsAt, endsAt }) => endsAt - startsAt));
  const open = intervals.map((each) => ({ opensAt: Date.parse(each.opens_at), closesAt: Date.parse(each.closes_at) }));
  return spans.map(({ date, startsAt, endsAt }) => {
    const position = (at: number): number => (at - startsAt) / longest;
    return {
      date,
      startsAt,
      endsAt,
      hours: (endsAt - startsAt) / hourMs,
      length: (endsAt - startsAt) / longest,
      pieces: open
        .filter(({ opensAt, closesAt }) => opensAt < endsAt && closesAt > startsAt)
        .map(({ opensAt, closesAt }) => ({
          from: position(Math.max(opensAt, startsAt)),
          to: position(Math.min(closesAt, endsAt)),
          opensAt: Math.max(opensAt, startsAt),
          closesAt: Math.min(closesAt, endsAt),
        })),
      changes: clock_changes
        .map(({ at, offset_before_sec, offset_after_sec }) => ({
          at: Date.parse(at),
          position: position(Date.parse(at)),
          bySec: offset_after_sec - offset_before_sec,
          offsetBeforeSec: offset_before_sec,
        }))
        .filter(({ at }) => startsAt <= at && at < endsAt),
    };
  });
}

/**
 * `DST change: clocks go back 1 h at 04:00, so 03:00–04:00 occurs twice`, or `clocks go forward 1 h at 03:00, so 03:00–04:00 is
 * skipped`: what the clock on the wall does, and which hours of the day are double or missing.
 */
export function describeChange({ at, bySec, offsetBeforeSec }: ClockChange): string {
  const wallClock = (offsetSec: number): string => timeOf(Math.floor((at / 1_000 + offsetSec) / 60) % minutesOfDay);
  const [before, after] = [wallClock(offsetBeforeSec), wallClock(offsetBeforeSec + bySec)];
  const by = formatDuration(Math.abs(bySec));
  return bySec < 0 ? texts.clocksGoBack(by, before, after) : texts.clocksGoForward(by, before, after);
}

/** A time format of the zone; UTC for a zone that the browser does not know. */
export function zoneFormat(timezone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(undefined, { ...options, timeZone: timezone });
  } catch {
    // `timeZoneName` cannot be combined with `dateStyle`.
    const zoneLabel = options.dateStyle === undefined ? ({ timeZoneName: 'short' } as const) : {};
    return new Intl.DateTimeFormat(undefined, { ...options, ...zoneLabel, timeZone: 'UTC' });
  }
}
