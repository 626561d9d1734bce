import { weekdays, type OpeningTimes, type Weekday } from '@usher/contract/opening-times';
import type { Violation } from '../platform/errors.ts';
import { canonicalTimeZone } from './time-zones.ts';

/** The hours of a scheduling policy in their JSON form. Routes store them normalised; these functions accept any valid form. */
export interface HoursPolicy {
  readonly timezone: string;
  readonly business_hours: readonly BusinessHours[];
  readonly exceptions?: readonly HoursException[];
}

interface BusinessHours extends OpeningTimes {
  readonly days_of_week: readonly string[];
}

/** D6.6: replaces the hours of a local date. Without times, the date is closed. */
export interface HoursException extends Partial<OpeningTimes> {
  readonly date: string;
}

export const datePattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$';

/** D6.5: lower case, without duplicates, in week order. Unknown names are left out: `hoursViolations` reports them. */
export function normalizeDays(days: readonly string[]): Weekday[] {
  const given = new Set(days.map((day) => day.toLowerCase()));
  return weekdays.filter((day) => given.has(day));
}

/** The rules on hours that a JSON schema cannot express. Checks the fields that a request has; they must fit the schema. */
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
      : [{ attribute: `${at}/days_of_week/${index}`, detail: `must be one of ${weekdays.join(', ')}` }],
  );
  return [...equalTimes(hours, at), ...unknown];
}

function exceptionViolations(exception: HoursException, at: string): Violation[] {
  const { date, opens_at, closes_at } = exception;
  const violations: Violation[] = [];
  if (!isCalendarDate(date))
    violations.push({ attribute: `${at}/date`, detail: 'must be a calendar date, such as 2027-12-24' });
  if (opens_at === undefined && closes_at !== undefined)
    violations.push({ attribute: `${at}/opens_at`, detail: 'is required with closes_at' });
  if (opens_at !== undefined && closes_at === undefined)
    violations.push({ attribute: `${at}/closes_at`, detail: 'is required with opens_at' });
  return [...violations, ...equalTimes(exception, at)];
}

/** D6.2. The pattern allows one spelling per time, so comparing the texts suffices. */
function equalTimes({ opens_at, closes_at }: Partial<OpeningTimes>, at: string): Violation[] {
  if (opens_at === undefined || opens_at !== closes_at || opens_at === '00:00') return [];
  return [{ attribute: `${at}/closes_at`, detail: 'must not equal opens_at, unless both are 00:00: the whole day' }];
}

/** A date that a zone skipped, such as 2011-12-30 in Pacific/Apia, is still a calendar date. */
function isCalendarDate(date: string): boolean {
  if (!new RegExp(datePattern).test(date)) return false;
  try {
    return Temporal.PlainDate.from(date).toString() === date;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
