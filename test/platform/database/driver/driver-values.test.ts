import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SqlFragment, Sql } from '../../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../../../support/database/database.ts';
import { pool, withTimeout } from '../../../support/database/pool.ts';

/** How values of JavaScript become parameters, and columns become values. */

const bytes = Buffer.from([0, 1, 92, 255]);
const instant = new Date('2027-03-04T05:06:07.089Z');
const ancient = new Date('0042-03-04T05:06:07.000Z');
const id = '7d3f5b1e-36a4-4b4e-8f0a-0d5c1a2b3c4d';
const awkward = ['a b', 'a"b', 'a\\b', 'a,b', '{a}', '', 'NULL', "a'b", 'ü'];

/** The statement selects one value as `v`. */
const kinds: readonly [name: string, statement: (sql: Sql) => SqlFragment, expected: unknown][] = [
  ['true', (sql) => sql`SELECT ${true} AS v`, true],
  ['false', (sql) => sql`SELECT ${false}::boolean AS v`, false],
  ['NULL', (sql) => sql`SELECT ${null}::integer AS v`, null],
  ['an integer', (sql) => sql`SELECT ${-7}::integer AS v`, -7],
  ['a smallint', (sql) => sql`SELECT ${7}::smallint AS v`, 7],
  ['an oid', (sql) => sql`SELECT ${4_000_000_000}::oid AS v`, 4_000_000_000],
  ['a float8', (sql) => sql`SELECT ${1.5e-7}::float8 AS v`, 1.5e-7],
  ['a float4', (sql) => sql`SELECT ${0.5}::float4 AS v`, 0.5],
  ['an int8, which comes back as text', (sql) => sql`SELECT ${9_007_199_254_740_993n} AS v`, '9007199254740993'],
  ['an int8 from a number', (sql) => sql`SELECT ${12}::bigint AS v`, '12'],
  ['a numeric, which comes back as text', (sql) => sql`SELECT ${'1.10'}::numeric AS v`, '1.10'],
  ['a text', (sql) => sql`SELECT ${`it's "a" \\ text`}::text AS v`, `it's "a" \\ text`],
  ['an empty text', (sql) => sql`SELECT ${''}::text AS v`, ''],
  ['a number as text', (sql) => sql`SELECT ${5}::text AS v`, '5'],
  ['a uuid', (sql) => sql`SELECT ${id}::uuid AS v`, id],
  ['a Buffer', (sql) => sql`SELECT ${bytes} AS v`, bytes],
  ['a view of bytes', (sql) => sql`SELECT ${new Uint8Array(bytes).subarray(1, 3)}::bytea AS v`, bytes.subarray(1, 3)],
  ['text as bytes', (sql) => sql`SELECT ${'hi'}::bytea AS v`, Buffer.from('hi')],
  ['no bytes', (sql) => sql`SELECT ${Buffer.alloc(0)} AS v`, Buffer.alloc(0)],
  ['an instant with milliseconds', (sql) => sql`SELECT ${instant} AS v`, instant],
  ['an instant before the year 100', (sql) => sql`SELECT ${ancient} AS v`, ancient],
  ['an instant as text', (sql) => sql`SELECT ${instant.toISOString()}::timestamptz AS v`, instant],
  [
    'a timestamp without time zone',
    (sql) => sql`SELECT ${instant}::timestamptz::timestamp AS v`,
    new Date(2027, 2, 4, 5, 6, 7, 89),
  ],
  ['a date', (sql) => sql`SELECT ${'2027-01-31'}::date AS v`, new Date('2027-01-31T00:00:00Z')],
  ['a time of day', (sql) => sql`SELECT ${'09:30'}::time AS v`, '09:30:00'],
  ['an interval', (sql) => sql`SELECT ${'90 minutes'}::interval AS v`, '01:30:00'],
  ['an object as jsonb', (sql) => sql`SELECT ${{ a: [1, null, 'x'] }}::jsonb AS v`, { a: [1, null, 'x'] }],
  ['an array as jsonb', (sql) => sql`SELECT ${[1, [2], '3']}::jsonb AS v`, [1, [2], '3']],
  ['a string as jsonb', (sql) => sql`SELECT ${'text'}::jsonb AS v`, 'text'],
  ['an object as json', (sql) => sql`SELECT ${{ a: 'it\'s "a"' }}::json AS v`, { a: 'it\'s "a"' }],
  ['json of an object', (sql) => sql`SELECT ${sql.json({ a: 1, b: undefined })} AS v`, { a: 1 }],
  ['json of a string', (sql) => sql`SELECT ${sql.json('null')} AS v`, 'null'],
  ['json of false', (sql) => sql`SELECT ${sql.json(false)} AS v`, false],
  ['json of an array', (sql) => sql`SELECT ${sql.json([1, 'two'])} AS v`, [1, 'two']],
  ['json of null, which is NULL', (sql) => sql`SELECT ${sql.json(null)} IS NULL AS v`, true],
  ["JSON's null", (sql) => sql`SELECT 'null'::jsonb AS v`, null],
  ['awkward texts', (sql) => sql`SELECT ${awkward}::text[] AS v`, awkward],
  ['an empty array', (sql) => sql`SELECT ${[]}::uuid[] AS v`, []],
  ['NULL in an array', (sql) => sql`SELECT ${['a', null]}::text[] AS v`, ['a', null]],
  ['integers', (sql) => sql`SELECT ${[1, -2]}::integer[] AS v`, [1, -2]],
  ['nested arrays', (sql) => sql`SELECT ${[[1, 2], [3, 4]]}::integer[] AS v`, [[1, 2], [3, 4]]], // prettier-ignore
  ['booleans', (sql) => sql`SELECT ${[true, false]}::boolean[] AS v`, [true, false]],
  ['bigints', (sql) => sql`SELECT ${[1, 2]}::bigint[] AS v`, ['1', '2']],
  ['uuids', (sql) => sql`SELECT ${[id]}::uuid[] AS v`, [id]],
  ['instants', (sql) => sql`SELECT ${[instant, ancient]}::timestamptz[] AS v`, [instant, ancient]],
  ['arrays of bytes', (sql) => sql`SELECT ${[bytes, Buffer.alloc(0)]}::bytea[] AS v`, [bytes, Buffer.alloc(0)]],
  ['arrays of json', (sql) => sql`SELECT ${[{ a: '"' }, [1]]}::jsonb[] AS v`, [{ a: '"' }, [1]]],
  ['one of a list', (sql) => sql`SELECT ${id} = ANY(${[id]}::uuid[]) AS v`, true],
  ['none of an empty list', (sql) => sql`SELECT 1 = ANY(${[]}::integer[]) AS v`, false],
  ['the literal of an array', (sql) => sql`SELECT ${'{1,NULL}'}::text::integer[] AS v`, [1, null]],
];

for (const [name, statement, expected] of kinds)
  test(`${name} is sent and read`, async (t) => {
    const sql = pool(t, await database());
    // The second time the statement is prepared.
    for (let round = 0; round < 2; round += 1) {
      const [row] = await withTimeout(statement(sql).execute());
      assert.deepEqual(row, { v: expected });
    }
    const unprepared = pool(t, await database(), { max: 1, prepare: false });
    assert.deepEqual((await withTimeout(statement(unprepared).execute()))[0], { v: expected });
  });

test('bytes that are read keep no other memory', async (t) => {
  const sql = pool(t, await database());
  const [row] = await withTimeout(
    sql<{ one: Buffer; many: Buffer[] }[]>`SELECT ${bytes} AS one, ${[bytes]}::bytea[] AS many`.execute(),
  );
  for (const each of [row?.one, row?.many[0]]) assert.equal(each?.buffer.byteLength, bytes.length);
});

let shared: ReturnType<typeof emptyDatabase> | null = null;

/** One database for all values, which change nothing in it. */
async function database(): ReturnType<typeof emptyDatabase> {
  return (shared ??= emptyDatabase());
}

test('names are quoted, and columns have the names that the statement gives', async (t) => {
  const sql = pool(t, await emptyDatabase());
  const name = 'a "quoted" Name';
  await sql`CREATE TABLE ${sql(name)} (id integer PRIMARY KEY, "Label" text, extra jsonb, at timestamptz)`;
  const values = { id: 1, Label: `'; DROP TABLE x; --`, extra: sql.json({ a: 1 }), at: sql`to_timestamp(0)` };
  const inserted = await sql`INSERT INTO ${sql(name)} ${sql(values)} RETURNING ${sql(['id', 'Label'])}`;
  assert.deepEqual([...inserted], [{ id: 1, Label: values.Label }]);
  assert.deepEqual([inserted.count, inserted.command], [1, 'INSERT']);
  const changes = { Label: null, extra: sql.json([]) };
  const updated =
    await sql`UPDATE ${sql(name)} AS t SET ${sql(changes)}, at = ${new Date(5)} WHERE id = ${1} RETURNING ${sql('t.Label')}, extra, at`;
  assert.deepEqual([...updated], [{ Label: null, extra: [], at: new Date(5) }]);
  const none = await sql`DELETE FROM ${sql(name)} WHERE false`;
  assert.deepEqual([[...none], none.count, none.command], [[], 0, 'DELETE']);
});

test('fragments keep their parameters in order, alone, nested and in lists', async (t) => {
  const sql = pool(t, await emptyDatabase());
  const between = sql`n > ${1} AND ${sql`n < ${5}`}`;
  const conditions = [sql`AND n <> ${3}`, sql`AND true`];
  const rows =
    await sql`SELECT n, ${'x'}::text AS x FROM generate_series(${0}::integer, 9) AS n WHERE ${between} ${conditions} ORDER BY n`;
  assert.deepEqual([...rows], [{ n: 2, x: 'x' }, { n: 4, x: 'x' }]); // prettier-ignore
});

test('undefined is refused, and says so', async (t) => {
  const sql = pool(t, await emptyDatabase());
  await assert.rejects(withTimeout(sql`SELECT ${undefined}::text`.execute()), { code: 'UNDEFINED_VALUE' });
});

test('an error says where its statement is, and has no values of parameters', async (t) => {
  const sql = pool(t, await emptyDatabase());
  const failed: unknown = await withTimeout(sql`SELECT ${'secret'}::text::integer`.execute()).catch(
    (error: unknown) => error,
  );
  assert.ok(failed instanceof Error);
  assert.match(failed.stack ?? '', /driver-values\.test\.ts/);
  const { message: _message, stack: _stack, ...rest } = failed;
  assert.doesNotMatch(JSON.stringify(rest), /secret/);
});

test('text of a user is never part of a statement', async (t) => {
  const texts: string[] = [];
  const sql = pool(t, await emptyDatabase(), { max: 1, onStatement: (text) => texts.push(text) });
  const given = `'); DROP TABLE x; --`;
  const [row] = await sql`SELECT ${given}::text AS given`;
  assert.equal(row?.['given'], given);
  assert.deepEqual(texts, ['SELECT $1::text AS given']);
});
