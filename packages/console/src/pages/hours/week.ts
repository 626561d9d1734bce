import { minutesOf, minutesOfDay, spanOf, weekdays, type OpeningTimes, type Span } from '@usher/contract/opening-times';
import { texts } from './texts.ts';

/** A week of opening hours as rows of a list and as blocks of a grid; the rows are stored. */
export const dayNames = [texts.mon, texts.tue, texts.wed, texts.thu, texts.fri, texts.sat, texts.sun] as const;
/** The grid snaps to this many minutes. */
export const stepMinutes = 15;

/** A row as in the API. Times are as typed, and may be invalid. */
export interface Row extends OpeningTimes {
  readonly days_of_week: readonly string[];
}

/** A time range of a day, Monday being 0; overnight ranges close beyond 1,440. */
export interface DaySpan extends Span {
  readonly day: number;
}

/** A row on one of its days. */
export interface Block extends DaySpan {
  readonly row: number;
}

/** The part of a range within one day of the grid. */
export interface Segment {
  readonly day: number;
  readonly from: number;
  readonly to: number;
}

export function timeOf(minutes: number): string {
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

/** Normalizes `9`, `9:5`, `930` and `9.30`; invalid times are returned unchanged. */
export function normalizeTime(text: string): string {
  const written = /^\s*(\d{1,2})(?:[:.h ](\d{1,2}))?\s*$/.exec(text) ?? /^\s*(\d{1,2})(\d{2})\s*$/.exec(text);
  const [, hours = '', minutes = ''] = written ?? [];
  const time = `${hours.padStart(2, '0')}:${minutes.padStart(2, '0')}`;
  return hours !== '' && minutesOf(time) !== null ? time : text;
}

export function blocksOf(rows: readonly Row[]): Block[] {
  return rows.flatMap((row, index) => {
    const span = spanOf(row);
    if (span === null) return [];
    return weekdays.flatMap((name, day) => (row.days_of_week.includes(name) ? [{ row: index, day, ...span }] : []));
  });
}

/** Splits a range at midnight; Monday follows Sunday. */
export function segmentsOf({ day, opens, closes }: DaySpan): Segment[] {
  const first = Math.floor(opens / minutesOfDay);
  const last = Math.floor((closes - 1) / minutesOfDay);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const midnight = (first + index) * minutesOfDay;
    return {
      day: (day + first + index) % 7,
      from: Math.max(opens - midnight, 0),
      to: Math.min(closes - midnight, minutesOfDay),
    };
  });
}

/** Whether one row can express the range: a whole day only from midnight to midnight. */
function isExpressible({ opens, closes }: Span): boolean {
  const length = closes - opens;
  return opens < minutesOfDay && length > 0 && (length < minutesOfDay || (length === minutesOfDay && opens === 0));
}

function timesOf({ opens, closes }: Span): OpeningTimes {
  return { opens_at: timeOf(opens), closes_at: timeOf(closes > minutesOfDay ? closes - minutesOfDay : closes) };
}

/** Removes a row from one of its days; a row without days is removed. */
export function removeBlock(rows: readonly Row[], { row: index, day }: Pick<Block, 'row' | 'day'>): Row[] {
  return rows.flatMap((row, at) => {
    if (at !== index) return [row];
    const days = row.days_of_week.filter((name) => name !== weekdays[day]);
    return days.length === 0 ? [] : [{ ...row, days_of_week: days }];
  });
}

/**
 * Puts a range on the grid, in place of a block or as a new one. It is merged with ranges that it overlaps or touches on its day,
 * and joins a row of the same times, so that the list stays short.
 */
export function placeSpan(rows: readonly Row[], span: DaySpan, replaced?: Block): Row[] {
  let rest = replaced === undefined ? [...rows] : removeBlock(rows, replaced);
  let merged = span;
  const union = (block: DaySpan): DaySpan => ({
    day: span.day,
    opens: Math.min(block.opens, merged.opens),
    closes: Math.max(block.closes, merged.closes),
  });
  const overlaps = (block: DaySpan): boolean =>
    block.day === span.day &&
    block.opens <= merged.closes &&
    block.closes >= merged.opens &&
    isExpressible(union(block));
  for (
    let overlapping = blocksOf(rest).find(overlaps);
    overlapping !== undefined;
    overlapping = blocksOf(rest).find(overlaps)
  ) {
    merged = union(overlapping);
    rest = removeBlock(rest, overlapping);
  }
  const times = timesOf(merged);
  const dayName = weekdays[span.day] ?? 'mon';
  const sameTimesIndex = rest.findIndex((row) => row.opens_at === times.opens_at && row.closes_at === times.closes_at);
  if (sameTimesIndex === -1) return [...rest, { ...times, days_of_week: [dayName] }];
  return rest.map((row, at) =>
    at === sameTimesIndex ? { ...row, days_of_week: inWeekOrder([...row.days_of_week, dayName]) } : row,
  );
}

export function inWeekOrder(names: readonly string[]): string[] {
  return weekdays.filter((day) => names.includes(day));
}

interface Point {
  readonly day: number;
  readonly minute: number;
}

/**
 * The range drawn from one point to another. Into the next day, above the start, it is overnight; any other sideways movement is
 * ignored.
 */
export function drawSpan(start: Point, to: Point): DaySpan {
  // At the very end of a day there is no room for a step.
  const from = Math.min(start.minute, minutesOfDay - stepMinutes);
  const isOvernight = to.day === (start.day + 1) % 7 && to.minute < from;
  if (isOvernight) return { day: start.day, opens: from, closes: minutesOfDay + to.minute };
  const opens = Math.min(from, to.minute);
  return { day: start.day, opens, closes: Math.max(start.minute, to.minute, opens + stepMinutes) };
}

/** Moves a range by whole days and minutes; it keeps opening within a day. */
export function moveSpan<Moved extends DaySpan>(span: Moved, byDays: number, byMinutes: number): DaySpan {
  const length = span.closes - span.opens;
  const opens = Math.min(Math.max(span.opens + byMinutes, 0), minutesOfDay - stepMinutes);
  const next = { day: (((span.day + byDays) % 7) + 7) % 7, opens, closes: opens + length };
  return isExpressible(next) ? next : { ...next, closes: opens + minutesOfDay - stepMinutes };
}

/** Moves the end or the start of a range; a range is never shorter than a step. */
export function resizeSpan<Sized extends DaySpan>(span: Sized, edge: 'opens' | 'closes', to: Point): DaySpan {
  const { day, opens, closes } = span;
  if (edge === 'opens') {
    const earliest = Math.max(0, closes - minutesOfDay + (closes === minutesOfDay ? 0 : stepMinutes));
    const latest = Math.min(closes, minutesOfDay) - stepMinutes;
    return { day, opens: Math.min(Math.max(to.minute, earliest), latest), closes };
  }
  const isOvernight = to.day === (day + 1) % 7 && to.minute < opens;
  return { day, opens, closes: isOvernight ? minutesOfDay + to.minute : Math.max(to.minute, opens + stepMinutes) };
}

/** Moves the end, for the arrow keys. */
export function lengthenSpan<Sized extends DaySpan>(span: Sized, byMinutes: number): DaySpan {
  const next = { day: span.day, opens: span.opens, closes: span.closes + byMinutes };
  return isExpressible(next) ? next : { day: span.day, opens: span.opens, closes: span.closes };
}

/** `Mon 22:00–02:00 (next day)`. */
export function describeSpan(span: DaySpan): string {
  const { opens_at, closes_at } = timesOf(span);
  const name = dayNames[span.day] ?? '';
  return span.closes > minutesOfDay
    ? texts.dayTimesOvernight(name, opens_at, closes_at)
    : texts.dayTimes(name, opens_at, closes_at);
}

/** `Mon–Fri 09:00–17:00, Sat 10:00–14:00`. */
export function describeWeek(rows: readonly Row[]): string {
  return rows.map((row) => `${describeDays(row.days_of_week)} ${row.opens_at}–${row.closes_at}`).join(', ');
}

function describeDays(names: readonly string[]): string {
  const on = weekdays.map((day) => names.includes(day));
  const ranges: string[] = [];
  for (let at = 0; at < 7; at += 1) {
    if (on[at] !== true) continue;
    let end = at;
    while (on[end + 1] === true) end += 1;
    const [first, last] = [dayNames[at] ?? '', dayNames[end] ?? ''];
    ranges.push(end === at ? first : end === at + 1 ? `${first}, ${last}` : `${first}–${last}`);
    at = end;
  }
  return ranges.join(', ');
}
