import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { emptyDatabase } from '../../../support/database/database.ts';
import { pool } from '../../../support/database/pool.ts';

/** Tests that results, statements and transactions of `platform/database/driver/` cost little memory. */

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

test('a statement makes no stack, and the stack of an error of the server leads to the statement', async (t) => {
  const sql = pool(t, await emptyDatabase());
  let stacks = 0;
  t.mock.method(
    Error as { prepareStackTrace: NonNullable<typeof Error.prepareStackTrace> },
    'prepareStackTrace',
    (error: Error, frames: NodeJS.CallSite[]) => {
      stacks += 1;
      const places = frames.map((frame) => `    at ${frame.getFileName()}:${frame.getLineNumber()}`);
      return [error.message, ...places].join('\n');
    },
  );
  await sql`SELECT 1`;
  const error = await sql`SELECT 1 / 0`.then(
    () => assert.fail('the division succeeded'),
    (reason: unknown) => reason,
  );
  assert.equal(stacks, 0, 'the first stack makes Node load the source maps, which take 40 MB');
  assert.ok(error instanceof Error);
  assert.match(error.stack ?? '', /division by zero\n(?:.*\n)*.*driver-speed\.test\.ts/);
  assert.ok(stacks > 0);
});

/** Makes objects in many rounds and returns the share of them that a collection of young objects leaves alive. */
async function survivingShare(make: () => Promise<readonly object[]>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  let made = 0;
  let survived = 0;
  for (let round = 0; round < 60; round += 1) {
    const refs = (await make()).map((object) => new WeakRef(object));
    // A WeakRef keeps its object alive until the turn ends.
    await immediate();
    await immediate();
    collect({ type: 'minor' });
    await immediate();
    made += refs.length;
    survived += refs.filter((ref) => ref.deref() !== undefined).length;
  }
  return survived / made;
}

test('statements and fragments that are not used any more do not survive a collection of young objects', async (t) => {
  const sql = pool(t, await emptyDatabase());
  await sql`SELECT`;
  const share = await survivingShare(async () =>
    Array.from({ length: 100 }, (_, n) => {
      const fragment = sql`${n}::integer`;
      return [fragment, sql`SELECT ${fragment}`];
    }).flat(),
  );
  assert.ok(share < 0.05, `${share * 100} % survived`);
});

test('neither do the handles of transactions that are over', async (t) => {
  const sql = pool(t, await emptyDatabase(), { max: 2 });
  const share = await survivingShare(async () => {
    const handles: object[] = [];
    for (let n = 0; n < 20; n += 1)
      await sql.begin(async (own) => {
        handles.push(own);
        await own`SELECT ${n}::integer`;
      });
    return handles;
  });
  // The last one of each connection may survive, and the one that the queue of process.nextTick held last.
  assert.ok(share <= 0.15, `${share * 100} % survived`);
});
