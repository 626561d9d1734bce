import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropUnusedVisitors } from '../../packages/server/src/identity/visitors/sweep.ts';
import { openFeed } from '../support/people/feed.ts';
import { openWorld } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import {
  acceptOffer,
  requestTicket,
  expectStatus,
  makeApplicationToken,
  makeAvailableOperator,
  makeQueue,
  makeVisitor,
  offersOf,
  type TestVisitor,
} from '../support/world.ts';

const { server, account } = await openWorld();
const page = (await makeApplicationToken(server, account, 'publishable')).header;
const bridge = (await makeApplicationToken(server, account, 'secret')).header;
const wide = { new_visitors_per_minute: 10_000, open_tickets_per_address: 10_000, open_feeds_per_address: 100 };
const body = { visitor_limits: wide };
expectStatus(await call(server, `PATCH /sites/${account.siteId}`, { token: account.admin, body }), 200);

async function makePageVisitor(token = page): Promise<TestVisitor> {
  const { id, access_token } = expectStatus(await call(server, 'POST /visitors', { token, body: {} }), 200).body;
  return { id, token: access_token };
}

/** Sweeps as if the last tokens were issued `hours` ago. Returns the ids of the remaining visitors. */
async function sweepAfter(visitors: readonly TestVisitor[], hours: number): Promise<string[]> {
  const ids = visitors.map(({ id }) => id);
  const { sql } = server.database;
  await sql`
    UPDATE visitors SET token_issued_at = now() - make_interval(hours => ${hours})
     WHERE id = ANY(${ids}::uuid[]) AND token_issued_at IS NOT NULL`;
  const [now] = await sql<{ now: Date }[]>`SELECT now()`;
  await dropUnusedVisitors(sql, now?.now ?? new Date(), () => true);
  return (await sql<{ id: string }[]>`SELECT id FROM visitors WHERE id = ANY(${ids}::uuid[])`).map(({ id }) => id);
}

test('an unused visitor of a page is deleted two days after their last token, other visitors are kept', async () => {
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const ask = async (visitor: TestVisitor): Promise<string> =>
    expectStatus(await requestTicket(server, account, { queue_ids: [queue] }, visitor), 201).body.id;
  const unused = await Promise.all(Array.from({ length: 3 }, async () => makePageVisitor()));
  const named = await makePageVisitor();
  const path = `/sites/${account.siteId}/visitors/${named.id}`;
  expectStatus(await call(server, `PATCH ${path}`, { token: named.token, body: { email: 'a@b' } }), 200);
  const present = await makePageVisitor();
  const said = { token: present.token, body: { expires_in_sec: 60 } };
  expectStatus(await call(server, `PUT /visitors/${present.id}/presence`, said), 200);
  const canceled = await makePageVisitor();
  const cancel = { token: canceled.token, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${await ask(canceled)}`, cancel), 200);
  const engaged = await makePageVisitor();
  await ask(engaged);
  const operator = await makeAvailableOperator(server, account);
  await until(async () => (await offersOf(server, operator)).length > 0);
  await acceptOffer(server, operator);
  const waiting = await makePageVisitor();
  await ask(waiting);
  const vouched = await makePageVisitor();
  expectStatus(await call(server, `POST /visitors/${vouched.id}/token`, { token: bridge }), 200);
  const [bridged, invited] = [await makePageVisitor(bridge), await makeVisitor(server, account)];
  const kept = [named, present, canceled, engaged, waiting, vouched, bridged, invited];

  assert.equal((await sweepAfter([...unused, ...kept], 47)).length, unused.length + kept.length);
  const left = await sweepAfter([...unused, ...kept], 49);
  assert.deepEqual(left.toSorted(), kept.map(({ id }) => id).toSorted());
  // The sweep does not check kept visitors again.
  const [open] = await server.database
    .sql`SELECT count(*)::integer AS count FROM visitors WHERE token_issued_at IS NOT NULL`;
  assert.equal(open?.['count'], 0);
});

test('renewing the token keeps an unused visitor for two more days', async () => {
  const visitor = await makePageVisitor();
  const { sql } = server.database;
  await sql`UPDATE visitors SET token_issued_at = now() - interval '3 days' WHERE id = ${visitor.id}`;
  expectStatus(await call(server, `POST /visitors/${visitor.id}/token`, { token: visitor.token }), 200);
  await dropUnusedVisitors(sql, new Date(), () => true);
  expectStatus(await call(server, `POST /visitors/${visitor.id}/token`, { token: visitor.token }), 200);
});

test('the token of a deleted visitor gets 401 in every process, and their feed ends', async () => {
  await using other = await startTestServer({}, server.database.address);
  const visitor = await makePageVisitor();
  const feed = await openFeed(other, { token: visitor.token });
  const read = `GET /sites/${account.siteId}/visitors/${visitor.id}`;
  for (const each of [server, other]) expectStatus(await call(each, read, { token: visitor.token }), 200);
  assert.deepEqual(await sweepAfter([visitor], 49), []);
  await feed.ended;
  for (const each of [server, other]) {
    await until(async () => (await call(each, read, { token: visitor.token })).status === 401);
    for (const asking of ['GET /feed', 'GET /engagement_requests', `POST /visitors/${visitor.id}/token`])
      expectStatus(await call(each, asking, { token: visitor.token }), 401);
    const request = { token: visitor.token, body: { site_id: account.siteId, media: 'text' } };
    expectStatus(await call(each, 'POST /queue_tickets', request), 401);
  }
  expectStatus(await call(server, read, { token: account.admin }), 404);
});

test('a visitor who enqueues while being deleted gets a ticket or is unknown', async () => {
  const queue = await makeQueue(server, account, {
    when_unstaffed: 'accept',
    capacity_policy: { type: 'fixed', capacity: 1_000 },
  });
  const visitors = await Promise.all(Array.from({ length: 60 }, async () => makePageVisitor()));
  const asking = visitors.map(async (visitor, index) => {
    await new Promise((resolve) => setTimeout(resolve, index * 2));
    return requestTicket(server, account, { queue_ids: [queue] }, visitor);
  });
  const left = new Set(await sweepAfter(visitors, 49));
  const answers = await Promise.all(asking);
  for (const [index, { status }] of answers.entries()) {
    const id = visitors[index]?.id ?? '';
    if (left.has(id)) assert.equal(status, 201);
    else assert.ok(status === 401 || status === 404, String(status));
  }
  const lost = await server.database.sql`
    SELECT 1 FROM queue_tickets t WHERE site_id = ${account.siteId} AND NOT EXISTS (SELECT FROM visitors v WHERE v.id = t.visitor_id)`;
  assert.equal(lost.length, 0);
});
