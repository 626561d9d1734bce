import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '@usher/contract/opening-times';
import fc from 'fast-check';
import type { HoursException, HoursPolicy } from './business-hours.ts';
import { compileHours, intervals, isOpen, nextChange } from './hours.ts';

/** Each run evaluates some thousand minutes, so the default stays within seconds. */
const runs = 150;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Days skipped or repeated, shifts of 30 minutes and 2 hours, gaps at midnight, seconds in offsets, links, none at all. */
const nastyZones = `
  Pacific/Apia Pacific/Kwajalein Pacific/Kiritimati Pacific/Fakaofo Pacific/Chatham Pacific/Norfolk
  Australia/Lord_Howe Australia/Adelaide Antarctica/Troll Antarctica/Casey Atlantic/Azores America/Sao_Paulo
  America/St_Johns America/Havana America/Santiago America/Asuncion America/Caracas America/Nuuk
  America/Scoresbysund America/Juneau US/Eastern Asia/Beirut Asia/Tehran Asia/Kathmandu Asia/Pyongyang
  Asia/Gaza Asia/Amman Asia/Manila Africa/Monrovia Africa/Casablanca Africa/Cairo Europe/Dublin
  Europe/Amsterdam Europe/Lisbon Europe/Berlin Etc/GMT+12 UTC
`
  .trim()
  .split(/\s+/);

/**
 * The definition of `hours.ts` once more, written without its arithmetic: spans of local dates and times as ISO texts,
 * which compare as what they say, and an instant as the text that a clock on the wall shows.
 */
function naive(policy: HoursPolicy): (instant: number) => boolean {
  const reaching = new Map<string, { opens: string; closes: string }[]>();
  return (instant) => {
    const wall = Temporal.Instant.fromEpochMilliseconds(instant)
      .toZonedDateTimeISO(policy.timezone)
      .toPlainDateTime()
      .toString({ smallestUnit: 'minute' });
    const date = wall.slice(0, 10);
    const spans = reaching.get(date) ?? [0, 1, 2, 3].flatMap((days) => spansOwnedBy(policy, dateBefore(date, days)));
    reaching.set(date, spans);
    return spans.some(({ opens, closes }) => opens <= wall && wall < closes);
  };
}

function dateBefore(date: string, days: number): string {
  return Temporal.PlainDate.from(date).subtract({ days }).toString();
}

function spansOwnedBy({ business_hours, exceptions = [] }: HoursPolicy, date: string) {
  const weekday = Temporal.PlainDate.from(date).toLocaleString('en', { weekday: 'short' }).toLowerCase();
  const own = exceptions.filter((exception) => exception.date === date);
  const owned = own.length > 0 ? own : business_hours.filter(({ days_of_week }) => days_of_week.includes(weekday));
  const nextExcepted = exceptions
    .map((exception) => exception.date)
    .filter((other) => other > date)
    .toSorted()
    .at(0);
  return owned.flatMap(({ opens_at, closes_at }) => {
    if (opens_at === undefined || closes_at === undefined) return [];
    const opening = wallTime(date, opens_at);
    let closing = wallTime(date, closes_at);
    while (Temporal.PlainDateTime.compare(closing, opening) <= 0) closing = closing.add({ days: 1 });
    const [opens, closes] = [opening, closing].map((time) => time.toString({ smallestUnit: 'minute' }));
    const stop = `${nextExcepted ?? '9999-12-31'}T00:00`;
    return [{ opens: opens ?? '', closes: closes === undefined || stop < closes ? stop : closes }];
  });
}

function wallTime(date: string, time: string): Temporal.PlainDateTime {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return Temporal.PlainDateTime.from(date).add({ hours, minutes });
}

const time = fc.oneof(
  fc.constantFrom(
    '00:00',
    '00:01',
    '00:30',
    '01:00',
    '01:30',
    '02:00',
    '02:15',
    '03:00',
    '23:00',
    '23:30',
    '24:00',
    '24:30',
  ),
  fc
    .tuple(fc.integer({ min: 0, max: 24 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map(twoDigits).join(':')),
);

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

const times = fc
  .record({ opens_at: time, closes_at: time })
  .filter(({ opens_at, closes_at }) => opens_at !== closes_at || opens_at === '00:00');

const businessHours = fc
  .tuple(times, fc.subarray([...weekdays], { minLength: 1 }))
  .map(([{ opens_at, closes_at }, days_of_week]) => ({ opens_at, closes_at, days_of_week }));

const week = fc.oneof(
  { weight: 4, arbitrary: fc.array(businessHours, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant([{ opens_at: '00:00', closes_at: '24:00', days_of_week: [...weekdays] }]) },
);

/** Before, in and around the end of the years whose offsets are kept. */
const year = fc.oneof(
  fc.integer({ min: 1890, max: 1971 }),
  fc.integer({ min: 1970, max: 2040 }),
  fc.integer({ min: 2097, max: 2102 }),
);

/** A policy and a window of up to three days, mostly one in which the clocks of its zone change. */
const scenario = fc
  .record({
    timezone: fc.constantFrom(...nastyZones),
    business_hours: week,
    replaced: fc.array(fc.tuple(fc.integer({ min: -3, max: 4 }), fc.option(times)), { maxLength: 4 }),
    year,
    transition: fc.integer({ min: 0, max: 3 }),
    before: fc.integer({ min: 0, max: 2 * dayMs }),
    length: fc.integer({ min: 1, max: 3 * dayMs }),
  })
  .map(({ timezone, business_hours, replaced, year, transition, before, length }) => {
    const from = transitionOf(timezone, year, transition) - before;
    const firstDate = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timezone).toPlainDate();
    const exceptions = replaced.map(([days, replacement]): HoursException => {
      const date = firstDate.add({ days }).toString();
      return replacement === null ? { date } : { date, ...replacement };
    });
    return { policy: { timezone, business_hours, exceptions }, from, to: from + length };
  });

/** The so-manieth transition from the beginning of a year, or the last of all, or just that beginning. */
function transitionOf(timezone: string, year: number, nth: number): number {
  let at = new Temporal.PlainDate(year, 1, 1).toZonedDateTime(timezone);
  for (let count = 0; count < nth; count += 1)
    at = at.getTimeZoneTransition('next') ?? at.getTimeZoneTransition('previous') ?? at;
  return at.epochMilliseconds;
}

test('D6 intervals and isOpen agree with a naive evaluation, minute by minute', () => {
  const agrees = fc.property(scenario, ({ policy, from, to }) => {
    const expected = naive(policy);
    const hours = compileHours(policy);
    const found = intervals(hours, from, to);
    for (let at = from, index = 0; at < to; at += minuteMs) {
      while ((found[index]?.closesAt ?? Infinity) <= at) index += 1;
      const open = expected(at);
      if ((found[index]?.opensAt ?? Infinity) <= at !== open || isOpen(hours, at) !== open)
        assert.fail(`${new Date(at).toISOString()} is ${open ? 'open' : 'closed'}`);
    }
    // Minutes do not show where exactly the edges lie, nor whether two intervals should be one.
    for (const edge of edgesWithin(found, from, to)) assert.notEqual(expected(edge - 1), expected(edge));
  });
  fc.assert(agrees, { numRuns: runs });
});

test('D6 nextChange agrees with intervals from any instant', () => {
  const agrees = fc.property(scenario, fc.double({ min: 0, max: 1, noNaN: true }), ({ policy, from, to }, share) => {
    const hours = compileHours(policy);
    const instant = from + Math.floor((to - from) * share);
    const change = nextChange(hours, instant);
    const next = edgesWithin(intervals(hours, from, to), from, to).find((edge) => edge > instant);
    if (next === undefined) assert.ok(change === null || change >= to);
    else assert.equal(change, next);
  });
  fc.assert(agrees, { numRuns: 10 * runs });
});

test('D6 nextChange agrees with a naive evaluation weeks ahead', () => {
  const agrees = fc.property(scenario, fc.integer({ min: 0, max: 40 }), ({ policy, from }, daysBefore) => {
    const expected = naive(policy);
    const instant = from - daysBefore * dayMs;
    const open = expected(instant);
    const change = nextChange(compileHours(policy), instant);
    const horizon = Math.min(change ?? Infinity, instant + 60 * dayMs);
    for (let at = instant; at < horizon; at += 2 * hourMs) assert.equal(expected(at), open);
    if (change === null) return;
    assert.equal(expected(change - 1), open);
    assert.equal(expected(change), !open);
  });
  fc.assert(agrees, { numRuns: 2 * runs });
});

/** The instants at which it opens or closes, without those that are only the window's. */
function edgesWithin(found: readonly { opensAt: number; closesAt: number }[], from: number, to: number): number[] {
  return found.flatMap(({ opensAt, closesAt }) => [opensAt, closesAt]).filter((edge) => from < edge && edge < to);
}
