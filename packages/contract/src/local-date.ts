/** Both dates are included, YYYY-MM-DD. */
export interface DateRange {
  readonly from: string;
  readonly to: string;
}

/** The date in a time zone, YYYY-MM-DD: the Swedish format. Throws a RangeError for an unknown time zone. */
export function dateIn(timeZone: string, now: number): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(now);
}

/** From a date to the same date of the next year. */
export function yearFrom(from: string): DateRange {
  return { from, to: `${Number(from.slice(0, 4)) + 1}${from.slice(4).replace('-02-29', '-02-28')}` };
}
