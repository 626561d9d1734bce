import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster } from '../../support/processes/cluster.ts';
import { call, startTestServer, type Answer } from '../../support/server.ts';
import {
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeAvailableOperator,
  makeQueue,
  type ServerHandle,
  type TestAccount,
} from '../../support/world.ts';

/** Callers come through a proxy on this machine, which reports their addresses. */
const behindProxy = { trustProxy: ['127.0.0.1'] };
const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
const attacker = '198.51.100.7';
const bystander = '203.0.113.9';

async function makeVisitors(
  server: ServerHandle,
  token: string,
  { count, address }: { readonly count: number; readonly address: string },
): Promise<Answer[]> {
  const make = async (): Promise<Answer> => call(server, 'POST /visitors', { token, body: {}, headers: from(address) });
  return Promise.all(Array.from({ length: count }, make));
}

async function limit(
  server: ServerHandle,
  { admin, siteId }: TestAccount,
  limits: Record<string, number>,
): Promise<void> {
  const site = expectStatus(await call(server, `GET /sites/${siteId}`, { token: admin }), 200).body;
  const body = { visitor_limits: { ...site.visitor_limits, ...limits } };
  expectStatus(await call(server, `PATCH /sites/${siteId}`, { token: admin, body }), 200);
}

const statusesOf = (answers: readonly { readonly status: number }[]): Record<number, number> =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, same]) => [status, same.length]));

test('one IP address may create 60 visitors a minute with a publishable token; other addresses and secret tokens are not limited by it', async () => {
  await using server = await startTestServer(behindProxy);
  const account = await makeAccount(server);
  const { header: page } = await makeApplicationToken(server, account, 'publishable');
  const { header: bridge } = await makeApplicationToken(server, account, 'secret');
  const began = performance.now();
  const answers = await makeVisitors(server, page, { count: 100, address: attacker });
  const { 200: made = 0, 429: tooMany = 0 } = statusesOf(answers);
  // The limit refills by one per second meanwhile.
  assert.ok(made >= 60 && made <= 61 + (performance.now() - began) / 1000, String(made));
  assert.equal(tooMany, 100 - made);
  const refused = answers.find(({ status }) => status === 429);
  assert.equal(refused?.body.error, 'address_limit');
  assert.match(refused?.body.detail, /created 60 visitors .*new_visitors_per_minute/);
  assert.equal(refused?.headers.get('retry-after'), '1');
  assert.deepEqual(statusesOf(await makeVisitors(server, page, { count: 3, address: bystander })), { 200: 3 });
  assert.deepEqual(statusesOf(await makeVisitors(server, bridge, { count: 75, address: attacker })), { 200: 75 });
  // An IPv6 caller has a whole /64.
  const own = Array.from({ length: 100 }, async (_, index) =>
    makeVisitors(server, page, { count: 1, address: `2001:db8::${index}` }),
  );
  assert.ok((statusesOf((await Promise.all(own)).flat())[429] ?? 0) > 20);
  assert.deepEqual(statusesOf(await makeVisitors(server, page, { count: 1, address: '2001:db8:0:1::' })), { 200: 1 });
  await limit(server, account, { new_visitors_per_minute: 1_000 });
  assert.deepEqual(statusesOf(await makeVisitors(server, page, { count: 75, address: '198.51.100.8' })), { 200: 75 });
});

test('D9.8 one IP address has exactly ten positions in a queue, across processes and concurrent requests', async () => {
  await using cluster = await startCluster(2, { USHER_TRUST_PROXY: '127.0.0.1' });
  const nodes = cluster.nodes.map((node) => cluster.reach(node));
  const [first] = nodes;
  assert(first !== undefined);
  const account = await makeAccount(first);
  await limit(first, account, { new_visitors_per_minute: 10_000 });
  const queue = await makeQueue(first, account, {
    when_unstaffed: 'accept',
    capacity_policy: { type: 'fixed', capacity: 100 },
  });
  const { header: page } = await makeApplicationToken(first, account, 'publishable');
  const { header: bridge } = await makeApplicationToken(first, account, 'secret');
  const { siteId, admin } = account;
  const ask = async (token: string, index: number, address: string): Promise<Answer> => {
    const node = nodes[index % nodes.length] ?? first;
    const body = { site_id: siteId, media: 'text', queue_ids: [queue] };
    return call(node, 'POST /queue_tickets', { token, body, headers: from(address) });
  };
  const made = await makeVisitors(first, page, { count: 100, address: attacker });
  const tokens = made.map((answer) => expectStatus(answer, 200).body.access_token as string);
  const answers = await Promise.all(tokens.map(async (token, index) => ask(token, index, attacker)));
  assert.deepEqual(statusesOf(answers), { 201: 10, 429: 90 });
  const refused = answers.find(({ status }) => status === 429);
  assert.deepEqual([refused?.body.error, refused?.headers.get('retry-after')], ['address_limit', '30']);
  assert.match(refused?.body.detail, /10 open tickets .*open_tickets_per_address/);

  // Visitors of other addresses, and those created by the customer's servers, are not limited by it.
  const others = await makeVisitors(first, page, { count: 3, address: bystander });
  for (const [index, { body }] of others.entries()) expectStatus(await ask(body.access_token, index, bystander), 201);
  const bridged = await makeVisitors(first, bridge, { count: 20, address: attacker });
  const taken = await Promise.all(bridged.map(async ({ body }, index) => ask(body.access_token, index, attacker)));
  assert.deepEqual(statusesOf(taken), { 201: 20 });

  // A canceled ticket makes room for the address in all processes, and its address is deleted.
  const admitted = answers.findIndex(({ status }) => status === 201);
  const [ticket, holder = ''] = [answers[admitted], tokens[admitted]];
  const waiting = tokens.filter((_, index) => answers[index]?.status === 429);
  const path = `/queue_tickets/${ticket?.body.id}`;
  expectStatus(await call(first, `PATCH ${path}`, { token: holder, body: { action: 'cancel' } }), 200);
  const again = await Promise.all(waiting.slice(0, 4).map(async (token, index) => ask(token, index, attacker)));
  assert.deepEqual(statusesOf(again), { 201: 1, 429: 3 });
  const rows = await cluster.database.sql<{ address_hash: string | null; open: boolean }[]>`
    SELECT address_hash, ended_at IS NULL AS open FROM queue_tickets WHERE site_id = ${siteId}`;
  assert.ok(rows.every((row) => row.open || row.address_hash === null));
  const hashes = Map.groupBy(
    rows.filter(({ address_hash }) => address_hash !== null),
    (row) => row.address_hash,
  );
  assert.deepEqual(
    [...hashes.values()].map((same) => same.length).toSorted((a, b) => a - b),
    [3, 10],
  );
  assert.ok(![...hashes.keys()].some((hash) => hash?.includes(attacker)));
  const line = expectStatus(await call(first, `GET /queues/${queue}/tickets`, { token: admin }), 200).body;
  assert.equal(line.queue_tickets.length, 30);
  assert.ok(!JSON.stringify(line).includes('address'));
});

test('an untrusted proxy is logged once as a warning', async () => {
  await using server = await startTestServer();
  for (let count = 0; count < 3; count += 1) await call(server, 'GET /healthz', { headers: from(bystander) });
  const warnings = server.logged.filter((line) => line.includes('USHER_TRUST_PROXY is false'));
  assert.equal(warnings.length, 1);
  assert.ok(!warnings[0]?.includes(bystander));
});

test('requests to operators count with the tickets of their address', async () => {
  await using server = await startTestServer(behindProxy);
  const account = await makeAccount(server);
  await limit(server, account, { open_tickets_per_address: 2 });
  const { header: page } = await makeApplicationToken(server, account, 'publishable');
  const operators = await Promise.all(Array.from({ length: 3 }, async () => makeAvailableOperator(server, account)));
  const visitors = await makeVisitors(server, page, { count: 3, address: attacker });
  const answers = [];
  for (const [index, { body }] of visitors.entries()) {
    const request = { site_id: account.siteId, media: 'text', operator_id: operators[index]?.id };
    const options = { token: body.access_token, body: request, headers: from(attacker) };
    answers.push(await call(server, 'POST /engagement_requests', options));
  }
  assert.deepEqual(statusesOf(answers), { 201: 2, 429: 1 });
  const [pending] = answers;
  const decline = { token: operators[0]?.token, body: { action: 'decline' } };
  expectStatus(await call(server, `PATCH /engagement_requests/${pending?.body.id}`, decline), 200);
  const [row] = await server.database.sql`SELECT address_hash FROM engagement_requests WHERE id = ${pending?.body.id}`;
  assert.equal(row?.['address_hash'], null);
});

test('all visitors of one IP address share one limit, and refusals are throttled', async () => {
  await using server = await startTestServer({ ...behindProxy, rateLimitPerToken: 60 });
  const account = await makeAccount(server);
  const { header: page } = await makeApplicationToken(server, account, 'publishable');
  const visitors = await makeVisitors(server, page, { count: 10, address: attacker });
  const tokens = visitors.map(({ body }) => body.access_token as string);
  const look = async (token: string, address: string): Promise<Answer> =>
    call(server, 'GET /engagement_requests', { token, headers: from(address) });
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => look(tokens[index % tokens.length] ?? '', attacker)),
  );
  const statuses = statusesOf(answers);
  // The burst is 30. Creating the visitors used ten, and the limit refills by one per second.
  assert.ok((statuses[200] ?? 0) >= 20 && (statuses[200] ?? 0) <= 23, JSON.stringify(statuses));
  assert.match(
    answers.find(({ status }) => status === 429)?.body.detail,
    /requests in a minute from visitors of this IP address/,
  );
  const refusals = statuses[429] ?? 0;
  assert.ok(performance.now() - began > (refusals - 2) * 50, 'refusals are paced');
  // A visitor of another address is not throttled.
  const [other] = await makeVisitors(server, page, { count: 1, address: bystander });
  expectStatus(await look(other?.body.access_token, bystander), 200);
});

test('with ticket_needs_presence a ticket starts with a presence of one minute, and each renewal lasts two minutes at most', async () => {
  await using server = await startTestServer();
  const account = await makeAccount(server);
  const { admin, siteId } = account;
  await makeQueue(server, account, { when_unstaffed: 'accept' });
  expectStatus(
    await call(server, `PATCH /sites/${siteId}`, { token: admin, body: { ticket_needs_presence: true } }),
    200,
  );
  const { header: page } = await makeApplicationToken(server, account, 'publishable');
  const visitor = expectStatus(await call(server, 'POST /visitors', { token: page, body: {} }), 200).body;
  const token = visitor.access_token;
  const ticket = expectStatus(
    await call(server, 'POST /queue_tickets', { token, body: { site_id: siteId, media: 'text' } }),
    201,
  ).body;
  const lastsSec = async (): Promise<number> => {
    const read = await call(server, `GET /sites/${siteId}/visitors/${visitor.id}`, { token });
    return (Date.parse(read.body.presence_expires_at) - Date.now()) / 1000;
  };
  const initialSec = await lastsSec();
  assert.ok(initialSec > 50 && initialSec <= 61, String(initialSec));
  const say = async (seconds: number): Promise<Answer> =>
    call(server, `PUT /visitors/${visitor.id}/presence`, { token, body: { expires_in_sec: seconds } });
  expectStatus(await say(86_400), 200);
  const longest = await lastsSec();
  assert.ok(longest > 110 && longest <= 121, String(longest));
  expectStatus(await say(1), 200);
  let state = 'waiting';
  while (state === 'waiting')
    state = expectStatus(await call(server, `GET /queue_tickets/${ticket.id}`, { token }), 200).body.state;
  assert.equal(state, 'visitor_left');
});
