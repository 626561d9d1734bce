/*
 * Every time the console shows, in the browser's language: 12 or 24 hours as its locale has it, and in its time zone. A time in
 * another zone names that zone. Only the hours editor shows times as they are typed and stored, `00:00` to `24:00`.
 */

type When = string | number | Date;

const styles = {
  /** `2:05 PM`, `14:05`. */
  time: { timeStyle: 'short' },
  /** `2 PM`, `14`: for the scale of a day. */
  hour: { hour: 'numeric' },
  /** `2:05:09 PM`, `14:05:09`. */
  seconds: { timeStyle: 'medium' },
  /** `Nov 16, 2026`. */
  date: { dateStyle: 'medium' },
  /** `Nov 16, 2026, 2:05 PM`. */
  dateTime: { dateStyle: 'medium', timeStyle: 'short' },
  /** `Nov 16, 2:05:09 PM`: for lists of what happened lately. */
  recent: { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' },
  /** `Mon, Nov 16, 2:05 PM`: for what comes within days. */
  soon: { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' },
  /** `Mon, Nov 16`. */
  day: { weekday: 'short', day: 'numeric', month: 'short' },
  /** `Mon, Nov 16, 2026`. */
  dayOfYear: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  /** With everything, the zone included: for titles. */
  full: { dateStyle: 'full', timeStyle: 'long' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeStyle = keyof typeof styles;

/** Formats are slow to create, and the same few are used in every row. */
const formats = new Map<string, Intl.DateTimeFormat>();

export function formatTime(at: When, style: TimeStyle, locale?: string): string {
  const key = `${style} ${locale ?? ''}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, styles[style]);
  formats.set(key, format);
  return format.format(new Date(at));
}

/** A date without a time, `2026-11-16`, is the same day in every zone. */
export function formatDate(date: string, style: 'day' | 'date' | 'dayOfYear', locale?: string): string {
  return new Intl.DateTimeFormat(locale, { ...styles[style], timeZone: 'UTC' }).format(new Date(`${date}T00:00:00Z`));
}

/** The name of a zone in brackets, after a space; empty for the zone of this browser. */
export function zoneNote(zone: string): string {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone === own ? '' : ` (${zone.replaceAll('_', ' ')})`;
}
