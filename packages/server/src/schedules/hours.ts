import {
  type HoursException,
  type HoursPolicy,
  minutesOfDay,
  mostSpillDays,
  normalizeDays,
  type Span,
  spanOf,
  weekdays,
} from './business-hours.ts';
import { countUpTo } from './count-up-to.ts';
import { type ZoneClock, zoneClock } from './time-zones.ts';

/**
 * When a scheduling policy is open (D6).
 *
 * The definition. A policy draws spans on the wall-clock line, the endless row of all local dates with 24 hours each,
 * which knows no zone. Each date owns the spans of its exceptions if it has any, else those of its weekday; a span may
 * reach into later dates, and ends at the midnight of the first of them that has exceptions. **An instant is open if and
 * only if the date and time that a clock on the zone's wall shows at that instant lies in a span**: its start included,
 * its end excluded. Edges are never turned into instants.
 *
 * From this follow, without a special case:
 * - Skipped times. The clock jumps over an opening or closing: it acts at the first instant after the gap. A span within
 *   the gap never happens; a skipped date owns only what spills out of it.
 * - Repeated times. Both passes count, and no more than they: with `01:00`–`02:30` in a night that repeats the hour from
 *   02:00, it is open till 02:30, closed till the clock goes back, and open again till the second 02:30.
 * - A span across a transition lasts an hour less or more in real time than on the wall.
 * - Midnight is where the local date changes: after a gap at midnight the date begins late, and a clock that goes back
 *   over midnight is in yesterday again, with yesterday's spans and exceptions.
 * - Seconds in an offset, as zones had before 1972, move the edges off the full UTC minute.
 *
 * Instants are epoch milliseconds: one number to compare, no allocation. Temporal is asked when a zone is first used and
 * when a policy is compiled.
 */

/** Opaque: what `compileHours` made for the functions below. */
export interface CompiledHours {
  readonly clock: ZoneClock;
  /** By weekday, Monday first. */
  readonly week: readonly DayEdges[];
  /** Dates with exceptions and those they may spill into, by epoch day; they stand in for the weekday's edges. */
  readonly irregular: ReadonlyMap<number, DayEdges>;
  readonly irregularDays: readonly number[];
  /** Whether the week is always open or always closed, so that only irregular days can bring a change. */
  readonly uniform: boolean;
}

/**
 * The minutes of a day at which it opens, closes, opens, and so on, ascending: a minute is open if the number of edges up
 * to it is odd. A day that opens with midnight begins with 0; one that is open to its end lacks the last closing.
 */
type DayEdges = readonly number[];

/** Includes `opensAt`, excludes `closesAt`; epoch milliseconds. */
export interface OpenInterval {
  readonly opensAt: number;
  readonly closesAt: number;
}

const minuteMs = 60_000;
const dayMs = minutesOfDay * minuteMs;

export function isOpen(hours: CompiledHours, instant: number): boolean {
  return outlook(hours, instant).open;
}

/**
 * The first instant after the given one at which `isOpen` changes, or null if it never will. The answer is exact. The
 * look-ahead is bounded by the policy: a week that is not uniform changes within two weeks after its last irregular day,
 * and a uniform one is looked at only around its irregular days, which are at most three for each exception.
 */
export function nextChange(hours: CompiledHours, instant: number): number | null {
  const { open, until } = outlook(hours, instant);
  for (let at = until; at !== Infinity;) {
    const next = outlook(hours, at);
    if (next.open !== open) return at;
    at = next.until;
  }
  return null;
}

/** The open intervals, clipped to `[from, to)`, ascending and apart from each other. */
export function intervals(hours: CompiledHours, from: number, to: number): OpenInterval[] {
  const found: OpenInterval[] = [];
  let opensAt = isOpen(hours, from) ? from : nextChange(hours, from);
  while (opensAt !== null && opensAt < to) {
    const closesAt = nextChange(hours, opensAt);
    found.push({ opensAt, closesAt: Math.min(closesAt ?? to, to) });
    opensAt = closesAt === null ? null : nextChange(hours, closesAt);
  }
  return found;
}

/** Whether an instant is open, and a later instant up to which that is certain to stay; beyond, one must look again. */
function outlook(hours: CompiledHours, instant: number): { open: boolean; until: number } {
  const { offsetMs, endsAt } = hours.clock.stretchAt(instant);
  const wall = instant + offsetMs;
  const day = Math.floor(wall / dayMs);
  const exceptional = hours.irregular.get(day);
  const edges = exceptional ?? hours.week[weekdayOf(day)] ?? [];
  const passed = countUpTo(edges, Math.floor((wall - day * dayMs) / minuteMs));
  const nextEdge = day * dayMs + (edges[passed] ?? minutesOfDay) * minuteMs;
  const until = Math.min(nextEdge - offsetMs, endsAt);
  return {
    open: passed % 2 === 1,
    until: hours.uniform && exceptional === undefined ? Math.max(until, calmUntil(hours, instant)) : until,
  };
}

/**
 * Until when a uniform week is certain to meet no irregular day. Offsets are less than a day, so from an instant on the
 * local date is at least the UTC date before it, even if clocks go back; and so the first irregular day from that date on
 * begins no earlier than a day before its UTC midnight.
 */
function calmUntil({ irregularDays }: CompiledHours, instant: number): number {
  const earliestDate = Math.floor(instant / dayMs) - 1;
  const next = irregularDays[countUpTo(irregularDays, earliestDate - 1)];
  return next === undefined ? Infinity : (next - 1) * dayMs;
}

/** Takes a policy without `hoursViolations`, of the schema's shape; any other throws. */
export function compileHours({ timezone, business_hours, exceptions = [] }: HoursPolicy): CompiledHours {
  const byWeekday = weekdays.map((weekday) =>
    union(business_hours.filter((hours) => normalizeDays(hours.days_of_week).includes(weekday)).map(spanOf)),
  );
  const dated = Map.groupBy(exceptions, ({ date }) => epochDay(date));
  const byDate = new Map([...dated].map(([day, found]) => [day, union(found.flatMap(spansOf))]));
  const affected = [...byDate.keys()].flatMap((day) => Array.from({ length: mostSpillDays + 1 }, (_, i) => day + i));
  const irregularDays = [...new Set(affected)].toSorted((a, b) => a - b);
  const week = weekdays.map((_, index) => edgesOf(mondayOf1970 + index, { byWeekday, byDate: new Map() }));
  return {
    clock: zoneClock(timezone),
    week,
    irregular: new Map(irregularDays.map((day) => [day, edgesOf(day, { byWeekday, byDate })])),
    irregularDays,
    uniform: week.every((edges) => edges.length === 0) || week.every((edges) => edges.length === 1 && edges[0] === 0),
  };
}

function spansOf({ date, opens_at, closes_at }: HoursException): Span[] {
  if (opens_at === undefined && closes_at === undefined) return [];
  if (opens_at === undefined || closes_at === undefined) throw new Error(`the exception of ${date} lacks a time`);
  return [spanOf({ opens_at, closes_at })];
}

/** The spans each date owns: `byDate` for those with exceptions, else `byWeekday`. */
interface Calendar {
  readonly byWeekday: readonly (readonly Span[])[];
  readonly byDate: ReadonlyMap<number, readonly Span[]>;
}

/** What the day's own spans and the spill of those before make of it. */
function edgesOf(day: number, { byWeekday, byDate }: Calendar): DayEdges {
  const spans: Span[] = [];
  for (let owner = day; owner >= day - mostSpillDays; owner -= 1) {
    const shift = (day - owner) * minutesOfDay;
    for (const { opens, closes } of byDate.get(owner) ?? byWeekday[weekdayOf(owner)] ?? []) {
      spans.push({ opens: Math.max(opens - shift, 0), closes: Math.min(closes - shift, minutesOfDay) });
    }
    // The spill of earlier days stops at the midnight of this one (D6.6).
    if (byDate.has(owner)) break;
  }
  const edges = union(spans.filter(({ opens, closes }) => opens < closes)).flatMap(({ opens, closes }) => [
    opens,
    closes,
  ]);
  return edges.at(-1) === minutesOfDay ? edges.slice(0, -1) : edges;
}

/** D6.3: spans that overlap or touch are one. Ascending and apart from each other. */
function union(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.opens - b.opens)) {
    const last = merged.at(-1);
    if (last === undefined || last.closes < span.opens) merged.push(span);
    else merged[merged.length - 1] = { opens: last.opens, closes: Math.max(last.closes, span.closes) };
  }
  return merged;
}

/** Days are counted from 1970-01-01, a Thursday. */
const mondayOf1970 = 4;

function weekdayOf(day: number): number {
  const index = (day - mondayOf1970) % 7;
  return index < 0 ? index + 7 : index;
}

function epochDay(date: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime('UTC').epochMilliseconds / dayMs;
}
