import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../../packages/server/src/platform/database/database.ts';
import { refuseSharedSessions } from '../../../packages/server/src/platform/database/session-check.ts';
import { engage, sendText, transcript } from '../../support/people/chat.ts';
import { startCluster } from '../../support/processes/cluster.ts';
import { emptyDatabase } from '../../support/database/database.ts';
import { openFeed } from '../../support/people/feed.ts';
import { startPgbouncer } from '../../support/database/pgbouncer.ts';
import { launch, temporaryDirectory } from '../../support/processes/process.ts';
import { call, until } from '../../support/server.ts';
import { expectStatus } from '../../support/world.ts';

const refusal = /does not keep its session: .*PgBouncer: pool_mode = session.*DATABASE_URL/;

for (const settings of [
  { pool_mode: 'transaction' },
  { pool_mode: 'transaction', server_round_robin: '1' },
  { pool_mode: 'transaction', default_pool_size: '1' },
  { pool_mode: 'statement' },
]) {
  test(`PgBouncer with ${JSON.stringify(settings)} is refused`, async () => {
    const address = await emptyDatabase();
    await using bouncer = await startPgbouncer(address, settings);
    const through = { kind: 'url', url: bouncer.url } as const;
    await assert.rejects(refuseSharedSessions(through), { name: 'StartError', message: refusal });
    // Other clients make PgBouncer open several connections to choose from.
    const others = connect(through, { max: 4 });
    await Promise.all([1, 2, 3, 4].map(async () => others`SELECT pg_sleep(0.1)`.catch(() => undefined)));
    await assert.rejects(refuseSharedSessions(through), { name: 'StartError', message: refusal });
    await others.end({ timeout: 1 });
  });
}

test('Usher does not start behind a PgBouncer in transaction mode, and says what to change', async () => {
  await using bouncer = await startPgbouncer(await emptyDatabase(), { pool_mode: 'transaction' });
  const directory = temporaryDirectory();
  const usher = launch({ dataDir: directory.path, environment: { DATABASE_URL: bouncer.url } });
  try {
    assert.equal(await usher.ended(), 1);
    assert.match(usher.errors, refusal);
    assert.doesNotMatch(usher.output + usher.errors, /ready/);
  } finally {
    directory.remove();
  }
});

test('behind a PgBouncer in session mode everything works, between two processes too', async () => {
  await using cluster = await startCluster(0);
  const { address } = cluster.database;
  await using bouncer = await startPgbouncer(address, { pool_mode: 'session', default_pool_size: '100' });
  const [one, other] = [await cluster.start(bouncer.url), await cluster.start(bouncer.url)];
  const chat = await engage(cluster.reach(one));
  await using feed = await openFeed(other, { token: chat.visitor.token });
  const id = await sendText(chat, chat.visitor, 'through a pooler');
  await feed.until(({ data }) => JSON.stringify(data).includes(id));
  assert.equal((await transcript({ ...chat, server: cluster.reach(other) }, chat.operator)).length, 1);
  // The cache of one process follows changes by another.
  const path = `/sites/${chat.own.siteId}`;
  const name = async () => (await call(other, `GET ${path}`, { token: chat.own.admin })).body.name;
  await name();
  const body = { name: 'Renamed' };
  expectStatus(await call(one, `PATCH ${path}`, { token: chat.own.admin, body }), 200);
  await until(async () => (await name()) === 'Renamed');
  expectStatus(await call(one, 'GET /readyz'), 200);
});

test('a PgBouncer in session mode with too few connections is reported and does not hang the start', async () => {
  await using bouncer = await startPgbouncer(await emptyDatabase(), { pool_mode: 'session', default_pool_size: '1' });
  const checked = refuseSharedSessions({ kind: 'url', url: bouncer.url });
  await assert.rejects(checked, { name: 'StartError', message: /at least USHER_DATABASE_POOL connections/ });
});

test('a read-only database is refused, and the embedded database is not', async () => {
  const address = await emptyDatabase();
  await refuseSharedSessions(address);
  const sql = connect(address, { max: 1 });
  const [row] = await sql<{ name: string }[]>`SELECT current_database() AS name`;
  await sql`ALTER DATABASE ${sql(row?.name ?? '')} SET default_transaction_read_only TO on`;
  await sql.end();
  await assert.rejects(refuseSharedSessions(address), { name: 'StartError', message: /is read-only.*primary/ });
});
