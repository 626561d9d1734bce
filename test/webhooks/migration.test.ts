import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { assignRoles, makeRegistrarSetup, webhookBody, registerWebhook } from '../support/api/registrars.ts';
import { call, startTestServer } from '../support/server.ts';
import { webhookRow } from '../support/receivers/webhooks.ts';
import { expectStatus, makeOperator } from '../support/world.ts';

const server = await forThisFile(startTestServer());

/** The statement of the migration that fills in registrars. Only this one is run, because the tables are already migrated. */
const [fillIn = ''] =
  readFileSync('packages/server/migrations/0024_webhook_coverage.sql', 'utf8').match(
    /^UPDATE webhooks w\n {3}SET registered_by[^;]+;/m,
  ) ?? [];

test('migration 24 reads registrars and who last changed the URL from the audit log, and no webhook loses its coverage', async () => {
  const { sql } = server.database;
  const { own, admin, first, second, registrar } = await makeRegistrarSetup(server);
  const both = [first, second].toSorted();
  const roles = both.map((site_id) => ({ site_id, role: 'super_manager' }));
  const other = await makeOperator(server, own, roles);
  const kept = await registerWebhook(server, registrar);
  const named = await registerWebhook(server, registrar, { site_ids: [second] });
  const moved = await registerWebhook(server, registrar);
  const unlogged = await registerWebhook(server, registrar);
  const left = await makeOperator(server, own, roles);
  const ofLeft = await registerWebhook(server, left);
  const ofLeftHere = await registerWebhook(server, left, { site_ids: [first] });
  for (const [who, body] of [
    [other, { ...webhookBody, url: 'http://127.0.0.1:9/other' }],
    // Changes of other fields do not count.
    [admin, { ...webhookBody, url: 'http://127.0.0.1:9/other', description: 'Moved' }],
  ] as const)
    expectStatus(await call(server, `PUT /webhooks/${moved.id}`, { token: who.token, body }), 200);
  await sql`DELETE FROM audit_log WHERE target_id = ${unlogged.id}`;
  await assignRoles(server, { own, operator: left, roles: { [first]: 'super_manager' } });
  // As an earlier version left them.
  const ids = [kept, named, moved, unlogged, ofLeft, ofLeftHere].map(({ id }) => id as string);
  await sql`
    UPDATE webhooks SET registered_by = NULL, url_set_by = NULL, has_covered = NULL WHERE id = ANY(${ids}::uuid[])`;
  assert.deepEqual(
    [(await webhookRow(server, kept.id)).covers, (await webhookRow(server, named.id)).covers],
    [null, [second]],
  );

  await sql.unsafe(fillIn);

  const rows = await Promise.all(ids.map(async (id) => webhookRow(server, id)));
  assert.deepEqual(
    rows.map((row) => [row.registered_by, row.url_set_by, row.covers, row.has_covered]),
    [
      [registrar.id, registrar.id, both, both],
      [registrar.id, registrar.id, [second], [second]],
      [registrar.id, other.id, both, both],
      [null, null, null, null],
      [null, null, null, null],
      [left.id, left.id, [first], [first]],
    ],
  );
  // A second run changes nothing.
  assert.equal((await sql.unsafe(fillIn)).count, 0);
});
