import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { emptyDatabase } from '../support/database.ts';
import { pool } from '../support/pool.ts';

/** Tests the patches of `platform/postgres.ts` that are for speed. */

test('a result is an array of its rows, and what else it knows is not enumerable', async (t) => {
  const sql = pool(t, await emptyDatabase());
  const rows = await sql`SELECT n FROM generate_series(1, 2) AS n`;
  assert.deepEqual([...rows], [{ n: 1 }, { n: 2 }]);
  assert.deepEqual([rows.count, rows.command, rows.columns.map(({ name }) => name)], [2, 'SELECT', ['n']]);
  assert.deepEqual(Object.keys(rows), ['0', '1']);
  assert.deepEqual(
    Object.getOwnPropertyNames(rows),
    ['0', '1', 'length'],
    'own properties are what made a result slow',
  );
});

test('statements and fragments that are not used any more do not survive a collection of young objects', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  const sql = pool(t, await emptyDatabase());
  await sql`SELECT`;
  const rounds = 60;
  const pairs = 100;
  const total = rounds * pairs * 2;
  let survived = 0;
  for (let round = 0; round < rounds; round += 1) {
    const made: WeakRef<object>[] = [];
    for (let n = 0; n < pairs; n += 1) {
      const fragment = sql`${n}::integer`;
      made.push(new WeakRef(fragment), new WeakRef(sql`SELECT ${fragment}`));
    }
    // A WeakRef keeps its object until the end of the turn. The second collection ends what the first one kept.
    await immediate();
    collect({ type: 'minor' });
    collect({ type: 'minor' });
    await immediate();
    survived += made.filter((each) => each.deref() !== undefined).length;
  }
  // All of them survived without the patch.
  assert.ok(survived < total * 0.05, `${survived} of ${total} survived`);
});
