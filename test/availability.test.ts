import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { call, startTestServer, type Json, type TestServer } from './support/server.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makePresent,
  makeQueue,
  makeSite,
  makeVisitor,
  present,
  type TestAccount,
} from './support/world.ts';

let server: TestServer;

before(async () => {
  server = await startTestServer();
});
after(async () => server[Symbol.asyncDispose]());

async function ask({ siteId }: TestAccount, token: string, queues: readonly string[] = []): Promise<Json> {
  const query = queues.map((id) => `queue_ids[]=${id}`).join('&');
  return expectStatus(await call(server, `GET /sites/${siteId}/availability?${query}`, { token }), 200).body;
}

test('a page that has no visitor learns whether a queue is open, and for what', async () => {
  const own = await makeAccount(server);
  const { header } = await makeApplicationToken(server, own, 'publishable');
  assert.deepEqual(await ask(own, header), { open: false, media: [] });
  const text = await makeQueue(server, own, { routing_policy: { media: ['text'] } });
  const calls = await makeQueue(server, own, { routing_policy: { media: ['audio', 'video'] } });
  assert.deepEqual(await ask(own, header), { open: false, media: [] });

  const operator = await makePresent(server, own, { media: ['text', 'audio'] });
  assert.deepEqual(await ask(own, header), { open: true, media: ['text', 'audio'] });
  assert.deepEqual(await ask(own, header, [calls]), { open: true, media: ['audio'] });
  assert.deepEqual(await ask(own, header, [calls, text]), { open: true, media: ['text', 'audio'] });
  assert.deepEqual(await ask(own, header, [randomUUID()]), { open: false, media: [] });

  await present(server, operator, { available: false });
  assert.deepEqual(await ask(own, header), { open: false, media: [] });
});

test('a queue that is full is not open, and asking for it makes no visitor', async () => {
  const own = await makeAccount(server);
  const { header } = await makeApplicationToken(server, own, 'publishable');
  const queue = await makeQueue(server, own, {
    capacity_policy: { type: 'fixed', capacity: 1 },
    when_unstaffed: 'accept',
  });
  assert.deepEqual(await ask(own, header), { open: true, media: ['text', 'phone', 'audio', 'video'] });
  await enqueue(server, own, queue);
  assert.deepEqual(await ask(own, header), { open: false, media: [] });
  const [count] = await server.database.sql<{ visitors: number }[]>`
    SELECT count(*)::int AS visitors FROM visitors WHERE site_id = ${own.siteId}`;
  assert.equal(count?.visitors, 1);
});

test('visitors and operators of the site may ask too, nobody from elsewhere', async () => {
  const own = await makeAccount(server);
  const visitor = await makeVisitor(server, own);
  assert.deepEqual(await ask(own, visitor.token), { open: false, media: [] });
  assert.deepEqual(await ask(own, own.admin), { open: false, media: [] });
  const { header } = await makeApplicationToken(server, await makeAccount(server), 'publishable');
  const path = `GET /sites/${own.siteId}/availability`;
  expectStatus(await call(server, path, { token: header }), 404);
  expectStatus(await call(server, path), 401);
  const other = await makeSite(server, own);
  expectStatus(await call(server, `GET /sites/${other}/availability`, { token: visitor.token }), 404);
  expectStatus(await call(server, `${path}?queue_ids[]=none`, { token: own.admin }), 422);
});
