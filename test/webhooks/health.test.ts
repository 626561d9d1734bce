import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { WebhookHealth } from '../../packages/server/src/webhooks/dispatcher/outcomes/webhook-health.ts';
import { startTestServer, until } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { makeAccount } from '../support/world.ts';

test('webhook health is written in the order of ids, the order in which changes of roles lock webhooks', async () => {
  await using server = await startTestServer();
  const { sql } = server.database;
  const own = await makeAccount(server);
  const ids: string[] = [];
  // Repeat until the first webhook has the greater id: a statement without an order would lock that one first.
  while (ids.length < 2 || (ids.at(-2) ?? '') < (ids.at(-1) ?? '')) {
    assert.ok(ids.length < 10);
    ids.push((await makeWebhook(server, own)).id);
  }
  const [greater = '', lesser = ''] = ids.slice(-2);
  const clock = { databaseNow: () => Date.now(), isInDoubt: false };
  const health = new WebhookHealth({ sql, log: pino({ level: 'silent' }), clock });
  const attempt = { verdict: 'failed', unavailable: false, status: 500, answer: null, error: null, durationMs: 1, retryAfterMs: null } as const; // prettier-ignore
  for (const id of [greater, lesser])
    health.note({ id, outage: null, target: { kind: 'http' }, updatedAt: new Date() } as never, attempt);
  let writing: Promise<void> | undefined;
  await sql.begin(async (holder) => {
    await holder`SELECT 1 FROM webhooks WHERE id = ${lesser} FOR NO KEY UPDATE`;
    writing = health.write();
    await until(async () => {
      const [row] =
        await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      return row !== undefined;
    });
    // In the other order this would be a deadlock.
    await holder`SELECT 1 FROM webhooks WHERE id = ${greater} FOR NO KEY UPDATE NOWAIT`;
  });
  await writing;
  const rows = await sql`SELECT 1 FROM webhooks WHERE id IN (${greater}, ${lesser}) AND failing_since IS NOT NULL`;
  assert.equal(rows.length, 2);
});
