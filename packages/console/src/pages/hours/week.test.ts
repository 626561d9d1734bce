import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutesOf, weekdays } from '@usher/contract/opening-times';
import fc from 'fast-check';
import {
  blocksOf,
  drawSpan,
  describeSpan,
  lengthenSpan,
  moveSpan,
  normalizeTime,
  placeSpan,
  resizeSpan,
  segmentsOf,
  timeOf,
  describeWeek,
  removeBlock,
  type Row,
} from './week.ts';

const office: Row = { opens_at: '09:00', closes_at: '17:00', days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri'] };

test('typed times are normalized, and other texts are left unchanged', () => {
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

test('overnight hours are drawn on two days, those of Sunday also on Monday', () => {
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

test('hours can be drawn up, down, and over midnight into the next day', () => {
  const monday = (minute: number) => ({ day: 0, minute });
  assert.deepEqual(drawSpan(monday(540), monday(1_020)), { day: 0, opens: 540, closes: 1_020 });
  assert.deepEqual(drawSpan(monday(1_020), monday(540)), { day: 0, opens: 540, closes: 1_020 });
  assert.deepEqual(drawSpan(monday(1_320), { day: 1, minute: 120 }), { day: 0, opens: 1_320, closes: 1_560 });
  assert.deepEqual(drawSpan({ day: 6, minute: 1_320 }, { day: 0, minute: 0 }), { day: 6, opens: 1_320, closes: 1_440 });
  // A sideways movement is ignored.
  assert.deepEqual(drawSpan(monday(540), { day: 1, minute: 1_020 }), { day: 0, opens: 540, closes: 1_020 });
  assert.deepEqual(drawSpan(monday(1_440), monday(1_440)), { day: 0, opens: 1_425, closes: 1_440 });
});

test('one day of a row can be moved alone, and joins a row with the same times', () => {
  const block = blocksOf([office]).find(({ day }) => day === 4);
  assert.ok(block !== undefined);
  const later = placeSpan([office], moveSpan(block, 0, 60), block);
  assert.deepEqual(later, [
    { ...office, days_of_week: ['mon', 'tue', 'wed', 'thu'] },
    { opens_at: '10:00', closes_at: '18:00', days_of_week: ['fri'] },
  ]);
  const friday = blocksOf(later).find(({ day }) => day === 4);
  assert.ok(friday !== undefined);
  assert.deepEqual(placeSpan(later, moveSpan(friday, 0, -60), friday), [office]);
  assert.deepEqual(placeSpan([office], { day: 5, opens: 540, closes: 1_020 })[0]?.days_of_week, [
    ...office.days_of_week,
    'sat',
  ]);
});

test('ranges that overlap or touch on the same day are merged', () => {
  const rows = placeSpan([office], { day: 0, opens: 1_020, closes: 1_080 });
  assert.deepEqual(rows, [
    { ...office, days_of_week: ['tue', 'wed', 'thu', 'fri'] },
    { opens_at: '09:00', closes_at: '18:00', days_of_week: ['mon'] },
  ]);
  const bridged = placeSpan(
    [
      { opens_at: '08:00', closes_at: '10:00', days_of_week: ['sun'] },
      { opens_at: '12:00', closes_at: '02:00', days_of_week: ['sun'] },
    ],
    { day: 6, opens: 600, closes: 720 },
  );
  assert.deepEqual(bridged, [{ opens_at: '08:00', closes_at: '02:00', days_of_week: ['sun'] }]);
  assert.deepEqual(removeBlock([{ ...office, days_of_week: ['mon'] }], { row: 0, day: 0 }), []);
});

test('an end can be moved over midnight and back, but not before the start', () => {
  const block = { day: 0, opens: 1_200, closes: 1_380 };
  assert.equal(resizeSpan(block, 'closes', { day: 1, minute: 60 }).closes, 1_500);
  assert.equal(resizeSpan(block, 'closes', { day: 0, minute: 600 }).closes, 1_215);
  assert.equal(resizeSpan(block, 'opens', { day: 0, minute: 1_439 }).opens, 1_365);
  assert.equal(resizeSpan({ day: 0, opens: 600, closes: 1_500 }, 'opens', { day: 0, minute: 0 }).opens, 75);
  assert.equal(lengthenSpan(block, 15).closes, 1_395);
  assert.equal(lengthenSpan({ day: 0, opens: 0, closes: 1_440 }, 15).closes, 1_440);
  assert.equal(lengthenSpan({ day: 0, opens: 0, closes: 15 }, -15).closes, 15);
});

test('rows express every range that was drawn, moved or resized, without a change of its meaning', () => {
  const point = fc.record({ day: fc.nat(6), minute: fc.nat(96).map((step) => step * 15) });
  fc.assert(
    fc.property(point, point, point, (start, to, then) => {
      const first = drawSpan(start, to);
      for (const span of [
        first,
        moveSpan(first, then.day, then.minute - 720),
        resizeSpan(first, 'closes', then),
        resizeSpan(first, 'opens', then),
        lengthenSpan(first, then.minute - 720),
      ]) {
        const [block, ...others] = blocksOf(placeSpan([], span));
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

test('placing a range never loses an open minute', () => {
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
      const expected = new Set<number>();
      for (const each of spans) {
        rows = placeSpan(rows, each);
        for (let at = each.opens; at < each.closes; at += 15) expected.add((each.day * 1_440 + at) % (7 * 1_440));
      }
      assert.deepEqual(openSteps(rows), expected);
      assert.ok(rows.every((row) => row.days_of_week.every((day) => (weekdays as readonly string[]).includes(day))));
    }),
  );
});

test('weeks and blocks are described as text', () => {
  assert.equal(
    describeWeek([office, { opens_at: '10:00', closes_at: '14:00', days_of_week: ['sat', 'mon'] }]),
    'Mon–Fri 09:00–17:00, Mon, Sat 10:00–14:00',
  );
  assert.equal(describeWeek([{ ...office, days_of_week: ['sat', 'sun'] }]), 'Sat, Sun 09:00–17:00');
  assert.equal(describeSpan({ day: 4, opens: 1_320, closes: 1_560 }), 'Fri 22:00–02:00 (next day)');
});
