import { minutesOfDay, spanOf, weekdays, type OpeningTimes, type Span } from '@usher/contract/opening-times';
import { normalizeDays, type HoursException, type HoursPolicy } from './business-hours.ts';

/** A span reaches at most into the second day after its own: `24:59`–`00:59` closes there. */
const maxSpillDays = 2;

/** The wall-clock line of a policy (see `hours.ts`), cut into days. Days are epoch days: 1970-01-01 is 0. */
export interface Calendar {
  /** By weekday, Monday first. */
  readonly week: readonly DayEdges[];
  /** Edges of the dates with exceptions and of those they may spill into; they replace the weekday's. */
  readonly irregular: ReadonlyMap<number, DayEdges>;
  /** Ascending. */
  readonly irregularDays: readonly number[];
  /** Whether the week is always open or always closed, so that only irregular days can bring a change. */
  readonly uniform: boolean;
}

/**
 * The minutes of a day at which it opens, closes, opens, and so on, ascending: a minute is open if the number of edges up
 * to it is odd. A day that is open at midnight starts with 0; one that is open to its end has no last closing.
 */
type DayEdges = readonly number[];

export function drawCalendar({ business_hours, exceptions = [] }: HoursPolicy): Calendar {
  const byWeekday = weekdays.map((weekday) =>
    union(business_hours.filter((hours) => normalizeDays(hours.days_of_week).includes(weekday)).map(validSpan)),
  );
  const dated = Map.groupBy(exceptions, ({ date }) => epochDay(date));
  const byDate = new Map([...dated].map(([day, found]) => [day, union(found.flatMap(spansOf))]));
  const affected = [...byDate.keys()].flatMap((day) => Array.from({ length: maxSpillDays + 1 }, (_, i) => day + i));
  const irregularDays = [...new Set(affected)].toSorted((a, b) => a - b);
  const week = weekdays.map((_, index) => edgesOf(firstMonday + index, { byWeekday, byDate: new Map() }));
  return {
    week,
    irregular: new Map(irregularDays.map((day) => [day, edgesOf(day, { byWeekday, byDate })])),
    irregularDays,
    uniform: week.every((edges) => edges.length === 0) || week.every((edges) => edges.length === 1 && edges[0] === 0),
  };
}

function spansOf({ date, opens_at, closes_at }: HoursException): Span[] {
  if (opens_at === undefined && closes_at === undefined) return [];
  if (opens_at === undefined || closes_at === undefined) throw new Error(`the exception of ${date} lacks a time`);
  return [validSpan({ opens_at, closes_at })];
}

function validSpan({ opens_at, closes_at }: OpeningTimes): Span {
  const span = spanOf({ opens_at, closes_at });
  if (span === null) throw new Error(`${opens_at}–${closes_at} is not a valid interval`);
  return span;
}

/** The spans that each date owns: `byDate` if it has exceptions, otherwise `byWeekday`. */
interface SpansByOwner {
  readonly byWeekday: readonly (readonly Span[])[];
  readonly byDate: ReadonlyMap<number, readonly Span[]>;
}

/** The edges of a day, from its own spans and the spill of the days before. */
function edgesOf(day: number, { byWeekday, byDate }: SpansByOwner): DayEdges {
  const spans: Span[] = [];
  for (let owner = day; owner >= day - maxSpillDays; owner -= 1) {
    const begins = (day - owner) * minutesOfDay;
    const ends = begins + minutesOfDay;
    for (const { opens, closes } of byDate.get(owner) ?? byWeekday[weekdayOf(owner)] ?? []) {
      if (opens >= ends || closes <= begins) continue;
      spans.push({ opens: Math.max(opens, begins) - begins, closes: Math.min(closes, ends) - begins });
    }
    // The spill of earlier days stops at the midnight of this one (D6.6).
    if (byDate.has(owner)) break;
  }
  const edges = union(spans).flatMap(({ opens, closes }) => [opens, closes]);
  return edges.at(-1) === minutesOfDay ? edges.slice(0, -1) : edges;
}

/** D6.3: merges spans that overlap or touch. The result is ascending and has gaps between its spans. */
function union(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.opens - b.opens)) {
    const last = merged.at(-1);
    if (last === undefined || last.closes < span.opens) merged.push(span);
    else merged[merged.length - 1] = { opens: last.opens, closes: Math.max(last.closes, span.closes) };
  }
  return merged;
}

/** The epoch day of the first Monday: 1970-01-01 was a Thursday. */
const firstMonday = 4;

/** The index of an epoch day in `weekdays`. */
export function weekdayOf(day: number): number {
  const index = (day - firstMonday) % 7;
  return index < 0 ? index + 7 : index;
}

function epochDay(date: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime('UTC').epochMilliseconds / (minutesOfDay * 60_000);
}
