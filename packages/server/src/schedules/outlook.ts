import type { HoursPolicy } from './business-hours.ts';
import { compileHours, intervals, isOpen, nextChange, type OpenInterval } from './hours.ts';
import { canonicalTimeZone, zoneClock } from './time-zones.ts';

/** A local day with its real length; epoch milliseconds. */
interface LocalDay {
  readonly date: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

interface ClockChange {
  readonly at: number;
  readonly offsetBeforeSec: number;
  readonly offsetAfterSec: number;
}

interface HoursOutlook {
  readonly open: boolean;
  readonly nextChangeAt: number | null;
  readonly days: readonly LocalDay[];
  readonly intervals: readonly OpenInterval[];
  readonly clockChanges: readonly ClockChange[];
  readonly nextClockChangeAt: number | null;
}

interface OutlookQuery {
  readonly now: number;
  /** An instant in the first day. */
  readonly start: number;
  readonly days: number;
}

/** The state of a policy now, and its open intervals on the days from `start` on. */
export function outlookOf(policy: HoursPolicy, { now, start, days: count }: OutlookQuery): HoursOutlook {
  const hours = compileHours(policy);
  const days = localDays(policy.timezone, start, count);
  const from = days[0]?.startsAt ?? start;
  const to = days.at(-1)?.endsAt ?? start;
  const next = zoneClock(policy.timezone).stretchAt(start).endsAt;
  return {
    open: isOpen(hours, now),
    nextChangeAt: nextChange(hours, now),
    days,
    intervals: intervals(hours, from, to),
    clockChanges: clockChanges(policy.timezone, from, to),
    nextClockChangeAt: next === Infinity ? null : next,
  };
}

/** A date that the zone skipped is left out: it would have no length. */
function localDays(timezone: string, start: number, count: number): LocalDay[] {
  const zone = canonicalTimeZone(timezone);
  if (zone === null) throw new Error(`there is no time zone ${timezone}`);
  const first = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zone).toPlainDate();
  const days = Array.from({ length: count }, (_, index) => {
    const date = first.add({ days: index });
    const [startsAt, endsAt] = [date, date.add({ days: 1 })].map((day) => day.toZonedDateTime(zone).epochMilliseconds);
    return { date: date.toString(), startsAt: startsAt ?? 0, endsAt: endsAt ?? 0 };
  });
  return days.filter(({ startsAt, endsAt }) => startsAt < endsAt);
}

function clockChanges(timezone: string, from: number, to: number): ClockChange[] {
  const clock = zoneClock(timezone);
  const found: ClockChange[] = [];
  for (let stretch = clock.stretchAt(from); stretch.endsAt < to;) {
    const after = clock.stretchAt(stretch.endsAt);
    const [before, then] = [stretch, after].map(({ offsetMs }) => Math.trunc(offsetMs / 1_000));
    found.push({ at: stretch.endsAt, offsetBeforeSec: before ?? 0, offsetAfterSec: then ?? 0 });
    stretch = after;
  }
  return found;
}
