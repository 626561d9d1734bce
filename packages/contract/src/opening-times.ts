export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** `HH:MM`. 24:00 to 24:59 are on the next day. */
export const timeShape = /^([01][0-9]|2[0-4]):[0-5][0-9]$/;

export interface OpeningTimes {
  readonly opens_at: string;
  readonly closes_at: string;
}

/** Minutes from midnight of the day that the span belongs to; `opens < closes`. */
export interface Span {
  readonly opens: number;
  readonly closes: number;
}

export const minutesOfDay = 1_440;

/** Minutes from midnight; `null`: not a valid time. */
export function minutesOf(text: string): number | null {
  return timeShape.test(text) ? Number(text.slice(0, 2)) * 60 + Number(text.slice(3)) : null;
}

/**
 * D6.2: a closing time that is not later than the opening time means the next occurrence of that wall-clock time. `23:00`–`02:00` closes
 * on the next day; `24:30`–`00:10`, which opens on the next day, closes on the day after it. `null`: not a valid interval.
 */
export function spanOf({ opens_at, closes_at }: OpeningTimes): Span | null {
  const opens = minutesOf(opens_at);
  const closes = minutesOf(closes_at);
  if (opens === null || closes === null || (opens === closes && opens !== 0)) return null;
  if (closes > opens) return { opens, closes };
  const daysLater = Math.floor((opens - closes) / minutesOfDay) + 1;
  return { opens, closes: closes + daysLater * minutesOfDay };
}
