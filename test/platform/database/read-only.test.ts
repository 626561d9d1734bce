import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../../packages/server/src/platform/database/database.ts';
import { call, startTestServer, until } from '../../support/server.ts';
import { expectStatus, makeAccount } from '../../support/world.ts';

test('a process whose database is read-only is not ready and refuses changes, and continues when the database is writable', async () => {
  await using server = await startTestServer();
  const { address } = server.database;
  assert.ok(address.kind === 'socket');
  const { admin: token, siteId } = await makeAccount(server);
  const change = async () => call(server, 'POST /teams', { token, body: { site_id: siteId, name: 'T' } });
  const ready = async () => call(server, 'GET /readyz');
  const admin = connect({ ...address, database: 'postgres' }, { max: 1 });
  /** New sessions have the setting, so the open ones are ended. */
  const endSessions = async () =>
    admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${address.database}`;
  try {
    expectStatus(await ready(), 200);
    await admin`ALTER DATABASE ${admin(address.database)} SET default_transaction_read_only = on`;
    await endSessions();
    await until(async () => (await change()).body.detail?.includes('read-only') === true);
    const refused = expectStatus(await ready(), 503);
    assert.equal(refused.body.error, 'database_unavailable');
    assert.match(refused.body.detail, /read-only/);
    assert.equal(refused.headers.get('retry-after'), '2');
    expectStatus(await call(server, 'GET /healthz'), 200);
    expectStatus(await call(server, 'GET /teams', { token }), 200);

    await admin`ALTER DATABASE ${admin(address.database)} RESET default_transaction_read_only`;
    await endSessions();
    await until(async () => (await change()).status === 201);
    await until(async () => (await ready()).status === 200);
  } finally {
    await admin.end();
  }
});
