import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterLimits, mayMatch, readFilter, sitesNamed } from './filter.ts';

const one = '0b7e36f4-8d0c-4b0c-9a52-1d3a1d8a0001';
const two = '0b7e36f4-8d0c-4b0c-9a52-1d3a1d8a0002';
const site = (value: string) => ({ type: 'selector', dimension: 'site_id', value });
const queue = { type: 'selector', dimension: 'queue_id', value: one };
const not = (field: unknown) => ({ type: 'not', field });
const and = (...fields: unknown[]) => ({ type: 'and', fields });
const or = (...fields: unknown[]) => ({ type: 'or', fields });

/** A filter, and whether it can match rows of the first and of the second site. */
const cases: readonly (readonly [filter: unknown, sites: readonly [boolean, boolean]])[] = [
  [site(one), [true, false]],
  [site(one.toUpperCase()), [true, false]],
  [not(site(one)), [false, true]],
  [queue, [true, true]],
  [not(queue), [true, true]],
  [and(site(one), queue), [true, false]],
  [and(site(one), site(two)), [false, false]],
  [or(site(one), queue), [true, true]],
  [or(site(one), site(two)), [true, true]],
  [not(or(site(one), queue)), [false, true]],
  [not(and(site(one), queue)), [true, true]],
  [{ type: 'in', dimension: 'site_id', values: [two, ''] }, [false, true]],
];

for (const [given, sites] of cases)
  test(`${JSON.stringify(given)} can match rows of the two sites: ${JSON.stringify(sites)}`, () => {
    const { filter } = readFilter(given);
    assert.ok(filter !== null);
    assert.deepEqual([mayMatch(filter, one), mayMatch(filter, two)], sites);
    // The caller needs a role on sites that the filter names and can match.
    const named = JSON.stringify(given).toLowerCase();
    const expected = [one, two].filter((id, index) => sites[index] && named.includes(`"site_id","value":"${id}`));
    if (!named.includes('"in"')) assert.deepEqual(sitesNamed(filter), expected);
  });

const bad: readonly (readonly [given: unknown, attributes: readonly string[]])[] = [
  ['site_id', ['/filter']],
  [[], ['/filter']],
  [{}, ['/filter/type']],
  [{ type: 'like', dimension: 'site_id' }, ['/filter/type']],
  [{ type: 'selector', dimension: 'colour', value: 'red' }, ['/filter/dimension']],
  [{ type: 'selector', value: 7 }, ['/filter/value', '/filter/dimension']],
  [{ type: 'in', dimension: 'site_id' }, ['/filter/values']],
  [{ type: 'in', dimension: 'site_id', values: [one, {}] }, ['/filter/values/1']],
  [{ type: 'and', fields: [] }, ['/filter/fields']],
  [
    and(site(one), { type: 'selector', dimension: 'x' }, or()),
    ['/filter/fields/1/dimension', '/filter/fields/2/fields'],
  ],
  [not(undefined), ['/filter/field']],
  [{ ...site(one), extra: 1 }, ['/filter/extra']],
  [and(...Array.from({ length: filterLimits.filters }, () => queue)), ['/filter']],
];

for (const [given, attributes] of bad)
  test(`${JSON.stringify(given).slice(0, 80)} is refused at ${attributes.join(', ')}`, () => {
    const { filter, violations } = readFilter(given);
    assert.equal(filter, null);
    assert.deepEqual(
      violations.map(({ attribute }) => attribute),
      attributes,
    );
  });

test('a filter may be nested as deep as the limit, and no deeper', () => {
  let filter: unknown = queue;
  for (let depth = 1; depth < filterLimits.depth; depth += 1) filter = not(filter);
  assert.deepEqual(readFilter(filter).violations, []);
  assert.match(readFilter(not(filter)).violations[0]?.detail ?? '', /nested deeper/);
});
