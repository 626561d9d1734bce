import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutesOf, weekdays } from '@usher/contract/opening-times';
import fc from 'fast-check';
import {
  blocksOf,
  drawn,
  inWords,
  lengthened,
  moved,
  normalizeTime,
  place,
  resized,
  segmentsOf,
  timeOf,
  weekInWords,
  without,
  type Row,
} from './week.ts';

const office: Row = { opens_at: '09:00', closes_at: '17:00', days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri'] };

test('times are read as one means them, and nothing else is', () => {
  assert.deepEqual(['9', '9:5', '930', '9.30', '24:00', '0', ' 17:45 '].map(normalizeTime), [
    '09:00',
    '09:05',
    '09:30',
    '09:30',
    '24:00',
    '00:00',
    '17:45',
  ]);
  assert.deepEqual(['', '25', '9:60', 'noon', '12345'].map(normalizeTime), ['', '25', '9:60', 'noon', '12345']);
  assert.equal(minutesOf('24:59'), 1_499);
  assert.equal(minutesOf('25:00'), null);
  assert.equal(timeOf(1_440), '24:00');
});

test('a night is drawn on two weekdays, that of Sunday on Monday', () => {
  assert.deepEqual(segmentsOf({ day: 6, opens: 1_320, closes: 1_560 }), [
    { day: 6, from: 1_320, to: 1_440 },
    { day: 0, from: 0, to: 120 },
  ]);
  assert.deepEqual(segmentsOf({ day: 0, opens: 0, closes: 1_440 }), [{ day: 0, from: 0, to: 1_440 }]);
  assert.deepEqual(segmentsOf({ day: 0, opens: 1_470, closes: 2_890 }), [
    { day: 1, from: 30, to: 1_440 },
    { day: 2, from: 0, to: 10 },
  ]);
});

test('drawing goes up or down, and over midnight into the next day', () => {
  const monday = (minute: number) => ({ day: 0, minute });
  assert.deepEqual(drawn(monday(540), monday(1_020)), { day: 0, opens: 540, closes: 1_020 });
  assert.deepEqual(drawn(monday(1_020), monday(540)), { day: 0, opens: 540, closes: 1_020 });
  assert.deepEqual(drawn(monday(1_320), { day: 1, minute: 120 }), { day: 0, opens: 1_320, closes: 1_560 });
  assert.deepEqual(drawn({ day: 6, minute: 1_320 }, { day: 0, minute: 0 }), { day: 6, opens: 1_320, closes: 1_440 });
  // A hand that strays sideways means the day it began on.
  assert.deepEqual(drawn(monday(540), { day: 1, minute: 1_020 }), { day: 0, opens: 540, closes: 1_020 });
  assert.deepEqual(drawn(monday(1_440), monday(1_440)), { day: 0, opens: 1_425, closes: 1_440 });
});

test('one day of a row is moved without the others, and joins a row of the same times', () => {
  const block = blocksOf([office]).find(({ day }) => day === 4);
  assert.ok(block !== undefined);
  const later = place([office], moved(block, 0, 60), block);
  assert.deepEqual(later, [
    { ...office, days_of_week: ['mon', 'tue', 'wed', 'thu'] },
    { opens_at: '10:00', closes_at: '18:00', days_of_week: ['fri'] },
  ]);
  const friday = blocksOf(later).find(({ day }) => day === 4);
  assert.ok(friday !== undefined);
  assert.deepEqual(place(later, moved(friday, 0, -60), friday), [office]);
  assert.deepEqual(place([office], { day: 5, opens: 540, closes: 1_020 })[0]?.days_of_week, [
    ...office.days_of_week,
    'sat',
  ]);
});

test('what overlaps or touches on its day becomes one', () => {
  const rows = place([office], { day: 0, opens: 1_020, closes: 1_080 });
  assert.deepEqual(rows, [
    { ...office, days_of_week: ['tue', 'wed', 'thu', 'fri'] },
    { opens_at: '09:00', closes_at: '18:00', days_of_week: ['mon'] },
  ]);
  const bridged = place(
    [
      { opens_at: '08:00', closes_at: '10:00', days_of_week: ['sun'] },
      { opens_at: '12:00', closes_at: '02:00', days_of_week: ['sun'] },
    ],
    { day: 6, opens: 600, closes: 720 },
  );
  assert.deepEqual(bridged, [{ opens_at: '08:00', closes_at: '02:00', days_of_week: ['sun'] }]);
  assert.deepEqual(without([{ ...office, days_of_week: ['mon'] }], { row: 0, day: 0 }), []);
});

test('an end is moved over midnight and back, and never before its beginning', () => {
  const block = { day: 0, opens: 1_200, closes: 1_380 };
  assert.equal(resized(block, 'closes', { day: 1, minute: 60 }).closes, 1_500);
  assert.equal(resized(block, 'closes', { day: 0, minute: 600 }).closes, 1_215);
  assert.equal(resized(block, 'opens', { day: 0, minute: 1_439 }).opens, 1_365);
  assert.equal(resized({ day: 0, opens: 600, closes: 1_500 }, 'opens', { day: 0, minute: 0 }).opens, 75);
  assert.equal(lengthened(block, 15).closes, 1_395);
  assert.equal(lengthened({ day: 0, opens: 0, closes: 1_440 }, 15).closes, 1_440);
  assert.equal(lengthened({ day: 0, opens: 0, closes: 15 }, -15).closes, 15);
});

test('whatever is drawn, moved and resized can be said in rows, and means the same there', () => {
  const point = fc.record({ day: fc.nat(6), minute: fc.nat(96).map((step) => step * 15) });
  fc.assert(
    fc.property(point, point, point, (start, to, then) => {
      const first = drawn(start, to);
      for (const span of [
        first,
        moved(first, then.day, then.minute - 720),
        resized(first, 'closes', then),
        resized(first, 'opens', then),
        lengthened(first, then.minute - 720),
      ]) {
        const [block, ...others] = blocksOf(place([], span));
        assert.deepEqual(others, []);
        assert.deepEqual({ day: block?.day, opens: block?.opens, closes: block?.closes }, { ...span });
      }
    }),
    {
      numRuns: 3_000,
      examples: [
        [
          { day: 2, minute: 1_440 },
          { day: 3, minute: 0 },
          { day: 0, minute: 0 },
        ],
        [
          { day: 2, minute: 1_440 },
          { day: 3, minute: 1_425 },
          { day: 0, minute: 0 },
        ],
      ],
    },
  );
});

test('placing never loses an open minute', () => {
  const span = fc.tuple(fc.nat(6), fc.nat(95), fc.integer({ min: 1, max: 95 })).map(([day, from, length]) => ({
    day,
    opens: from * 15,
    closes: (from + length) * 15,
  }));
  const openSteps = (rows: readonly Row[]): Set<number> =>
    new Set(
      blocksOf(rows).flatMap(({ day, opens, closes }) =>
        Array.from({ length: (closes - opens) / 15 }, (_, i) => (day * 1_440 + opens + i * 15) % (7 * 1_440)),
      ),
    );
  fc.assert(
    fc.property(fc.array(span, { maxLength: 6 }), (spans) => {
      let rows: Row[] = [];
      const wanted = new Set<number>();
      for (const each of spans) {
        rows = place(rows, each);
        for (let at = each.opens; at < each.closes; at += 15) wanted.add((each.day * 1_440 + at) % (7 * 1_440));
      }
      assert.deepEqual(openSteps(rows), wanted);
      assert.ok(rows.every((row) => row.days_of_week.every((day) => (weekdays as readonly string[]).includes(day))));
    }),
  );
});

test('weeks and blocks are told in words', () => {
  assert.equal(
    weekInWords([office, { opens_at: '10:00', closes_at: '14:00', days_of_week: ['sat', 'mon'] }]),
    'Mon–Fri 09:00–17:00, Mon, Sat 10:00–14:00',
  );
  assert.equal(weekInWords([{ ...office, days_of_week: ['sat', 'sun'] }]), 'Sat, Sun 09:00–17:00');
  assert.equal(inWords({ day: 4, opens: 1_320, closes: 1_560 }), 'Fri 22:00–02:00 (next day)');
});
