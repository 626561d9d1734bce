import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { knownMigrations } from '../../packages/server/src/platform/database/migrations/migrations.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { expectStatus, makeAccount, makeVisitor } from '../support/world.ts';

const server = await forThisFile(startTestServer());

test('openapi.json and asyncapi.json match the routes; run `npm run openapi` after changing them', async () => {
  for (const name of ['openapi.json', 'asyncapi.json']) {
    const { body } = expectStatus(await call(server, `GET /${name}`), 200);
    assert.deepEqual(body, JSON.parse(readFileSync(name, 'utf8')));
  }
});

test('openapi.json is OpenAPI 3.1 with webhooks, every reference resolves and every operation is described', async () => {
  const { body } = await call(server, 'GET /openapi.json');
  assert.match(body.openapi, /^3\.1\./);
  assert.equal(typeof body.webhooks, 'object');
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name = '']) => name,
  );
  assert.ok(references.length > 30);
  for (const name of references) assert.ok(name in body.components.schemas, name);
  for (const [path, operations] of Object.entries<Record<string, Record<string, unknown>>>(body.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      assert.ok(operation['summary'], `${method} ${path} has no summary`);
      assert.ok(operation['tags'], `${method} ${path} has no tag`);
      assert.ok('security' in operation, `${method} ${path} does not say who`);
    }
  }
});

test('the reference page has every operation, schema and error, and loads nothing from other servers', async () => {
  const { body, headers } = expectStatus(await call(server, 'GET /docs'), 200);
  assert.match(headers.get('content-type') ?? '', /^text\/html/);
  const { body: api } = await call(server, 'GET /openapi.json');
  for (const path of Object.keys(api.paths)) assert.ok(body.includes(`<code>${path}</code>`), path);
  // The bodies and answers of single operations are shown with them.
  const isShownInPlace = (name: string): boolean => !body.includes(`id="schema-${name}"`);
  const inPlace = Object.keys(api.components.schemas).filter(isShownInPlace);
  for (const name of inPlace) assert.match(name, /^[A-Z]\w+(?:Request|Response)$/);
  for (const name of ['Queue', 'EngagementRequest', 'EngagementStartEvent']) assert.ok(!inPlace.includes(name), name);
  assert.ok(body.includes('id="error-invalid_request"'));
  assert.doesNotMatch(body, /(?:src|href)="(?:https?:)?\/\//);
  assert.deepEqual(body.match(/<script[^>]*>/g), ['<script src="/docs/script.js" defer>']);
  assert.match(headers.get('content-security-policy') ?? '', /script-src 'self';/);
  const links = [...body.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
  for (const id of links) assert.ok(body.includes(`id="${id}"`), `dead link ${id}`);
  for (const part of ['style.css', 'script.js']) expectStatus(await call(server, `GET /docs/${part}`), 200);
});

test('the reference and the documents are compressed, and say so', async () => {
  for (const path of ['/docs', '/openapi.json', '/asyncapi.json']) {
    const plain = await fetch(`${server.url}${path}`, { headers: { 'accept-encoding': 'identity, br;q=0' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    const { length } = await plain.text();
    for (const encoding of ['br', 'gzip']) {
      // `fetch` decompresses what it receives, and leaves the header of the length.
      const packed = await fetch(`${server.url}${path}`, { headers: { 'accept-encoding': `${encoding}, deflate` } });
      assert.equal(packed.headers.get('content-encoding'), encoding);
      assert.equal(packed.headers.get('vary'), 'accept-encoding');
      assert.ok(Number(packed.headers.get('content-length')) < length / 5, path);
      assert.equal((await packed.text()).length, length);
    }
  }
});

test('/metrics reports requests, the database and the process', async () => {
  await call(server, 'GET /healthz');
  await call(server, 'GET /nowhere/at/all');
  const { body } = expectStatus(await call(server, 'GET /metrics'), 200);
  assert.match(body, /usher_http_request_duration_seconds_count\{method="GET",route="\/healthz",status="200"\} [1-9]/);
  assert.match(body, /route="unknown",status="404"/);
  assert.match(body, /usher_database_up 1/);
  assert.match(body, /^usher_boards \d/m);
  assert.match(body, /^usher_orders_waiting 0$/m);
  assert.match(body, /^usher_turn_duration_seconds_count \d/m);
  assert.match(body, /usher_database_connections\{state="(active|idle)"\} [1-9]/);
  assert.match(body, /process_resident_memory_bytes \d+/);
});

test('each request is one log line without personal data', async () => {
  const account = await makeAccount(server);
  const visitor = await makeVisitor(server, account);
  const path = `/sites/${account.siteId}/visitors/${visitor.id}`;
  server.logged.length = 0;
  await call(server, `PATCH ${path}?secret=query`, {
    token: account.admin,
    body: { name: 'Personal Name', email: 'private@example.test' },
    headers: { prefer: 'handling=lenient' },
  });
  await until(() => server.logged.length > 0);
  assert.equal(server.logged.length, 1);
  const [line = ''] = server.logged;
  const { time: _time, ms, request_id: requestId, host, version, pid, ...rest } = JSON.parse(line);
  assert.deepEqual([host, typeof version, pid], [hostname(), 'string', process.pid]);
  assert.ok(ms > 0);
  assert.match(requestId, /^[\da-f-]{18}-\d+$/);
  assert.deepEqual(rest, {
    level: 'info',
    method: 'PATCH',
    route: '/sites/:site_id/visitors/:visitor_id',
    status: 200,
    caller: `operator:${account.adminId}`,
  });
});

test('requests of probes are logged at debug, so that they do not fill the log', async () => {
  server.logged.length = 0;
  for (const path of ['/healthz', '/readyz', '/metrics']) expectStatus(await call(server, `GET ${path}`), 200);
  expectStatus(await call(server, 'GET /version'), 200);
  await until(() => server.logged.length > 0);
  assert.deepEqual(
    server.logged.map((line) => JSON.parse(line).route),
    ['/version'],
  );
});

test('/version names the version, the commit and the schema of the program', async () => {
  const { version, commit, schema } = expectStatus(await call(server, 'GET /version'), 200).body;
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.equal(commit, null, 'the tests run from the sources');
  assert.equal(schema, (await knownMigrations()).length);
});

test('/readyz fails unless the database has the schema version of this program', async () => {
  expectStatus(await call(server, 'GET /readyz'), 200);
  await server.database.sql`INSERT INTO migrations (number, file) VALUES (9999, 'future.sql')`;
  assert.equal(expectStatus(await call(server, 'GET /readyz'), 503).body.error, 'database_unavailable');
  await server.database.sql`DELETE FROM migrations WHERE number = 9999`;
  expectStatus(await call(server, 'GET /readyz'), 200);
});
