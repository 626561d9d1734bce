import assert from 'node:assert/strict';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';

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
