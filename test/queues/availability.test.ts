import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  makeVisitor,
  setPresence,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

async function ask({ siteId }: TestAccount, token: string, queues: readonly string[] = []): Promise<Json> {
  const query = queues.map((id) => `queue_ids[]=${id}`).join('&');
  return expectStatus(await call(server, `GET /sites/${siteId}/availability?${query}`, { token }), 200).body;
}

const everyMedium = ['text', 'phone', 'audio', 'video'];
/** Nobody is there, and no hours are kept. */
const closed = { open: false, media: [], staffed_media: [], opens_at: null };

test('a page without a visitor can read whether a queue is open, and for which media', async () => {
  const own = await makeAccount(server);
  const { header } = await makeApplicationToken(server, own, 'publishable');
  assert.deepEqual(await ask(own, header), closed);
  const text = await makeQueue(server, own, { routing_policy: { media: ['text'] } });
  const calls = await makeQueue(server, own, { routing_policy: { media: ['audio', 'video'] } });
  assert.deepEqual(await ask(own, header), closed);

  const both = ['text', 'audio'];
  const operator = await makeAvailableOperator(server, own, { media: both });
  assert.deepEqual(await ask(own, header), { ...closed, open: true, media: both, staffed_media: both });
  assert.deepEqual(await ask(own, header, [calls]), {
    ...closed,
    open: true,
    media: ['audio'],
    staffed_media: ['audio'],
  });
  assert.deepEqual(await ask(own, header, [calls, text]), { ...closed, open: true, media: both, staffed_media: both });
  assert.deepEqual(await ask(own, header, [randomUUID()]), closed);

  await setPresence(server, operator, { available: false });
  assert.deepEqual(await ask(own, header), closed);
});

test('a full queue is not open, and reading the availability creates no visitor', async () => {
  const own = await makeAccount(server);
  const { header } = await makeApplicationToken(server, own, 'publishable');
  const queue = await makeQueue(server, own, {
    capacity_policy: { type: 'fixed', capacity: 1 },
    when_unstaffed: 'accept',
  });
  assert.deepEqual(await ask(own, header), { ...closed, open: true, media: everyMedium });
  await enqueue(server, own, queue);
  assert.deepEqual(await ask(own, header), closed);
  const [count] = await server.database.sql<{ visitors: number }[]>`
    SELECT count(*)::int AS visitors FROM visitors WHERE site_id = ${own.siteId}`;
  assert.equal(count?.visitors, 1);
});

test('visitors and operators of the site may read the availability, those of other sites may not', async () => {
  const own = await makeAccount(server);
  const visitor = await makeVisitor(server, own);
  assert.deepEqual(await ask(own, visitor.token), closed);
  assert.deepEqual(await ask(own, own.admin), closed);
  const { header } = await makeApplicationToken(server, await makeAccount(server), 'publishable');
  const path = `GET /sites/${own.siteId}/availability`;
  expectStatus(await call(server, path, { token: header }), 404);
  expectStatus(await call(server, path), 401);
  const other = await makeSite(server, own);
  expectStatus(await call(server, `GET /sites/${other}/availability`, { token: visitor.token }), 404);
  expectStatus(await call(server, `${path}?queue_ids[]=none`, { token: own.admin }), 422);
});

test('outside all hours the availability says when the first queue opens', async () => {
  const own = await makeAccount(server);
  const { header } = await makeApplicationToken(server, own, 'publishable');
  const day = 86_400_000;
  const midnight = Math.floor(Date.now() / day) * day;
  const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const openOn = async (at: number): Promise<string> => {
    const hours = { opens_at: '00:00', closes_at: '24:00', days_of_week: [names[new Date(at).getUTCDay()]] };
    const body = { site_id: own.siteId, name: 'Days', timezone: 'UTC', business_hours: [hours] };
    const policy = await call(server, 'POST /queues/scheduling_policies', { token: own.admin, body });
    return makeQueue(server, own, { scheduling_policy_id: expectStatus(policy, 201).body.id });
  };
  const later = await openOn(midnight + 3 * day);
  await openOn(midnight + 2 * day);
  const opensAt = (at: number): Json => ({ ...closed, opens_at: new Date(at).toISOString() });
  assert.deepEqual(await ask(own, header), opensAt(midnight + 2 * day));
  assert.deepEqual(await ask(own, header, [later]), opensAt(midnight + 3 * day));
  await openOn(midnight);
  assert.deepEqual(await ask(own, header), closed, 'one is open by its hours');
});
