import { createHash } from 'node:crypto';
import type { HoursOutlook, SchedulingPolicy } from '@usher/sdk/api-types';

export type Hours = Pick<SchedulingPolicy, 'timezone' | 'business_hours' | 'exceptions'>;
type Exception = Hours['exceptions'][number];
type BusinessHours = Hours['business_hours'][number];

/** What is left out stays as it is. */
export interface HoursChange {
  readonly timezone?: string;
  readonly business_hours?: readonly BusinessHours[];
  /** Replaces all exceptions. */
  readonly exceptions?: readonly Exception[];
  /**
   * Replaces the exceptions on the dates that it names. Adding to them would have no effect on a date that is to be closed and already has
   * other hours.
   */
  readonly set_exceptions?: readonly Exception[];
  /** Removes the exceptions on these dates. */
  readonly remove_exceptions_on?: readonly string[];
}

/** The hours after a change. Fields are in a fixed order, so that the same hours are the same text. */
export function changeHours(hours: Hours, change: HoursChange): Hours {
  const set = change.set_exceptions ?? [];
  const removed = new Set([...(change.remove_exceptions_on ?? []), ...set.map(({ date }) => date)]);
  const kept = (change.exceptions ?? hours.exceptions).filter(({ date }) => !removed.has(date));
  return {
    timezone: change.timezone ?? hours.timezone,
    business_hours: (change.business_hours ?? hours.business_hours).map(({ opens_at, closes_at, days_of_week }) => ({
      opens_at,
      closes_at,
      days_of_week: [...days_of_week],
    })),
    exceptions: [...kept, ...set]
      .map(({ date, opens_at, closes_at }) => ({
        date,
        ...(opens_at === undefined ? {} : { opens_at }),
        ...(closes_at === undefined ? {} : { closes_at }),
      }))
      .toSorted((one, other) => compare(one.date, other.date)),
  };
}

/**
 * Names one change of one version of a policy: the version of its entity tag, and a digest of the hours after the change. A change is
 * made only with the name that its preview returned, so that what was previewed is what is changed.
 */
export function versionOf(policyId: string, etag: string, hours: Hours): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([policyId, etag, hours]))
    .digest('hex');
  return `${etag.replaceAll('"', '')}.${digest.slice(0, 16)}`;
}

/** Dates whose exceptions differ. */
export function changedDates(before: Hours, after: Hours): string[] {
  const textsOf = (hours: Hours): ReadonlyMap<string, string> => {
    const texts = new Map<string, string>();
    for (const { date, opens_at = '', closes_at = '' } of hours.exceptions)
      texts.set(date, `${texts.get(date) ?? ''} ${opens_at}-${closes_at}`);
    return texts;
  };
  const [old, fresh] = [textsOf(before), textsOf(after)];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((date) => old.get(date) !== fresh.get(date))
    .toSorted(compare);
}

/** Whole local days. */
export interface Period {
  readonly start: string;
  readonly days: number;
}

/** A preview of the API has at most 31 days, and two days on each side are not shown: see `requestOf`. */
const maxDays = 27;
const marginDays = 2;
const dayMs = 86_400_000;
const maxPeriods = 6;

/** The days to preview: from today on, and around later dates whose exceptions change. `missed`: dates beyond the limit. */
export function periodsOf(
  today: string,
  days: number,
  dates: readonly string[],
): { readonly periods: readonly Period[]; readonly missed: readonly string[] } {
  const periods: Period[] = [{ start: today, days: Math.min(days, maxDays) }];
  const missed: string[] = [];
  for (const date of dates.filter((each) => each >= today)) {
    const last = periods.at(-1);
    if (last !== undefined && date < addDays(last.start, last.days)) continue;
    if (isComparable(date) && periods.length < maxPeriods) periods.push({ start: date, days: maxDays });
    else missed.push(date);
  }
  return { periods, missed };
}

/**
 * The days that the API must preview for a period. A local day may begin 26 hours earlier in one time zone than in another, so the
 * margin is part of the request, and the first day is named by an instant that may be in the next local day.
 */
export function requestOf({ start, days }: Period): { readonly from: string; readonly days: number } {
  return { from: `${addDays(start, -marginDays)}T12:00:00Z`, days: days + 2 * marginDays };
}

interface ChangedDay {
  readonly date: string;
  /** Open intervals in the time zone after the change, such as `09:00-17:00`; empty: closed. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** The days of the period on which queues would be open at other times. */
export function changedDays(
  period: Period,
  timezone: string,
  { before, after }: { readonly before: HoursOutlook; readonly after: HoursOutlook },
): ChangedDay[] {
  const end = addDays(period.start, period.days);
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' });
  return after.days.flatMap(({ date, starts_at, ends_at }) => {
    if (date < period.start || date >= end) return [];
    const day = { from: Date.parse(starts_at), to: Date.parse(ends_at) };
    const [old, fresh] = [before, after].map(({ intervals }) => clip(intervals, day));
    if (JSON.stringify(old) === JSON.stringify(fresh)) return [];
    const show = (open: readonly Span[] = []): string[] =>
      open.map(({ from, to }) => `${clock.format(from)}-${to === day.to ? '24:00' : clock.format(to)}`);
    return [{ date, before: show(old), after: show(fresh) }];
  });
}

/** Epoch milliseconds. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function clip(intervals: HoursOutlook['intervals'], day: Span): Span[] {
  return intervals.flatMap(({ opens_at, closes_at }) => {
    const from = Math.max(Date.parse(opens_at), day.from);
    const to = Math.min(Date.parse(closes_at), day.to);
    return from < to ? [{ from, to }] : [];
  });
}

/** A date that does not exist is refused by the API. The year 10000 would not be written with four digits. */
function isComparable(date: string): boolean {
  return date < '9999' && !Number.isNaN(Date.parse(`${date}T00:00:00Z`));
}

function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
