import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IdMap, noCode } from './id-map.ts';

type Thing = (typeof things)[number];

const things = Array.from({ length: 300 }, (_, number) => ({ id: `f0000000-0000-4000-8000-${number}`, code: noCode }));
const change = fc.record({
  from: fc.nat({ max: things.length - 1 }),
  count: fc.oneof(fc.constant(1), fc.nat({ max: 250 })),
  what: fc.constantFrom('add', 'add', 'delete'),
});

test('an id map behaves like a map from ids to objects, also while it grows and shrinks', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const map = new IdMap<string, Thing>();
      const expected = new Map<string, Thing>();
      for (const { from, count, what } of changes) {
        for (const thing of things.slice(from, from + count)) {
          if (what === 'delete') assert.equal(map.delete(thing), expected.delete(thing.id));
          else if (expected.has(thing.id)) assert.throws(() => map.add({ ...thing }), /already/);
          else map.add(thing);
          if (what === 'add') expected.set(thing.id, thing);
        }
        for (const { id } of things) assert.equal(map.get(id), expected.get(id));
        assert.deepEqual(new Set(map.values()), new Set(expected.values()));
        assert.deepEqual(new Set(map.keys()), new Set(expected.keys()));
        assert.equal(map.size, expected.size);
      }
    }),
    { numRuns: 150, seed: 1 },
  );
});

test('ids with the same ends, whose hash codes are equal, are different ids', () => {
  const map = new IdMap<string, Thing>();
  const alike = Array.from({ length: 50 }, (_, n) => ({ id: `beginning-${n}-the-end`, code: noCode }));
  for (const thing of alike) map.add(thing);
  for (const thing of alike.filter((_, n) => n % 3 === 0)) assert(map.delete(thing));
  for (const [n, thing] of alike.entries()) assert.equal(map.get(thing.id), n % 3 === 0 ? undefined : thing);
  const [, second] = alike;
  assert(second !== undefined);
  assert.equal(map.delete({ ...second }), false, 'another object with the same id is not in the map');
});
