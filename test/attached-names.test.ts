import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import type { Json } from './support/server.ts';

/** Names that resolve when they are told to: before anything has taken `lookup` for its own. */
const released = Promise.withResolvers<void>();
let asked = 0;
const lookup = dns.lookup;
Reflect.set(dns, 'lookup', (hostname: string, ...rest: unknown[]): void => {
  if (!hostname.endsWith('.slow.example')) return void Reflect.apply(lookup, dns, [hostname, ...rest]);
  asked += 1;
  const answer = rest.at(-1) as (error: Error) => void;
  void released.promise.then(() => answer(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })));
});
syncBuiltinESMExports();
const { call, startTestServer, until } = await import('./support/server.ts');
const { expectStatus, makeAccount, makeQueue, makeVisitor } = await import('./support/world.ts');

test('while names of attached webhooks are resolved, no connection to the database is kept from others', async () => {
  await using server = await startTestServer({ databasePoolSize: 2 });
  const account = await makeAccount(server);
  const visitor = await makeVisitor(server, account);
  await makeQueue(server, account, { when_unstaffed: 'accept' });
  let answered = 0;
  const attempts = Array.from({ length: 8 }, async (_, index) => {
    const webhook = { url: `https://${index}.slow.example/`, method: 'POST', events: ['engagement.start'] };
    const answer = await call(server, 'POST /queue_tickets', {
      token: visitor.token,
      headers: { 'idempotency-key': `ticket-${index}` },
      body: { site_id: account.siteId, media: 'text', webhooks: [webhook] },
    });
    answered += 1;
    return answer;
  });
  await until(() => asked === attempts.length);
  expectStatus(await call(server, 'GET /webhooks', { token: account.admin }), 200);
  assert.equal(answered, 0, 'somebody else had to wait for the names');
  released.resolve();
  for (const { status } of await Promise.all(attempts)) assert.ok([200, 201, 409].includes(status), String(status));
});

test('wherever webhooks may be attached, addresses that must not be called are refused', async () => {
  await using server = await startTestServer();
  const account = await makeAccount(server);
  const { admin, siteId: site_id } = account;
  const visitor = await makeVisitor(server, account);
  const [media, engagement_id, operator_id] = ['text', randomUUID(), randomUUID()];
  const routes = {
    'POST /queue_tickets': { token: visitor.token, body: { site_id, media } },
    'POST /engagement_requests': { token: visitor.token, body: { site_id, media, operator_id } },
    'POST /transfer_requests': { token: admin, body: { engagement_id, operator_id } },
    'POST /transfer_tickets': { token: admin, body: { engagement_id, media, queue_id: randomUUID() } },
  };
  const [good, bad] = ['http://93.184.215.14/', 'http://169.254.169.254/'].map((url) => ({
    url,
    method: 'POST',
    events: ['engagement.start'],
  }));
  for (const [route, { token, body }] of Object.entries(routes)) {
    const answer = await call(server, route, { token, body: { ...body, webhooks: [good, bad] } });
    const attributes = expectStatus(answer, 422).body.details.map(({ attribute }: Json) => attribute);
    assert.deepEqual(attributes, ['/webhooks/1/url'], route);
  }
});
