import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockWatch } from '../../../packages/server/src/platform/clock/clock-watch.ts';
import { connect, type DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import { DatabaseSession } from '../../../packages/server/src/platform/database/database-session.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { LeaseKeeper } from '../../../packages/server/src/webhooks/dispatcher/leases/lease-keeper.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import { insertWaiting } from '../../support/receivers/webhooks.ts';
import { createClusterAccount } from '../../support/simulation/cluster/setup.ts';

const stepped = 'stepped, pg_catalog, public';

/** The leases of a process of its own, which sees the clock of the database as the search path says. */
async function openLeases(address: DatabaseAddress, searchPath = 'public') {
  const stack = new AsyncDisposableStack();
  const sql = connect(address, { max: 1, connection: { search_path: searchPath } });
  stack.defer(async () => sql.end({ timeout: 1 }));
  const session = await DatabaseSession.open(address);
  stack.defer(async () => session.close());
  const clock = await ClockWatch.start(sql, createLog('silent'));
  stack.defer(() => clock.stop());
  const keeper = new LeaseKeeper({ sql, session, clock });
  return { keeper, [Symbol.asyncDispose]: async () => stack.disposeAsync() };
}

test('a process that starts right after the clock was set forward takes no destination from its owner', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 1 });
  t.after(async () => sql.end({ timeout: 1 }));
  const [hook] = (await createClusterAccount(sql)).webhooks;
  await insertWaiting({ database: { sql } }, hook?.id ?? '', [{}]);
  await using owner = await openLeases(address);
  const { leases, terms } = await owner.keeper.leaseAny(10);
  assert.equal(leases.length, 1);
  await sql.unsafe(`
    CREATE SCHEMA stepped;
    CREATE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
      AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$;
    CREATE FUNCTION stepped.now() RETURNS timestamptz LANGUAGE sql STABLE
      AS $$ SELECT pg_catalog.now() + interval '1 hour' $$;`);
  await using newcomer = await openLeases(address, stepped);
  const taken = await newcomer.keeper.leaseAny(10);
  assert.ok(owner.keeper.mayUse(terms, performance.now()), 'the owner sends');
  assert.deepEqual(taken.leases, []);
});
