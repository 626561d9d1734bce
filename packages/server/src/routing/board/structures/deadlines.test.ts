import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deadlineKinds, Deadlines, newDeadline, type Deadline } from './deadlines.ts';

const change = fc.record({
  which: fc.nat({ max: 29 }),
  at: fc.oneof({ weight: 5, arbitrary: fc.nat({ max: 20 }) }, fc.constantFrom(null, Infinity, 'clear' as const)),
});

function inOrder(a: Deadline, b: Deadline): number {
  const [one, other] = [a, b].map(({ kind, id }) => `${deadlineKinds.indexOf(kind)} ${id}`) as [string, string];
  return a.at - b.at || (one < other ? -1 : 1);
}

test('the next deadline is the first by instant, kind and id, however deadlines are set, moved and cleared', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200, size: 'max' }), (changes) => {
      const deadlines = new Deadlines();
      const all = Array.from({ length: 30 }, (_, number) =>
        newDeadline(deadlineKinds[number % deadlineKinds.length] ?? 'offer', String.fromCodePoint(97 + (number % 26))),
      );
      const set = new Set<Deadline>();
      for (const { which, at } of changes) {
        const deadline = all[which];
        assert(deadline !== undefined);
        if (at === 'clear') deadlines.clear(deadline);
        else deadlines.set(deadline, at);
        if (typeof at === 'number' && at !== Infinity) set.add(deadline);
        else set.delete(deadline);
        assert.equal(deadlines.next, [...set].toSorted(inOrder)[0]);
      }
      const drained: Deadline[] = [];
      const expected = [...set].toSorted(inOrder);
      for (let { next } = deadlines; next !== undefined; next = deadlines.next) {
        drained.push(next);
        deadlines.clear(next);
      }
      assert.deepEqual(drained, expected);
    }),
    { numRuns: 200, seed: 1 },
  );
});

test('a deadline that is null or not set can be cleared', () => {
  const deadlines = new Deadlines();
  deadlines.clear(null);
  deadlines.clear(newDeadline('offer', 'a'));
  assert.equal(deadlines.next, undefined);
});
