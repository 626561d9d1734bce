import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureSigningKey } from '../packages/server/src/identity/signing-keys.ts';
import { openDatabase } from '../packages/server/src/platform/database.ts';
import { startEmbeddedPostgres } from '../packages/server/src/platform/embedded-postgres.ts';
import { migrate } from '../packages/server/src/platform/migrations.ts';
import { call, startTestServer, until } from './support/server.ts';
import { expectStatus, makeAccount, signIn } from './support/world.ts';

test('a dead database is 503 at once, and everything goes on when it is back', { timeout: 120_000 }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-fault-'));
  let postgres = await startEmbeddedPostgres(dataDir, { fsync: 'off' });
  const template = openDatabase(postgres.address, 2);
  await migrate(template, ensureSigningKey);
  await template.close();
  const server = await startTestServer({}, postgres.address);
  try {
    const account = await makeAccount(server);
    const read = async () => call(server, 'GET /sites', { token: account.admin });
    const create = async () =>
      call(server, 'POST /teams', { token: account.admin, body: { site_id: account.siteId, name: 'T' } });
    expectStatus(await read(), 200);

    await postgres.stop();
    await until(() => !server.feed.live);
    const began = performance.now();
    const answers = await Promise.all([...Array.from({ length: 20 }, read), ...Array.from({ length: 20 }, create)]);
    assert.ok(performance.now() - began < 8_000, 'nobody waits long for a dead database');
    for (const answer of answers) {
      assert.equal(expectStatus(answer, 503).body.error, 'database_unavailable');
      assert.equal(answer.headers.get('retry-after'), '2');
      assert.doesNotMatch(JSON.stringify(answer.body), /ECONN|ENOENT|socket|postgres/i);
    }
    expectStatus(await call(server, 'GET /healthz'), 200);
    expectStatus(await call(server, 'GET /readyz'), 503);
    assert.match((await call(server, 'GET /metrics')).body, /usher_database_up 0/);

    postgres = await startEmbeddedPostgres(dataDir, { fsync: 'off' });
    await until(async () => (await read()).status === 200, 20_000);
    await until(() => server.feed.live, 20_000);
    expectStatus(await create(), 201);
    expectStatus(await call(server, 'GET /sites', { token: await signIn(server, account.key) }), 200);
  } finally {
    await server[Symbol.asyncDispose]();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('what was answered with 201 is there after the database was killed', { timeout: 120_000 }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-fault-'));
  let postgres = await startEmbeddedPostgres(dataDir);
  const template = openDatabase(postgres.address, 2);
  await migrate(template, ensureSigningKey);
  await template.close();
  const server = await startTestServer({}, postgres.address);
  try {
    const account = await makeAccount(server);
    const acknowledged: string[] = [];
    const stopped = new AbortController();
    const writers = Array.from({ length: 8 }, async () => {
      while (!stopped.signal.aborted) {
        const answer = await call(server, 'POST /teams', {
          token: account.admin,
          body: { site_id: account.siteId, name: 'T' },
        });
        if (answer.status === 201) acknowledged.push(answer.body.id);
        else assert.equal(answer.status, 503, JSON.stringify(answer.body));
      }
    });
    await until(() => acknowledged.length > 200, 20_000);
    await server.database
      .sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`;
    await until(() => acknowledged.length > 400, 20_000);
    await postgres.stop();
    stopped.abort();
    await Promise.all(writers);
    postgres = await startEmbeddedPostgres(dataDir);
    await until(async () => (await call(server, 'GET /readyz')).status === 200, 20_000);
    const rows = await server.database.sql<{ id: string }[]>`SELECT id FROM teams`;
    const there = new Set(rows.map((row) => row.id));
    assert.deepEqual(
      acknowledged.filter((id) => !there.has(id)),
      [],
    );
  } finally {
    await server[Symbol.asyncDispose]();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
