import { minutesOfDay } from '@usher/contract/opening-times';
import type { HoursPolicy } from './business-hours.ts';
import { type Calendar, drawCalendar, weekdayOf } from './calendar.ts';
import { countUpTo } from './count-up-to.ts';
import { type ZoneClock, zoneClock } from './time-zones.ts';

/**
 * When a scheduling policy is open (D6).
 *
 * The definition. A policy draws spans on the wall-clock line: the endless sequence of local dates with 24 hours each, without a
 * time zone. Each date owns the spans of its exceptions if it has any, otherwise those of its weekday. A span may reach into later
 * dates, and ends at the midnight of the first of them that has exceptions. **An instant is open if and only if the local date and
 * time at that instant lies in a span**, whose start is included and whose end is excluded. Edges are never converted to instants.
 *
 * This has the following consequences, without special cases:
 * - Skipped times: an opening or closing in the gap takes effect at the first instant after the gap. A span within the gap never
 *   happens; of a skipped date only the spill into the next dates counts.
 * - Repeated times: both passes count. With `01:00`–`02:30` in a night that repeats the hour from 02:00, the policy is open until
 *   02:30, closed until the clock goes back, and open again until the second 02:30.
 * - A span across a transition lasts an hour less or more in real time than on the clock.
 * - Midnight is where the local date changes: after a gap at midnight the date starts late, and a clock that goes back over
 *   midnight returns to the previous date, with its spans and exceptions.
 * - Seconds in an offset, as zones had before 1972, move the edges off the full UTC minute.
 *
 * Instants are epoch milliseconds: one number to compare, no allocation. Temporal is used only when a zone is first used and when
 * a policy is compiled.
 */

/** The opaque result of `compileHours`, for the functions below. */
export interface CompiledHours {
  readonly clock: ZoneClock;
  readonly calendar: Calendar;
}

/** Includes `opensAt`, excludes `closesAt`; epoch milliseconds. */
export interface OpenInterval {
  readonly opensAt: number;
  readonly closesAt: number;
}

const minuteMs = 60_000;
const dayMs = minutesOfDay * minuteMs;

/** The policy must fit the schema and have no `hoursViolations`; otherwise this throws. */
export function compileHours(policy: HoursPolicy): CompiledHours {
  return { clock: zoneClock(policy.timezone), calendar: drawCalendar(policy) };
}

export function isOpen(hours: CompiledHours, instant: number): boolean {
  return stateAt(hours, instant).open;
}

/**
 * The first instant after the given one at which `isOpen` changes, or null if it never does. The result is exact, however far
 * ahead, and the search is bounded: in a uniform week only the irregular days are examined, at most three for each exception; any
 * other week changes within two weeks after them (two, because a change may fall in a gap).
 */
export function nextChange(hours: CompiledHours, instant: number): number | null {
  const { open, until } = stateAt(hours, instant);
  const lastIrregular = (hours.calendar.irregularDays.at(-1) ?? 0) * dayMs;
  const limit = Math.max(instant, lastIrregular) + 21 * dayMs;
  for (let at = until; at !== Infinity;) {
    if (at > limit) throw new Error(`no change between ${instant} and ${at}, in a week that is not uniform`);
    const next = stateAt(hours, at);
    if (next.open !== open) return at;
    at = next.until;
  }
  return null;
}

/** The open intervals, clipped to `[from, to)`, ascending and with gaps between them. */
export function intervals(hours: CompiledHours, from: number, to: number): OpenInterval[] {
  const found: OpenInterval[] = [];
  let opensAt: number | null = null;
  for (let at = from; at < to;) {
    const { open, until } = stateAt(hours, at);
    if (open) opensAt ??= at;
    else if (opensAt !== null) {
      found.push({ opensAt, closesAt: at });
      opensAt = null;
    }
    at = until;
  }
  if (opensAt !== null) found.push({ opensAt, closesAt: to });
  return found;
}

/** Whether an instant is open, and a later instant until which that cannot change. */
function stateAt({ clock, calendar }: CompiledHours, instant: number): { open: boolean; until: number } {
  const { offsetMs, endsAt } = clock.stretchAt(instant);
  const wall = instant + offsetMs;
  const day = Math.floor(wall / dayMs);
  const edges = calendar.irregular.get(day) ?? calendar.week[weekdayOf(day)] ?? [];
  const passed = countUpTo(edges, Math.floor((wall - day * dayMs) / minuteMs));
  const nextEdge = day * dayMs + (edges[passed] ?? minutesOfDay) * minuteMs;
  const until = Math.min(nextEdge - offsetMs, endsAt);
  return {
    open: passed % 2 === 1,
    until: calendar.uniform ? Math.max(until, regularUntil(calendar, instant)) : until,
  };
}

/**
 * The instant until which a uniform week meets no irregular day; it is in the past if the instant may be in one. Offsets are less
 * than a day: the local date is never before the day before the UTC date, even if clocks go back, and no local date starts more
 * than a day before its UTC midnight.
 */
function regularUntil({ irregularDays }: Calendar, instant: number): number {
  const earliestDay = Math.floor(instant / dayMs) - 1;
  const next = irregularDays[countUpTo(irregularDays, earliestDay - 1)];
  return next === undefined ? Infinity : (next - 1) * dayMs;
}
