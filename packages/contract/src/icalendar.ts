import type { DateRange } from './local-date.ts';

/**
 * Reads the holidays of an iCalendar file (RFC 5545): the dates of its all-day events, between two dates.
 *
 * Understood are line folding, DATE, DATE-TIME from midnight to midnight, DTEND and DURATION in days, RRULE with FREQ=YEARLY,
 * INTERVAL, COUNT, UNTIL and one weekday of one month (BYMONTH=11;BYDAY=4TH), and EXDATE. Everything else is reported as skipped and never guessed, because a wrong date would close
 * queues on a working day.
 */
export interface Holidays {
  /** In the order of their dates. */
  readonly days: readonly Holiday[];
  /** Events that are not taken, with the reason. */
  readonly skipped: readonly string[];
}

interface Holiday {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly name: string;
}

export class CalendarError extends Error {}

interface Property {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
}

const dayMs = 86_400_000;
/** An event that is longer than this is no holiday. */
const maxDays = 31;
/** Years of a rule that are looked at. */
const maxYears = 400;

export function readHolidays(text: string, range: DateRange): Holidays {
  const days = new Map<string, string>();
  const skipped: string[] = [];
  for (const event of readEvents(text)) {
    const name = unescape(event.find((each) => each.name === 'SUMMARY')?.value ?? 'Untitled');
    const found = datesOf(event, range);
    if (typeof found === 'string') skipped.push(`${name}: ${found}`);
    else for (const date of found) days.set(date, days.has(date) ? `${days.get(date) ?? ''}, ${name}` : name);
  }
  const sorted = [...days].map(([date, name]) => ({ date, name })).toSorted((a, b) => (a.date < b.date ? -1 : 1));
  return { days: sorted, skipped };
}

/** The properties of each VEVENT, without those of its alarms. */
function readEvents(text: string): Property[][] {
  const lines = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\n[ \t]/g, '')
    .split('\n')
    .filter((line) => line !== '');
  if (lines[0]?.replace('\uFEFF', '').toUpperCase() !== 'BEGIN:VCALENDAR')
    throw new CalendarError('The file is not an iCalendar file: it must begin with BEGIN:VCALENDAR.');
  const events: Property[][] = [];
  const open: string[] = [];
  for (const line of lines) {
    const property = parseLine(line.replace('\uFEFF', ''));
    if (property.name === 'BEGIN') {
      open.push(property.value.toUpperCase());
      if (open.at(-1) === 'VEVENT') events.push([]);
    } else if (property.name === 'END') {
      if (open.pop() !== property.value.toUpperCase())
        throw new CalendarError(`The file is damaged: END:${property.value} does not match its BEGIN.`);
    } else if (open.at(-1) === 'VEVENT') events.at(-1)?.push(property);
  }
  if (open.length > 0) throw new CalendarError(`The file is cut off: END:${open.at(-1) ?? ''} is missing.`);
  return events;
}

/** `NAME;PARAMETER=value;OTHER="a:b":value`. A colon within quotes belongs to the parameter. */
function parseLine(line: string): Property {
  let isQuoted = false;
  let end = -1;
  const cuts: number[] = [];
  for (let index = 0; index < line.length && end === -1; index += 1) {
    const letter = line[index];
    if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && letter === ';') cuts.push(index);
    else if (!isQuoted && letter === ':') end = index;
  }
  if (end === -1) throw new CalendarError(`The file is damaged: the line "${line.slice(0, 60)}" has no colon.`);
  const starts = [0, ...cuts.map((cut) => cut + 1)];
  const [name = '', ...parameters] = starts.map((start, index) => line.slice(start, cuts[index] ?? end));
  const entries = parameters.map((each): [string, string] => {
    const equals = each.indexOf('=');
    return [each.slice(0, equals).toUpperCase(), each.slice(equals + 1).replaceAll('"', '')];
  });
  return { name: name.toUpperCase(), parameters: new Map(entries), value: line.slice(end + 1) };
}

function unescape(text: string): string {
  return text.replaceAll(/\\([\\;,nN])/g, (_, letter: string) => (letter.toLowerCase() === 'n' ? ' ' : letter)).trim();
}

/** The dates of an event within the range, or why the event is skipped. */
function datesOf(event: readonly Property[], { from, to }: DateRange): string[] | string {
  const first = (name: string): Property | undefined => event.find((each) => each.name === name);
  const status = first('STATUS')?.value.toUpperCase();
  if (status === 'CANCELLED') return 'is cancelled';
  for (const unsupported of ['RECURRENCE-ID', 'RDATE', 'EXRULE'])
    if (first(unsupported) !== undefined) return `has ${unsupported}, which is not supported`;
  const start = parseDate(first('DTSTART'));
  if (start === null) return 'has no valid DTSTART';
  const length = lengthOf(event, start);
  if (length === null) return 'is not an all-day event';
  if (length < 1 || length > maxDays) return `lasts ${length} days; the most is ${maxDays}`;
  const starts = startsOf(event, start, to);
  if (typeof starts === 'string') return starts;
  const excluded = new Set<number>();
  for (const { value, parameters } of event.filter(({ name }) => name === 'EXDATE'))
    for (const each of value.split(',')) {
      const date = parseDate({ name: 'EXDATE', parameters, value: each });
      if (date === null) return 'has an EXDATE that is not a date';
      excluded.add(date.day);
    }
  return starts
    .filter((day) => !excluded.has(day))
    .flatMap((day) => Array.from({ length }, (_, index) => isoDate(day + index)))
    .filter((date) => date >= from && date <= to);
}

interface CalendarDate {
  /** Days since 1970. */
  readonly day: number;
  /** `null`: a date without a time. */
  readonly time: string | null;
  readonly zone: string;
}

/** The local date, in whatever time zone it is given: a holiday is a date and not an instant. */
function parseDate(property: Property | undefined): CalendarDate | null {
  const [, year = '', month = '', day = '', time = null, utc = ''] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d{6})(Z?))?$/.exec(property?.value.trim() ?? '') ?? [];
  const at = dayOf(Number(year), Number(month), Number(day));
  return at === null ? null : { day: at, time, zone: `${property?.parameters.get('TZID') ?? ''}${utc}` };
}

/** `null` if there is no such date, such as the 29th of February in most years. */
function dayOf(year: number, month: number, day: number): number | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 1000 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() / dayMs : null;
}

const isoDate = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** Length in days; `null`: not from midnight to midnight. In UTC, midnight is another time of the day elsewhere. */
function lengthOf(event: readonly Property[], start: CalendarDate): number | null {
  const end = event.find(({ name }) => name === 'DTEND');
  const duration = event.find(({ name }) => name === 'DURATION');
  const isMidnight = ({ time, zone }: CalendarDate): boolean =>
    time === null || (time === '000000' && !zone.endsWith('Z'));
  if (!isMidnight(start)) return null;
  if (end !== undefined) {
    const until = parseDate(end);
    const isSame = until !== null && isMidnight(until) && until.zone === start.zone;
    return isSame && (until.time === null) === (start.time === null) ? until.day - start.day : null;
  }
  if (duration !== undefined) {
    const [, count = '', unit] = /^\+?P(\d{1,4})([DW])$/.exec(duration.value.trim()) ?? [];
    return unit === undefined ? null : Number(count) * (unit === 'W' ? 7 : 1);
  }
  return start.time === null ? 1 : null;
}

/** The first days of the event and of its repetitions, until `to`; or why they are not known. */
function startsOf(event: readonly Property[], start: CalendarDate, to: string): number[] | string {
  const rules = event.filter(({ name }) => name === 'RRULE');
  const [rule] = rules;
  if (rule === undefined) return [start.day];
  if (rules.length > 1) return 'has several rules of repetition';
  const parts = new Map(
    rule.value.split(';').map((each): [string, string] => {
      const equals = each.indexOf('=');
      return [each.slice(0, equals).toUpperCase(), each.slice(equals + 1).toUpperCase()];
    }),
  );
  const first = new Date(start.day * dayMs);
  const [month, day] = [first.getUTCMonth() + 1, first.getUTCDate()];
  const nth = parseWeekday(parts.get('BYDAY'), parts.get('BYMONTH'));
  const redundant: Readonly<Record<string, string>> =
    nth === null
      ? { BYMONTH: String(month), BYMONTHDAY: String(day) }
      : { BYMONTH: String(nth.month), BYDAY: parts.get('BYDAY') ?? '' };
  for (const [name, value] of parts) {
    const isKnown = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST'].includes(name) || redundant[name] === value;
    if (!isKnown) return `repeats with ${name}=${value}, which is not supported`;
  }
  if (parts.get('FREQ') !== 'YEARLY') return `repeats ${parts.get('FREQ') ?? 'without FREQ'}; only YEARLY is supported`;
  const interval = positive(parts.get('INTERVAL') ?? '1');
  const count = positive(parts.get('COUNT') ?? '100000');
  if (interval === null || count === null) return 'repeats with an invalid INTERVAL or COUNT';
  const until = parts.has('UNTIL')
    ? parseDate({ name: 'UNTIL', parameters: new Map(), value: parts.get('UNTIL') ?? '' })
    : undefined;
  if (until === null) return 'repeats with an invalid UNTIL';
  const starts: number[] = [];
  for (let step = 0; step * interval <= maxYears && starts.length < count; step += 1) {
    const year = first.getUTCFullYear() + step * interval;
    // A year without this date, such as the 29th of February, has no repetition, and does not count.
    const at = nth === null ? dayOf(year, month, day) : weekdayIn(year, nth);
    if (at === null || at < start.day) continue;
    if (isoDate(at) > to || (until !== undefined && at > until.day)) break;
    starts.push(at);
  }
  return starts;
}

const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** The fourth Thursday of November: 4, 4 and 11. The last one: -1. */
interface NthWeekday {
  readonly nth: number;
  /** 0: Sunday. */
  readonly weekday: number;
  readonly month: number;
}

function parseWeekday(byDay: string | undefined, byMonth: string | undefined): NthWeekday | null {
  const [, nth = '', weekday = ''] = /^\+?(-?[1-5])(SU|MO|TU|WE|TH|FR|SA)$/.exec(byDay ?? '') ?? [];
  // Without a month it would be a weekday of the year.
  if (nth === '' || !/^(?:[1-9]|1[0-2])$/.test(byMonth ?? '')) return null;
  return { nth: Number(nth), weekday: weekdays.indexOf(weekday), month: Number(byMonth) };
}

/** `null`: the month has no fifth such weekday in this year. */
function weekdayIn(year: number, { nth, weekday, month }: NthWeekday): number | null {
  const first = dayOf(year, month, 1);
  const next = month === 12 ? dayOf(year + 1, 1, 1) : dayOf(year, month + 1, 1);
  if (first === null || next === null) return null;
  const from = nth > 0 ? first : next - 7;
  // The first day of 1970 was a Thursday.
  const day = from + ((weekday - ((from + 4) % 7) + 7) % 7) + 7 * (nth > 0 ? nth - 1 : nth + 1);
  return day >= first && day < next ? day : null;
}

function positive(text: string): number | null {
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null;
}
