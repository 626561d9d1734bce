import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeTransaction } from '../../../packages/server/src/cli/commands/doctor.ts';
import { connect } from '../../../packages/server/src/platform/database/database.ts';
import { oldestTransaction } from '../../../packages/server/src/platform/database/oldest-transaction.ts';
import { cloneDatabase, emptyDatabase } from '../../support/database/database.ts';
import { until } from '../../support/server.ts';

test('doctor names the session of a forgotten write transaction in another database', async () => {
  const [own, other] = [connect(await cloneDatabase(), { max: 1 }), connect(await emptyDatabase(), { max: 1 })];
  try {
    await other.begin(async (forgotten) => {
      const [{ pid, database } = assert.fail()] = await forgotten<{ pid: number; database: string }[]>`
        SELECT pg_backend_pid() AS pid, current_database() AS database, pg_current_xact_id()::text AS id`;
      let found = await oldestTransaction(own);
      // Other tests on the same server write, too, for a moment.
      await until(async () => {
        found = await oldestTransaction(own);
        return found?.pid === pid;
      });
      assert.ok(found !== null);
      assert.deepEqual(describeTransaction(found).result, 'ok');
      const { result, detail } = describeTransaction({ ...found, seconds: 720 });
      assert.equal(result, 'warning');
      assert.match(
        detail,
        new RegExp(`^session ${pid} of usher \\(application ".+", database "${database}", idle in transaction\\)`),
      );
      assert.match(detail, /open for 12 minutes.*pg_terminate_backend.*idle_in_transaction_session_timeout/);
    });
    const prepared = { pid: null, database: 'shop', user: 'me', name: 'order-7', state: 'prepared', seconds: 3_600 };
    assert.match(describeTransaction(prepared).detail, /ROLLBACK PREPARED 'order-7'/);
  } finally {
    await own.end();
    await other.end();
  }
});
