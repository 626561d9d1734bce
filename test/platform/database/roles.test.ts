import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect } from '../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../../support/database/database.ts';
import { grantsTo } from '../../support/database/serving-role.ts';
import { urlOf } from '../../support/processes/cluster.ts';
import { launch, temporaryDirectory } from '../../support/processes/process.ts';
import { call, until } from '../../support/server.ts';

/** One role migrates and another serves, as docs/guide/database.md says. test/service/every-route.test.ts calls every route with such a role. */

test('a new database is migrated by its owner and served by another role #oldest', async (t) => {
  const address = await emptyDatabase();
  assert.ok(address.kind === 'socket');
  const [owner, serving] = ['owner', 'serve'].map((name) => `${name}_${randomUUID().replaceAll('-', '')}`);
  assert.ok(owner !== undefined && serving !== undefined);
  const admin = connect(address, { max: 1 });
  t.after(async () => admin.end());
  await admin.unsafe(`CREATE ROLE ${owner} LOGIN; CREATE ROLE ${serving} LOGIN`);
  await admin.unsafe(`ALTER DATABASE ${address.database} OWNER TO ${owner}`);
  const own = connect({ ...address, user: owner }, { max: 1 });
  await own.unsafe(grantsTo(serving));
  await own.end();

  const scratch = temporaryDirectory();
  t.after(() => scratch.remove());
  const run = (user: string, args: readonly string[]) =>
    launch({
      dataDir: scratch.path,
      args,
      environment: {
        DATABASE_URL: urlOf({ ...address, user }),
        USHER_MIGRATE: 'off',
        USHER_SCANNER: 'none',
        USHER_ADMIN_KEY_ID: 'admin',
        USHER_ADMIN_KEY_SECRET: 'known-to-the-test-alone',
      },
    });
  const notAllowed = launch({
    dataDir: scratch.path,
    environment: { DATABASE_URL: urlOf({ ...address, user: serving }) },
  });
  assert.equal(await notAllowed.ended(), 1);
  assert.match(notAllowed.errors, /^usher: The user of the database may not migrate it/);
  const refused = run(serving, ['serve']);
  assert.equal(await refused.ended(), 1);
  assert.match(refused.errors, /^usher: The database has schema version 0.*run "usher migrate" first/);
  const migrated = run(owner, ['migrate']);
  assert.equal(await migrated.ended(), 0, migrated.errors);

  const usher = await run(serving, ['serve']).ready();
  t.after(async () => usher.stop('SIGKILL'));
  const credentials = { api_key_id: 'admin', api_key_secret: 'known-to-the-test-alone' };
  const signedIn = await call(usher, 'POST /operator_authentication/tokens', { body: credentials });
  assert.equal(signedIn.status, 200);
  // The process creates the partitions of the next days, which belong to the owner.
  await until(async () => {
    const days =
      await admin`SELECT tableowner FROM pg_tables WHERE tablename ~ '^(events|delivery_log|audit_log)_\\d{8}$'`;
    return days.length === 12 && days.every(({ tableowner }) => tableowner === owner);
  });
  assert.doesNotMatch(usher.output, /permission denied/);
  const doctor = run(serving, ['doctor']);
  await doctor.ended();
  assert.match(doctor.output, /database rights\W+the user may not create tables, and need not/);
});

test('other roles may not call the functions that create and drop partitions', async (t) => {
  const address = await emptyDatabase();
  assert.ok(address.kind === 'socket');
  const scratch = temporaryDirectory();
  t.after(() => scratch.remove());
  const migrated = launch({ dataDir: scratch.path, args: ['migrate'], environment: { DATABASE_URL: urlOf(address) } });
  assert.equal(await migrated.ended(), 0, migrated.errors);
  const admin = connect(address, { max: 1 });
  const stranger = `stranger_${randomUUID().replaceAll('-', '')}`;
  await admin.unsafe(`CREATE ROLE ${stranger} LOGIN`);
  await admin.end();
  const sql = connect({ ...address, user: stranger }, { max: 1 });
  t.after(async () => sql.end());
  for (const each of [
    `make_day('events', 'occurred_at', '2020-01-01')`,
    `drop_oldest_day('events', '2030-01-01')`,
    `drop_days_before('events', 'occurred_at', '2030-01-01')`,
  ])
    await assert.rejects(sql.unsafe(`SELECT ${each}`).execute(), { code: '42501' });
});
