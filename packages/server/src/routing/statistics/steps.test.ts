import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { granularities, runsOf, stepsOf, type Granularity } from './steps.ts';

const hourMs = 3_600_000;
const at = (text: string): number => Date.parse(text);

function lengths(starts: readonly number[], to: number): number[] {
  return starts.map((start, index) => ((starts[index + 1] ?? to) - start) / hourMs);
}

test('the day on which clocks go forward has 23 hours, the day on which they go back has 25', () => {
  const spring = { from: at('2026-03-27T22:00Z'), to: at('2026-03-30T21:00Z') };
  const autumn = { from: at('2026-10-23T21:00Z'), to: at('2026-10-26T22:00Z') };
  const days = { granularity: 'day', timeZone: 'Europe/Tallinn' } as const;
  assert.deepEqual(lengths(stepsOf({ ...spring, ...days }), spring.to), [24, 23, 24]);
  assert.deepEqual(lengths(stepsOf({ ...autumn, ...days }), autumn.to), [24, 25, 24]);
  const hours = { granularity: 'hour', timeZone: 'Europe/Tallinn' } as const;
  assert.equal(stepsOf({ ...spring, ...hours }).length, 24 + 23 + 24);
  assert.equal(stepsOf({ ...autumn, ...hours }).length, 24 + 25 + 24);
});

test('a day without midnight starts at the first instant after the gap', () => {
  // Clocks in Cairo went from 2026-04-24 00:00 to 01:00.
  const range = { from: at('2026-04-23T10:00Z'), to: at('2026-04-25T10:00Z') };
  const starts = stepsOf({ ...range, granularity: 'day', timeZone: 'Africa/Cairo' });
  assert.deepEqual(
    starts.map((start) => new Date(start).toISOString()),
    ['2026-04-22T22:00:00.000Z', '2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z'],
  );
});

test('hours start at full local hours, also in a zone with an offset of half an hour', () => {
  const range = { from: at('2026-01-01T00:00Z'), to: at('2026-01-01T02:00Z') };
  assert.deepEqual(
    stepsOf({ ...range, granularity: 'hour', timeZone: 'Asia/Kolkata' }).map((start) => new Date(start).toISOString()),
    ['2025-12-31T23:30:00.000Z', '2026-01-01T00:30:00.000Z', '2026-01-01T01:30:00.000Z'],
  );
});

test('the granularity all is one step that starts with the range', () => {
  assert.deepEqual(stepsOf({ from: 5_000, to: 9_000, granularity: 'all', timeZone: 'Asia/Kolkata' }), [5_000]);
});

const zones = ['UTC', 'Europe/Tallinn', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Antarctica/Troll', 'Africa/Cairo', 'Pacific/Apia', 'America/Sao_Paulo', 'Africa/Monrovia']; // prettier-ignore

test('steps follow each other, start at full steps of the local clock, and cover the range', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: at('1971-01-01T00:00Z'), max: at('2036-01-01T00:00Z') }),
      fc.integer({ min: 0, max: 40 * 24 * hourMs }),
      fc.constantFrom(...granularities.filter((each): each is Exclude<Granularity, 'all'> => each !== 'all')),
      fc.constantFrom(...zones),
      (from, length, granularity, timeZone) => {
        const to = from + length;
        const starts = stepsOf({ from, to, granularity, timeZone });
        const [first = Number.NaN] = starts;
        assert.ok(first <= from);
        assert.ok((starts[1] ?? Infinity) > from);
        assert.ok((starts.at(-1) ?? Infinity) < to || starts.length === 1);
        for (const [index, start] of starts.entries()) {
          assert.ok(index === 0 || start > (starts[index - 1] ?? Infinity));
          assert.ok(isFull(start, granularity, timeZone), `${new Date(start).toISOString()} ${timeZone}`);
        }
      },
    ),
    { numRuns: 300 },
  );
});

/** Whether the local time is a multiple of the step, or the clock was just changed. */
function isFull(start: number, granularity: Granularity, timeZone: string): boolean {
  const local = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(timeZone);
  if (granularity === 'day') return local.startOfDay().epochMilliseconds === start;
  const minutes = { fifteen_minute: 15, thirty_minute: 30, hour: 60, all: 1 }[granularity];
  const before = local.subtract({ milliseconds: 1 });
  return local.offset !== before.offset || (local.minute % minutes === 0 && local.second === 0);
}

test('the steps of a year are few runs of the same length, also where the clocks change', () => {
  const range = { from: at('2026-01-01T00:00Z'), to: at('2027-01-01T00:00Z') };
  for (const timeZone of ['UTC', 'Europe/Tallinn', 'Africa/Casablanca', 'Australia/Lord_Howe'])
    for (const granularity of granularities) {
      const steps = stepsOf({ ...range, granularity, timeZone }).map((start) => new Date(start));
      const runs = runsOf(steps);
      const starts = runs.flatMap(({ start, seconds }, index) => {
        const end = runs[index + 1]?.start.getTime() ?? start.getTime() + 1;
        const count = Math.ceil((end - start.getTime()) / (seconds * 1_000));
        return Array.from({ length: count }, (_, step) => start.getTime() + step * seconds * 1_000);
      });
      assert.deepEqual(starts, steps.map((start) => start.getTime())); // prettier-ignore
      assert.ok(runs.length <= 10, `${timeZone}, ${granularity}: ${runs.length} runs`);
    }
});
