import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { DatabaseAddress } from '../../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../../../support/database/database.ts';
import { checkHealth, pool, withTimeout } from '../../../support/database/pool.ts';
import { freePort } from '../../../support/network/free-port.ts';
import { startProxy } from '../../../support/network/proxy.ts';
import { until } from '../../../support/server.ts';
import { slowness } from '../../../support/slowness.ts';

/** Tests URLs with several hosts, and `target_session_attrs`: `config-database.ts` and `platform/database/driver/open-connection.ts`. */

/** A new database behind a port of its own. */
async function openHost(t: TestContext) {
  const direct = await emptyDatabase();
  assert.ok(direct.kind === 'socket');
  const proxy = await startProxy({ socket: `${direct.directory}/.s.PGSQL.5432` });
  t.after(async () => proxy[Symbol.asyncDispose]());
  return { ...direct, direct, proxy, port: new URL(proxy.url).port };
}

type Host = Awaited<ReturnType<typeof openHost>>;

function through({ user, database }: Host, ports: readonly (number | string)[], kind = 'any'): DatabaseAddress {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join();
  return { kind: 'url', url: `postgres://${user}@${hosts}/${database}?target_session_attrs=${kind}` };
}

test('a host that cannot be reached is passed over', async (t) => {
  const host = await openHost(t);
  await checkHealth(pool(t, through(host, [await freePort(), host.port])));
});

test('a pool moves to the next host when the first is gone, and back', async (t) => {
  const first = await openHost(t);
  const second = await startProxy({ socket: `${first.direct.directory}/.s.PGSQL.5432` });
  t.after(async () => second[Symbol.asyncDispose]());
  const sql = pool(t, through(first, [first.port, new URL(second.url).port]));
  await checkHealth(sql);
  assert.equal(second.connections(), 0);
  first.proxy.shut(true);
  await withTimeout(sql`SELECT 1`.execute()).catch(() => undefined);
  await checkHealth(sql);
  assert.ok(second.connections() > 0);
});

test('read-write passes over a read-only server, and is refused if there is no other', async (t) => {
  const host = await openHost(t);
  const { directory, database } = host;
  const owner = pool(t, host.direct);
  await owner.unsafe(`ALTER DATABASE "${database}" SET default_transaction_read_only = on`);
  const refused = pool(t, through(host, [host.port, host.port], 'read-write'));
  await assert.rejects(withTimeout(refused`SELECT 1`.execute()), { code: '25006' });
  assert.equal(host.proxy.connections(), 2);
  await checkHealth(pool(t, through(host, [host.port], 'primary')));
  await checkHealth(pool(t, through(host, [host.port])));

  // The database accepts writes when it is reached by the other host.
  const writable = createServer((client) => {
    const backend = connect(`${directory}/.s.PGSQL.5432`);
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    void owner.unsafe(`ALTER DATABASE "${database}" RESET default_transaction_read_only`).then(() => {
      client.pipe(backend).pipe(client);
    });
  }).listen(0, '127.0.0.1');
  await once(writable, 'listening');
  t.after(() => writable.close());
  const { port } = writable.address() as AddressInfo;
  const sql = pool(t, through(host, [host.port, port], 'read-write'));
  await withTimeout(sql`CREATE TABLE written ()`.execute());
});

/** Nothing but the other hosts ends the wait for a silent one. */
const patient = { max: 1, connect_timeout: 60 };

test('a silent host does not keep a pool from the next one, and no connection to it stays', async (t) => {
  const host = await openHost(t);
  const frozen = await startProxy({ socket: `${host.direct.directory}/.s.PGSQL.5432` });
  t.after(async () => frozen[Symbol.asyncDispose]());
  frozen.silence(true);
  const sql = pool(t, through(host, [new URL(frozen.url).port, host.port]), patient);
  await withTimeout(sql`SELECT 1`.execute());
  frozen.silence(false);
  const sessions = async () => sql`SELECT FROM pg_stat_activity WHERE datname = current_database()`;
  await until(async () => (await sessions()).length === 1);
});

test('while a host is silent, a standby is found as soon as it is promoted', async (t) => {
  const host = await openHost(t);
  const frozen = await startProxy({ socket: `${host.direct.directory}/.s.PGSQL.5432` });
  t.after(async () => frozen[Symbol.asyncDispose]());
  frozen.silence(true);
  const owner = pool(t, host.direct);
  await owner.unsafe(`ALTER DATABASE "${host.database}" SET default_transaction_read_only = on`);
  const sql = pool(t, through(host, [new URL(frozen.url).port, host.port], 'read-write'), patient);
  const written = sql`CREATE TABLE written ()`.execute();
  written.catch(() => undefined);
  await until(() => host.proxy.connections() >= 2, 5_000 * slowness());
  await owner.unsafe(`ALTER DATABASE "${host.database}" RESET default_transaction_read_only`);
  await withTimeout(written);
});
