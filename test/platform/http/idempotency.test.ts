import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { rotateSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { openWorld } from '../../support/fixture.ts';
import { call, startTestServer, type Answer, type TestServer } from '../../support/server.ts';
import { expectStatus, makeAccount, makeApplicationToken } from '../../support/world.ts';

const { server, account } = await openWorld();

async function createTeam(key: string, name = 'Once', on: TestServer = server, who = account): Promise<Answer> {
  return call(on, 'POST /teams', {
    token: who.admin,
    body: { site_id: who.siteId, name },
    headers: { 'idempotency-key': key },
  });
}

async function countTeams(name: string): Promise<number> {
  const [row] = await server.database.sql<
    { count: number }[]
  >`SELECT count(*)::integer AS count FROM teams WHERE name = ${name}`;
  return row?.count ?? -1;
}

test('D7.7 a request with the same key and body gets the first answer', async () => {
  const key = randomUUID();
  const first = expectStatus(await createTeam(key), 201);
  const second = expectStatus(await createTeam(key), 201);
  assert.deepEqual(second.body, first.body);
  for (const header of ['location', 'etag']) assert.equal(second.headers.get(header), first.headers.get(header));
  assert.equal(first.headers.get('idempotency-replayed'), null);
  assert.equal(second.headers.get('idempotency-replayed'), 'true');
  const other = await call(server, 'POST /teams', {
    token: account.admin,
    body: { site_id: account.siteId, name: 'Once' },
    headers: { 'x-idempotency-key': key },
  });
  assert.deepEqual(other.body, first.body);
  assert.equal(await countTeams('Once'), 1);
});

test('D7.7 the key with another body or another route is refused', async () => {
  const key = randomUUID();
  expectStatus(await createTeam(key, 'Body one'), 201);
  assert.equal(expectStatus(await createTeam(key, 'Body two'), 422).body.error, 'idempotency_key_reused');
  const elsewhere = await call(server, 'POST /sites', {
    token: account.admin,
    body: { name: 'x' },
    headers: { 'idempotency-key': key },
  });
  assert.equal(elsewhere.status, 422);
  assert.equal(await countTeams('Body two'), 0);
});

test('of concurrent requests with one key in two processes, one creates and all get its answer', async () => {
  const other = await startTestServer({}, server.database.address);
  try {
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => createTeam(key, 'Together', i % 2 === 0 ? server : other)),
    );
    for (const answer of answers) assert.deepEqual(expectStatus(answer, 201).body, answers[0]?.body);
    assert.equal(await countTeams('Together'), 1);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('D7.13 a refused request changes nothing, and its key can be used again', async () => {
  const key = randomUUID();
  const headers = { 'idempotency-key': key };
  const body = { name: 'A', email: 'taken@test' };
  expectStatus(await call(server, 'POST /operators', { token: account.admin, body }), 201);
  expectStatus(await call(server, 'POST /operators', { token: account.admin, body, headers }), 409);
  await server.database.sql`UPDATE operators SET email = 'free@test' WHERE email = 'taken@test'`;
  expectStatus(await call(server, 'POST /operators', { token: account.admin, body, headers }), 201);
});

test('a key can be reused after a day', async () => {
  const key = randomUUID();
  const first = expectStatus(await createTeam(key, 'Daily'), 201);
  await server.database.sql`UPDATE idempotency_keys SET created_at = now() - interval '25 hours'`;
  const second = expectStatus(await createTeam(key, 'Daily'), 201);
  assert.notEqual(second.body.id, first.body.id);
});

test('callers do not see each other’s keys', async () => {
  const key = randomUUID();
  const stranger = await makeAccount(server);
  const mine = expectStatus(await createTeam(key, 'Mine'), 201);
  const theirs = expectStatus(await createTeam(key, 'Mine', server, stranger), 201);
  assert.notEqual(mine.body.id, theirs.body.id);
});

test('an answer with a secret is repeated, and cannot be read from the database', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const path = `POST /operators/${account.adminId}/api_keys`;
  const first = expectStatus(await call(server, path, { token: account.admin, headers }), 201);
  const second = expectStatus(await call(server, path, { token: account.admin, headers }), 201);
  assert.equal(second.body.secret, first.body.secret);
  const { header } = await makeApplicationToken(server, account, 'secret');
  const visitor = expectStatus(await call(server, 'POST /visitors', { token: header, headers }), 200);
  const again = expectStatus(await call(server, 'POST /visitors', { token: header, headers }), 200);
  assert.deepEqual(again.body, visitor.body);
  const rows = await server.database.sql<
    { answer: Buffer; key_hash: Buffer }[]
  >`SELECT answer, key_hash FROM idempotency_keys`;
  const stored = Buffer.concat(rows.flatMap((row) => [row.answer, row.key_hash])).toString('latin1');
  for (const secret of [first.body.secret, visitor.body.access_token, headers['idempotency-key']]) {
    assert.equal(stored.includes(secret), false);
  }
});

test('D7.13 visitors who share a publishable token do not get each other’s answers', async () => {
  const { header } = await makeApplicationToken(server, account, 'publishable');
  const headers = { 'idempotency-key': '1' };
  const [mine, theirs] = [
    await call(server, 'POST /visitors', { token: header, headers }),
    await call(server, 'POST /visitors', { token: header, headers }),
  ];
  assert.notEqual(expectStatus(theirs, 200).body.id, expectStatus(mine, 200).body.id);
});

test('keys are read on connections that no transaction holds: a full pool cannot wait for itself', async () => {
  const { header } = await makeApplicationToken(server, account, 'secret');
  await rotateSigningKey(server.database.sql, 'keep');
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 40 }, async () =>
      call(server, 'POST /visitors', { token: header, headers: { 'idempotency-key': randomUUID() } }),
    ),
  );
  for (const answer of answers) expectStatus(answer, 200);
  assert.ok(performance.now() - began < 10_000);
});
