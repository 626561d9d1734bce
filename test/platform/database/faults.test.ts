import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { connect, openDatabase } from '../../../packages/server/src/platform/database/database.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { startEmbeddedCluster } from '../../support/database/embedded-cluster.ts';
import { call, startTestServer, until, type TestServer } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { expectStatus, makeAccount, signIn, type TestAccount } from '../../support/world.ts';

test(
  'requests fail with 503 at once while the database is down, and succeed when it is back',
  { timeout: hangMs },
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'usher-fault-'));
    let postgres = await startEmbeddedCluster(dataDir, { fsync: 'off' });
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
      await until(() => !server.changes.live);
      const began = performance.now();
      const answers = await Promise.all([...Array.from({ length: 20 }, read), ...Array.from({ length: 20 }, create)]);
      assert.ok(performance.now() - began < 8_000, 'a request does not wait long for a database that is down');
      for (const answer of answers) {
        assert.equal(expectStatus(answer, 503).body.error, 'database_unavailable');
        assert.equal(answer.headers.get('retry-after'), '2');
        assert.doesNotMatch(JSON.stringify(answer.body), /ECONN|ENOENT|socket|postgres/i);
      }
      expectStatus(await call(server, 'GET /healthz'), 200);
      expectStatus(await call(server, 'GET /readyz'), 503);
      assert.match((await call(server, 'GET /metrics')).body, /usher_database_up 0/);

      postgres = await startEmbeddedCluster(dataDir, { fsync: 'off' });
      await until(async () => (await read()).status === 200, 20_000);
      await until(() => server.changes.live, 20_000);
      expectStatus(await create(), 201);
      expectStatus(await call(server, 'GET /sites', { token: await signIn(server, account.key) }), 200);
    } finally {
      await server[Symbol.asyncDispose]();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
);

test('a resource answered with 201 exists after the database was killed', { timeout: hangMs }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-fault-'));
  let postgres = await startEmbeddedCluster(dataDir);
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
    postgres = await startEmbeddedCluster(dataDir);
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

const stormWriters = 12;
const stormKills = 60;
const answersBetweenKills = 10;
/** Far above the response time during the faults, and below every deadline that could hide a hang. */
const longestAnswerMs = 10_000;

test(
  'while connections are killed repeatedly, every request gets a response and each idempotency key acts once',
  { timeout: hangMs },
  async () => {
    await using server = await startTestServer();
    const { address } = server.database;
    assert.ok(address.kind === 'socket');
    const killer = connect({ ...address, database: 'postgres' }, { max: 1 });
    const account = await makeAccount(server);
    const stopped = new AbortController();
    const storm = { answers: 0, slowestMs: 0, acknowledged: new Map<string, string>(), server, account };
    const writers = Array.from({ length: stormWriters }, async () => {
      while (!stopped.signal.aborted) await createStubbornly(storm);
    });
    try {
      for (let kill = 1; kill <= stormKills; kill++) {
        await Promise.race([until(() => storm.answers >= kill * answersBetweenKills, 20_000), Promise.all(writers)]);
        await killer`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${address.database}`;
      }
    } finally {
      stopped.abort();
      await Promise.all(writers);
      await killer.end();
    }
    assert.ok(storm.slowestMs < longestAnswerMs, `an answer took ${storm.slowestMs} ms`);
    assert.ok(storm.acknowledged.size >= stormWriters);

    await until(() => server.changes.live);
    const again = { token: account.admin, body: { site_id: account.siteId, name: 'after' } };
    const answers = await Promise.all(Array.from({ length: 40 }, async () => call(server, 'POST /teams', again)));
    for (const answer of answers) expectStatus(answer, 201);
    const rows = await server.database.sql<{ name: string; id: string }[]>`
    SELECT name, id FROM teams WHERE name <> 'after' ORDER BY name`;
    assert.deepEqual(
      rows.map(({ name, id }) => [name, id]),
      [...storm.acknowledged].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  },
);

interface Storm {
  answers: number;
  slowestMs: number;
  /** The id of the created team, by name. */
  readonly acknowledged: Map<string, string>;
  readonly server: TestServer;
  readonly account: TestAccount;
}

/** Creates a team, repeating the request with the same key until it succeeds. */
async function createStubbornly(storm: Storm): Promise<void> {
  const { server, account } = storm;
  const name = randomUUID();
  const headers = { 'idempotency-key': name };
  const body = { site_id: account.siteId, name };
  for (;;) {
    const began = performance.now();
    const answer = await call(server, 'POST /teams', { token: account.admin, headers, body });
    storm.slowestMs = Math.max(storm.slowestMs, performance.now() - began);
    storm.answers++;
    if (answer.status === 201) {
      storm.acknowledged.set(name, answer.body.id);
      return;
    }
    assert.equal(expectStatus(answer, 503).body.error, 'database_unavailable');
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  }
}
