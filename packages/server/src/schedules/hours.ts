import { minutesOfDay } from '@usher/contract/opening-times';
import type { HoursPolicy } from './business-hours.ts';
import { type Calendar, drawCalendar, weekdayOf } from './calendar.ts';
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
  readonly calendar: Calendar;
}

/** Includes `opensAt`, excludes `closesAt`; epoch milliseconds. */
export interface OpenInterval {
  readonly opensAt: number;
  readonly closesAt: number;
}

const minuteMs = 60_000;
const dayMs = minutesOfDay * minuteMs;

/** Takes a policy without `hoursViolations`, of the schema's shape; any other throws. */
export function compileHours(policy: HoursPolicy): CompiledHours {
  return { clock: zoneClock(policy.timezone), calendar: drawCalendar(policy) };
}

export function isOpen(hours: CompiledHours, instant: number): boolean {
  return outlook(hours, instant).open;
}

/**
 * The first instant after the given one at which `isOpen` changes, or null if it never will. The answer is exact, however
 * far ahead, and yet the look-ahead is bounded: of a uniform week only the irregular days are looked at, at most three for
 * each exception; any other week changes within two weeks after them, the second being for a change that falls in a gap.
 */
export function nextChange(hours: CompiledHours, instant: number): number | null {
  const { open, until } = outlook(hours, instant);
  const lastIrregular = (hours.calendar.irregularDays.at(-1) ?? 0) * dayMs;
  const limit = Math.max(instant, lastIrregular) + 21 * dayMs;
  for (let at = until; at !== Infinity;) {
    if (at > limit) throw new Error(`no change between ${instant} and ${at}, in a week that is not uniform`);
    const next = outlook(hours, at);
    if (next.open !== open) return at;
    at = next.until;
  }
  return null;
}

/** The open intervals, clipped to `[from, to)`, ascending and apart from each other. */
export function intervals(hours: CompiledHours, from: number, to: number): OpenInterval[] {
  const found: OpenInterval[] = [];
  let opensAt: number | null = null;
  for (let at = from; at < to;) {
    const { open, until } = outlook(hours, at);
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

/** Whether an instant is open, and a later instant up to which that is certain to stay; beyond, one must look again. */
function outlook({ clock, calendar }: CompiledHours, instant: number): { open: boolean; until: number } {
  const { offsetMs, endsAt } = clock.stretchAt(instant);
  const wall = instant + offsetMs;
  const day = Math.floor(wall / dayMs);
  const edges = calendar.irregular.get(day) ?? calendar.week[weekdayOf(day)] ?? [];
  const passed = countUpTo(edges, Math.floor((wall - day * dayMs) / minuteMs));
  const nextEdge = day * dayMs + (edges[passed] ?? minutesOfDay) * minuteMs;
  const until = Math.min(nextEdge - offsetMs, endsAt);
  return {
    open: passed % 2 === 1,
    until: calendar.uniform ? Math.max(until, calmUntil(calendar, instant)) : until,
  };
}

/**
 * Until when a uniform week is certain to meet no irregular day; an instant that is past if it may be in one already.
 * Offsets are less than a day: from an instant on no local date is before the UTC date's eve, even if clocks go back, and
 * no local date begins more than a day before its UTC midnight.
 */
function calmUntil({ irregularDays }: Calendar, instant: number): number {
  const eve = Math.floor(instant / dayMs) - 1;
  const next = irregularDays[countUpTo(irregularDays, eve - 1)];
  return next === undefined ? Infinity : (next - 1) * dayMs;
}
