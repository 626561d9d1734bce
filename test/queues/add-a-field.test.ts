import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { test } from 'node:test';

/**
 * How to add a field to queues: a line in the table of `queues/queue.ts`, and a migration. This test does both, the line in
 * the source as it is loaded and the migration on its own database, and touches no other file of the server.
 */
const line = `motto: optional(Type.String({ maxLength: 40 }), 'At your service'),`;
const migration = `ALTER TABLE queues ADD COLUMN motto text NOT NULL DEFAULT 'At your service'`;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/packages/server/src/queues/queue.ts')) return loaded;
    const [before, after, ...more] = readFileSync(new URL(url), 'utf8').split('  created_at: assigned(timestamp),');
    assert.ok(after !== undefined && more.length === 0, 'the table of queues is not where this test looks for it');
    return { ...loaded, source: `${before}${line}\n  created_at: assigned(timestamp),${after}` };
  },
});

// Loaded after the hook is in place, unlike what is imported above.
const { openWorld } = await import('../support/fixture.ts');
const { call } = await import('../support/server.ts');
const { expectStatus, makeQueue, queueFields } = await import('../support/world.ts');

test('a field added to the table of queues appears in requests, answers, previews, OpenAPI and the audit log', async () => {
  const { server, account } = await openWorld();
  await server.database.sql.unsafe(migration);
  const token = account.admin;
  const put = async (id: string, fields: object) =>
    call(server, `PUT /queues/${id}`, { token, body: { ...queueFields, ...fields } });
  const mottoAfter = async (id: string, fields: object): Promise<unknown> =>
    expectStatus(await put(id, fields), 200).body.motto;

  const plain = await makeQueue(server, account);
  const id = await makeQueue(server, account, { motto: 'Be kind' });
  const { queues } = expectStatus(await call(server, `GET /queues?site_ids=${account.siteId}`, { token }), 200).body;
  const mottos = queues.map((queue: { id: string; motto: string }) => [queue.id, queue.motto]);
  assert.deepEqual(mottos, [[plain, 'At your service'], [id, 'Be kind']]); // prettier-ignore
  assert.equal(await mottoAfter(id, {}), 'Be kind', 'left out it is kept');
  assert.equal(await mottoAfter(id, { motto: 'Be quick' }), 'Be quick');
  assert.equal(await mottoAfter(id, { motto: null }), 'At your service', 'null resets it');
  assert.equal(expectStatus(await put(id, { motto: 'x'.repeat(41) }), 422).body.details[0].attribute, '/motto');

  const preview = { site_id: account.siteId, ...queueFields, motto: 7 };
  expectStatus(await call(server, 'POST /queues/preview', { token, body: preview }), 422);
  const document = expectStatus(await call(server, 'GET /openapi.json'), 200).body;
  assert.deepEqual(document.components.schemas.Queue.properties.motto, { maxLength: 40, type: 'string' });

  const log = expectStatus(await call(server, `GET /audit_log?target_id=${id}`, { token }), 200).body.audit_log;
  const changes = log.flatMap((entry: { changes: { field: string }[] }) =>
    entry.changes.filter(({ field }) => field === 'motto'),
  );
  assert.deepEqual(changes, [
    { field: 'motto', before: 'Be quick', after: 'At your service' },
    { field: 'motto', before: 'Be kind', after: 'Be quick' },
    { field: 'motto', after: 'Be kind' },
  ]);
});
