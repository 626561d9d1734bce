import type { Violation } from '../platform/errors.ts';
import { canonicalTimeZone } from './time-zones.ts';

/** A scheduling policy's hours as the interface gives them. A route stores them normalised; here any valid form serves. */
export interface HoursPolicy {
  readonly timezone: string;
  readonly business_hours: readonly BusinessHours[];
  readonly exceptions?: readonly HoursException[];
}

interface BusinessHours extends OpeningTimes {
  readonly days_of_week: readonly string[];
}

/** Replaces a local date (D6.6): by these times, or without times by a closed day. */
export interface HoursException extends Partial<OpeningTimes> {
  readonly date: string;
}

/** `HH:MM`, see `timePattern`. */
export interface OpeningTimes {
  readonly opens_at: string;
  readonly closes_at: string;
}

export const timePattern = '^([01][0-9]|2[0-4]):[0-5][0-9]$';
export const datePattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** D6.5: lower-case, without duplicates, in week order. Names of no day are left out: `hoursViolations` reports them. */
export function normalizeDays(days: readonly string[]): Weekday[] {
  const given = new Set(days.map((day) => day.toLowerCase()));
  return weekdays.filter((day) => given.has(day));
}

/** Minutes from the midnight of the day that owns the span; `opens < closes`. */
export interface Span {
  readonly opens: number;
  readonly closes: number;
}

export const minutesOfDay = 1_440;

/** No span reaches further than into the second day after its own: `24:59`–`00:59` closes there. */
export const mostSpillDays = 2;

/**
 * D6.2. A closing that is not later than its opening is the next one of that wall-clock time: for `23:00`–`02:00` on the
 * next day, but for `24:30`–`00:10`, which opens on the next day, on the one after.
 */
export function spanOf({ opens_at, closes_at }: OpeningTimes): Span {
  const opens = minutesFromMidnight(opens_at);
  const closes = minutesFromMidnight(closes_at);
  if (opens === closes && opens !== 0) throw new Error(`${opens_at}–${closes_at} is no interval`);
  if (closes > opens) return { opens, closes };
  const daysLater = Math.floor((opens - closes) / minutesOfDay) + 1;
  return { opens, closes: closes + daysLater * minutesOfDay };
}

function minutesFromMidnight(time: string): number {
  if (!new RegExp(timePattern).test(time)) throw new Error(`${time} is no time of day`);
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/** What a JSON schema cannot say about a policy's hours. Takes the parts a request has, shaped as the schema demands. */
export function hoursViolations({ timezone, business_hours = [], exceptions = [] }: Partial<HoursPolicy>): Violation[] {
  return [
    ...(timezone === undefined ? [] : timeZoneViolations(timezone)),
    ...business_hours.flatMap((hours, index) => businessHoursViolations(hours, `/business_hours/${index}`)),
    ...exceptions.flatMap((exception, index) => exceptionViolations(exception, `/exceptions/${index}`)),
  ];
}

function timeZoneViolations(timezone: string): Violation[] {
  if (canonicalTimeZone(timezone) !== null) return [];
  return [{ attribute: '/timezone', detail: 'must be the name of an IANA time zone, such as Europe/Tallinn' }];
}

function businessHoursViolations(hours: BusinessHours, at: string): Violation[] {
  const unknown = hours.days_of_week.flatMap((day, index) =>
    normalizeDays([day]).length > 0
      ? []
      : [{ attribute: `${at}/days_of_week/${index}`, detail: `must be one of ${weekdays.join(' or ')}` }],
  );
  return [...equalTimes(hours, at), ...unknown];
}

function exceptionViolations(exception: HoursException, at: string): Violation[] {
  const { date, opens_at, closes_at } = exception;
  const violations: Violation[] = [];
  if (!isCalendarDate(date))
    violations.push({ attribute: `${at}/date`, detail: 'must be a date of the calendar, such as 2027-12-24' });
  if (opens_at === undefined && closes_at !== undefined)
    violations.push({ attribute: `${at}/opens_at`, detail: 'is required with closes_at' });
  if (opens_at !== undefined && closes_at === undefined)
    violations.push({ attribute: `${at}/closes_at`, detail: 'is required with opens_at' });
  return [...violations, ...equalTimes(exception, at)];
}

/** Two times of the pattern are equal exactly if their texts are. */
function equalTimes({ opens_at, closes_at }: Partial<OpeningTimes>, at: string): Violation[] {
  if (opens_at === undefined || opens_at !== closes_at || opens_at === '00:00') return [];
  return [{ attribute: `${at}/closes_at`, detail: 'must not equal opens_at, unless both are 00:00: the whole day' }];
}

/** A date that a zone skipped, as Pacific/Apia did 2011-12-30, is a date all the same. */
function isCalendarDate(date: string): boolean {
  if (!new RegExp(datePattern).test(date)) return false;
  try {
    return Temporal.PlainDate.from(date).toString() === date;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
