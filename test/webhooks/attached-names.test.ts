import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { requestTicketWithWebhooks, engageWithWebhooks, makePage, openPage } from '../support/network/dead-names.ts';
import { startDns } from '../support/network/dns.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { webhookFields } from '../support/receivers/webhooks.ts';
import { expectStatus, makeAccount, makeVisitor, providerFields } from '../support/world.ts';

/** A lookup times out after 3 s. On a busy machine single requests may be slow, so the fastest one counts. */
const promptMs = 2_000;

test('no request waits for DNS', async () => {
  await using dns = await startDns(() => 'silent');
  await using server = await startTestServer({ dnsServers: [dns.address], trustProxy: true });
  const page = await makePage(server);
  const durationsMs: number[] = [];
  for (const name of ['a', 'b', 'c']) {
    const visitor = await openPage(page, '198.51.100.1');
    const startedAt = performance.now();
    expectStatus(await requestTicketWithWebhooks(page, visitor, '198.51.100.1', [`${name}.dead.test`]), 201);
    durationsMs.push(performance.now() - startedAt);
  }
  assert.ok(Math.min(...durationsMs) < promptMs, `it took ${durationsMs.join(', ')} ms`);
  // Names in attached webhooks are looked up in the background.
  await until(() => dns.queriedNames(/^[abc]\.dead/).length === 3);

  const { admin: token, siteId } = page.own;
  const webhook = { ...webhookFields, url: 'https://hook.dead.test/' };
  const provider = { ...providerFields(), issuer: 'https://idp.dead.test' };
  const { id } = expectStatus(await call(server, 'POST /webhooks', { token, body: webhookFields }), 201).body;
  expectStatus(await call(server, 'POST /webhooks', { token, body: webhook }), 201);
  expectStatus(await call(server, `PUT /webhooks/${id}`, { token, body: webhook }), 200);
  const path = `/sites/${siteId}/visitor_authentication_providers`;
  expectStatus(await call(server, `POST ${path}`, { token, body: provider }), 201);
  assert.deepEqual(dns.queriedNames(/hook|idp/), []);
});

test('a delivery that waits for DNS does not count as in flight', async () => {
  await using dns = await startDns(() => 'silent');
  await using server = await startTestServer({ dnsServers: [dns.address], trustProxy: true });
  const page = await makePage(server);
  const hosts = Array.from({ length: 10 }, (_, index) => `n${index}.dead.test`);
  await engageWithWebhooks(page, '198.51.100.1', hosts);
  // The queries are sent at once; the lookups time out seconds later.
  await until(() => dns.queriedNames(/dead/).length === hosts.length);
  assert.equal(await metric(server, 'usher_deliveries_sending'), 0);
  await until(async () => {
    const failed = await server.database.sql`SELECT 1 FROM delivery_log WHERE error LIKE '%DNS%'`;
    return failed.length === hosts.length;
  });
});

test('webhooks may name 10 unresolvable hosts per visitor and 20 per IP address, and any number of resolvable ones', async () => {
  const good = { v4: ['127.0.0.1'] };
  await using dns = await startDns((name) => (name.startsWith('dead') ? 'absent' : good));
  await using server = await startTestServer({ dnsServers: [dns.address], trustProxy: true });
  const page = await makePage(server);
  const names = (prefix: string, count = 10): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}-${index}.test`);
  const [here, elsewhere] = ['198.51.100.1', '2001:db8::1'];
  const first = await openPage(page, here);
  expectStatus(await requestTicketWithWebhooks(page, first, here, names('dead-a')), 201);
  // The same names again do not count twice.
  expectStatus(await requestTicketWithWebhooks(page, first, here, names('dead-a')), 200);
  const more = expectStatus(await requestTicketWithWebhooks(page, first, here, names('dead-b', 1)), 429);
  assert.equal(more.body.error, 'too_many_unresolved_names');
  assert.match(more.body.detail, /^The limit of 10 unresolved host names/);
  assert.ok(Number(more.headers.get('retry-after')) > 0);

  const second = await openPage(page, here);
  expectStatus(await requestTicketWithWebhooks(page, second, here, names('dead-b')), 201);
  const third = await openPage(page, here);
  assert.match(
    expectStatus(await requestTicketWithWebhooks(page, third, here, names('dead-c', 1)), 429).body.detail,
    /^The limit of 20 unresolved host names/,
  );
  // Names that were already counted for this address do not count again.
  expectStatus(await requestTicketWithWebhooks(page, third, here, names('dead-a', 1)), 201);
  expectStatus(await requestTicketWithWebhooks(page, await openPage(page, elsewhere), elsewhere, names('dead-c')), 201);
  // An IPv6 /64 counts as one address.
  const neighbour = '2001:db8::2';
  expectStatus(await requestTicketWithWebhooks(page, await openPage(page, neighbour), neighbour, names('dead-d')), 201);
  expectStatus(
    await requestTicketWithWebhooks(page, await openPage(page, neighbour), neighbour, names('dead-e', 1)),
    429,
  );

  // A name that resolves no longer counts.
  const anotherAddress = '203.0.113.9';
  for (const prefix of ['good-a', 'good-b', 'good-c', 'good-d']) {
    const visitor = await openPage(page, anotherAddress);
    expectStatus(await requestTicketWithWebhooks(page, visitor, anotherAddress, names(prefix)), 201);
    await until(() => dns.queriedNames(new RegExp(`^${prefix}-`)).length === 10);
    await until(async () => (await lookupsInFlight(server)) === 0);
  }
});

async function lookupsInFlight(server: { readonly url: string }): Promise<number> {
  return metric(server, 'usher_name_lookups{state="under_way"}');
}

async function metric({ url }: { readonly url: string }, name: string): Promise<number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1));
}

test('a name that is known to resolve to a forbidden address is refused, and one that turns out to is not called', async () => {
  await using dns = await startDns(() => ({ v4: ['169.254.169.254'] }));
  await using server = await startTestServer({ dnsServers: [dns.address], trustProxy: true });
  const page = await makePage(server);
  const visitor = await openPage(page, '198.51.100.1');
  expectStatus(await requestTicketWithWebhooks(page, visitor, '198.51.100.1', ['metadata.test']), 201);
  await until(() => dns.queries.length >= 2);
  await until(async () => (await lookupsInFlight(server)) === 0);
  const refused = expectStatus(
    await requestTicketWithWebhooks(page, visitor, '198.51.100.1', ['metadata.test']),
    422,
  ).body;
  assert.equal(refused.details[0].attribute, '/webhooks/0/url');
  assert.doesNotMatch(JSON.stringify(refused), /169\.254/);
  const body = { ...webhookFields, url: 'https://metadata.test/' };
  const registered = expectStatus(await call(server, 'POST /webhooks', { token: page.own.admin, body }), 422).body;
  assert.match(registered.details[0].detail, /^metadata\.test resolves to 169\.254\.169\.254, which is not/);
});

test('every route that takes webhooks refuses forbidden addresses', async () => {
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
