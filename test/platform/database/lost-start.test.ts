import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../../packages/server/src/platform/database/database.ts';
import { migrationLock } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { emptyDatabase } from '../../support/database/database.ts';
import { launch, temporaryDirectory } from '../../support/processes/process.ts';
import { startProxy } from '../../support/network/proxy.ts';
import { until } from '../../support/server.ts';

test('a database that is lost during the start is reported in one line', async (t) => {
  const address = await emptyDatabase();
  assert.ok(address.kind === 'socket');
  await using proxy = await startProxy({ socket: `${address.directory}/.s.PGSQL.5432` });
  const { port } = new URL(proxy.url);
  const sql = connect(address, { max: 1 });
  t.after(async () => sql.end());
  // The start waits for the migrations of another process.
  await sql`SELECT pg_advisory_lock(${migrationLock})`;
  const folder = temporaryDirectory();
  const usher = launch({
    dataDir: folder.path,
    environment: { DATABASE_URL: `postgres://${address.user}@127.0.0.1:${port}/${address.database}` },
  });
  t.after(async () => {
    await usher.stop('SIGKILL');
    folder.remove();
  });
  await until(async () => {
    const trying = await sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_try_advisory_lock%'`;
    return trying.length > 1;
  });
  proxy.shut(true);
  assert.equal(await usher.ended(), 1);
  assert.match(
    usher.errors,
    /^usher: The database stopped responding during the start \(\w+\)\. .*start Usher again\.\n$/,
  );
});
