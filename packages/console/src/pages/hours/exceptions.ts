import { texts } from './texts.ts';

/** Dates that differ from the week: closed, or with custom hours. Several ranges on one date are several entries. */
export interface Exception {
  readonly date: string;
  readonly opens_at?: string;
  readonly closes_at?: string;
}

export interface Times {
  readonly opens_at: string;
  readonly closes_at: string;
}

/** `usual`: regular hours; `closed`; or custom ranges. */
export type DayPlan = 'usual' | 'closed' | readonly Times[];

export function planOf(exceptions: readonly Exception[], date: string): DayPlan {
  const own = exceptions.filter((each) => each.date === date);
  if (own.length === 0) return 'usual';
  const times = own.flatMap(({ opens_at, closes_at }) =>
    opens_at === undefined || closes_at === undefined ? [] : [{ opens_at, closes_at }],
  );
  return times.length === 0 ? 'closed' : times;
}

/** Sets the plan of a date; sorted by date. */
export function withPlan(exceptions: readonly Exception[], date: string, plan: DayPlan): Exception[] {
  const others = exceptions.filter((each) => each.date !== date);
  const own =
    plan === 'usual'
      ? []
      : plan === 'closed' || plan.length === 0
        ? [{ date }]
        : plan.map((times) => ({ date, ...times }));
  return [...others, ...own].toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
}

export function datesOf(exceptions: readonly Exception[]): string[] {
  return [...new Set(exceptions.map(({ date }) => date))].toSorted();
}

export function describePlan(plan: DayPlan): string {
  if (plan === 'usual') return texts.regularHoursValue;
  if (plan === 'closed') return texts.closedAllDay;
  return plan.map(({ opens_at, closes_at }) => `${opens_at}–${closes_at}`).join(', ');
}

/** The indexes of a date's entries in the list: the server reports errors by index. */
export function indexesOf(exceptions: readonly Exception[], date: string): number[] {
  return exceptions.flatMap((each, index) => (each.date === date ? [index] : []));
}
