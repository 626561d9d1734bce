import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Edits limits.ts while it is loaded: an offer may take up to ten hours to answer. */
registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('/packages/contract/src/limits.ts')) return nextLoad(url, context);
    const written = readFileSync(fileURLToPath(url), 'utf8');
    const source = written.replace(/maxOfferTimeoutSec = [\d_]+/, 'maxOfferTimeoutSec = 36_000');
    assert.notEqual(source, written);
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});
const { call, startTestServer } = await import('../support/server.ts');
const { requestTicket, expectStatus, makeAccount, makeAvailableOperator, makeQueue, makeVisitor } =
  await import('../support/world.ts');

test('with a higher limit, a request that has been pending for hours is loaded again and still occupies its operator', async () => {
  const first = await startTestServer();
  const own = await makeAccount(first);
  const site = await call(first, `PATCH /sites/${own.siteId}`, {
    token: own.admin,
    body: { proactive_call_timeout: 36_000 },
  });
  expectStatus(site, 200);
  const operator = await makeAvailableOperator(first, own);
  const visitor = await makeVisitor(first, own);
  const requested = await call(first, 'POST /engagement_requests', {
    token: operator.token,
    body: { site_id: own.siteId, media: 'text', visitor_id: visitor.id },
  });
  const { id, timeout } = expectStatus(requested, 201).body;
  assert.equal(timeout, 36_000);
  const { sql } = first.database;
  await sql`UPDATE engagement_requests SET created_at = created_at - interval '9 hours' WHERE id = ${id}`;
  await first[Symbol.asyncDispose]();

  await using second = await startTestServer({}, first.database.address);
  const queue = await makeQueue(second, own, { when_unstaffed: 'accept' });
  const busy = await requestTicket(second, own, { queue_ids: [queue], media: 'phone' });
  assert.equal(expectStatus(busy, 201).body.state, 'waiting');
  const body = { action: 'accept' };
  expectStatus(await call(second, `PATCH /engagement_requests/${id}`, { token: visitor.token, body }), 200);
});
