import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Watermark } from './watermark.ts';

test('with nothing under way it is what had been given away one look before', () => {
  const mark = new Watermark();
  mark.note({ xmin: 10, xmax: 10, lastSeq: 100 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 12, xmax: 12, lastSeq: 150 });
  assert.equal(mark.safe, 100);
});

test('a transaction that goes on holds it up until it ends', () => {
  const mark = new Watermark();
  mark.note({ xmin: 10, xmax: 10, lastSeq: 100 });
  mark.note({ xmin: 10, xmax: 20, lastSeq: 150 });
  mark.note({ xmin: 10, xmax: 30, lastSeq: 200 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 21, xmax: 40, lastSeq: 250 });
  assert.equal(mark.safe, 100);
  mark.note({ xmin: 40, xmax: 40, lastSeq: 300 });
  assert.equal(mark.safe, 250);
});

/** Begin a transaction, let one write, end one (whichever), or look. */
const step = fc.oneof(
  fc.record({ do: fc.constant('begin' as const) }),
  fc.record({ do: fc.constant('write' as const), which: fc.nat(50) }),
  fc.record({ do: fc.constant('end' as const), which: fc.nat(50) }),
  fc.record({ do: fc.constant('look' as const) }),
);

test('nothing at or below the mark is seen for the first time after it, in whatever order transactions write and end', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const mark = new Watermark();
      let xid = 1;
      let seq = 0;
      const running = new Map<number, number[]>();
      for (const { do: what, ...rest } of steps) {
        const which = 'which' in rest ? [...running.keys()][rest.which % Math.max(1, running.size)] : undefined;
        if (what === 'begin') running.set(xid++, []);
        else if (what === 'write' && which !== undefined) running.get(which)?.push(++seq);
        else if (what === 'end' && which !== undefined) {
          for (const written of running.get(which) ?? []) assert.ok(written > mark.safe, `${written} <= ${mark.safe}`);
          running.delete(which);
        } else if (what === 'look') mark.note({ xmin: Math.min(xid, ...running.keys()), xmax: xid, lastSeq: seq });
      }
    }),
    { numRuns: 1_000 },
  );
});
