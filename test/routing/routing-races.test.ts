import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, until, type Json } from '../support/server.ts';
import { startCluster, type Cluster } from '../support/processes/cluster.ts';
import { hangMs } from '../support/slowness.ts';
import {
  expectStatus,
  makeAccount,
  makeOperator,
  makeQueue,
  makeSite,
  makeVisitor,
  offersOf,
  setPresence,
  type ServerHandle,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from '../support/world.ts';

/** Three processes on one database must make the same decisions as a single process. */

async function many<T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let n = 0; n < count; n += 50)
    made.push(...(await Promise.all(Array.from({ length: Math.min(50, count - n) }, async (_, i) => make(n + i)))));
  return made;
}

function nodeOf(cluster: Cluster, n: number): ServerHandle {
  const node = cluster.nodes[n % cluster.nodes.length];
  assert.ok(node);
  return cluster.reach(node);
}

test('D2.3 of a thousand concurrent visitors exactly ten enter a queue of ten', { timeout: hangMs }, async () => {
  await using cluster = await startCluster(3);
  const account = await makeAccount(nodeOf(cluster, 0));
  const queue = await makeQueue(nodeOf(cluster, 0), account, { when_unstaffed: 'accept' });
  const visitors = await many(1_000, async (n) => makeVisitor(nodeOf(cluster, n), account));
  const body = { site_id: account.siteId, media: 'text', queue_id: queue };
  const answers = await Promise.all(
    visitors.map(async ({ token }, n) => call(nodeOf(cluster, n), 'POST /queue_tickets', { token, body })),
  );
  const statuses = answers.map(({ status, body: { error } }) => error ?? status);
  assert.equal(statuses.filter((status) => status === 201).length, 10);
  assert.equal(statuses.filter((status) => status === 'queue_full').length, 990);
  const positions = await Promise.all(
    answers.flatMap(({ status, body: ticket }, n) => {
      const { token = '' } = visitors[n] ?? {};
      if (status !== 201) return [];
      return [
        call(nodeOf(cluster, n + 1), `GET /queue_tickets/${ticket.id}`, { token }).then(
          (answer) => answer.body.position,
        ),
      ];
    }),
  );
  assert.deepEqual(
    positions.toSorted((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
});

const meeting = process.env['PROVE'] === undefined ? 80 : 200;

test(`${meeting} operators and ${meeting} visitors are matched, each exactly once`, { timeout: hangMs }, async () => {
  await using cluster = await startCluster(3);
  const account = await makeAccount(nodeOf(cluster, 0));
  const queue = await makeQueue(nodeOf(cluster, 0), account, {
    when_unstaffed: 'accept',
    capacity_policy: { type: 'fixed', capacity: 1_000 },
  });
  const operators = await many(meeting, async (n) =>
    makeOperator(nodeOf(cluster, n), account, [{ site_id: account.siteId, role: 'operator' }]),
  );
  const visitors = await many(meeting, async (n) => makeVisitor(nodeOf(cluster, n), account));
  const body = { site_id: account.siteId, media: 'text', queue_id: queue };
  await Promise.all([
    ...operators.map(async (operator, n) => setPresence(nodeOf(cluster, n), operator)),
    ...visitors.map(async ({ token }, n) =>
      expectStatus(await call(nodeOf(cluster, n + 1), 'POST /queue_tickets', { token, body }), 201),
    ),
  ]);
  const offers = await Promise.all(operators.map(async (operator, n) => offersOf(nodeOf(cluster, n), operator)));
  assert.deepEqual([...new Set(offers.map((each) => each.length))], [1]);
  assert.equal(new Set(offers.flat().map((offer) => offer.visitor_id)).size, meeting);
  const engaged = await Promise.all(
    operators.map(async ({ token }, n) =>
      call(nodeOf(cluster, n + 2), `PATCH /engagement_requests/${offers[n]?.[0].id}`, {
        token,
        body: { action: 'accept' },
      }),
    ),
  );
  assert.equal(new Set(engaged.map((answer) => expectStatus(answer, 200).body.engagement_id)).size, meeting);
  const [count] = await cluster.database.sql<{ started: number; waiting: number }[]>`
    SELECT (SELECT count(*)::integer FROM events WHERE type = 'engagement.start') AS started,
           (SELECT count(*)::integer FROM queue_tickets WHERE ended_at IS NULL) AS waiting`;
  assert.deepEqual(count, { started: meeting, waiting: 0 });
});

test('D4.4 an operator of two sites is never overbooked', { timeout: hangMs }, async () => {
  await using cluster = await startCluster(3);
  const account = await makeAccount(nodeOf(cluster, 0));
  const other = await makeSite(nodeOf(cluster, 0), account);
  const sites = [account.siteId, other];
  for (const site_id of sites)
    await makeQueue(nodeOf(cluster, 0), account, {
      site_id,
      when_unstaffed: 'accept',
      capacity_policy: { type: 'fixed', capacity: 100 },
    });
  const operator = await makeOperator(
    nodeOf(cluster, 0),
    account,
    sites.map((site_id) => ({ site_id, role: 'operator' })),
  );
  const change = await call(nodeOf(cluster, 1), `PATCH /operators/${operator.id}`, {
    token: account.admin,
    body: { max_engagement_count: 3 },
  });
  expectStatus(change, 200);
  await setPresence(nodeOf(cluster, 2), operator);
  const visitors = await many(60, async (n) =>
    makeVisitor(nodeOf(cluster, n), account, sites[n % 2] as TestAccount['siteId']),
  );
  await Promise.all(visitors.map(async (visitor, n) => enter(nodeOf(cluster, n), visitor, sites[n % 2] ?? '', n)));
  const served: string[] = [];
  while (served.length < 60) {
    const offers = await offersOf(nodeOf(cluster, served.length), operator);
    await assertLoad(cluster, operator);
    const started = await Promise.all(
      offers.map(async ({ id }: Json, n) => acceptOne(nodeOf(cluster, n), operator, id)),
    );
    await assertLoad(cluster, operator);
    await Promise.all(started.map(async (id, n) => end(nodeOf(cluster, n + 1), operator, id)));
    served.push(...started);
    assert.ok(offers.length > 0, 'a free operator gets an offer while visitors wait');
  }
  assert.equal(new Set(served).size, 60);
});

async function enter(server: ServerHandle, { token }: TestVisitor, site_id: string, n: number): Promise<void> {
  const body = { site_id, media: n % 5 === 0 ? 'audio' : 'text' };
  expectStatus(await call(server, 'POST /queue_tickets', { token, body }), 201);
}

async function acceptOne(server: ServerHandle, { token }: TestOperator, id: string): Promise<string> {
  const answer = await call(server, `PATCH /engagement_requests/${id}`, { token, body: { action: 'accept' } });
  return expectStatus(answer, 200).body.engagement_id;
}

async function end(server: ServerHandle, { token }: TestOperator, id: string): Promise<void> {
  expectStatus(await call(server, `PATCH /engagements/${id}`, { token, body: { action: 'end' } }), 200);
}

/** Asserts that the operator has at most three texts, or one engagement by another medium. */
async function assertLoad({ database }: Cluster, operator: TestOperator): Promise<void> {
  const rows = await database.sql<{ media: string }[]>`
    SELECT media FROM engagement_requests WHERE operator_id = ${operator.id} AND state = 'pending'
    UNION ALL
    SELECT media FROM engagements WHERE operator_id = ${operator.id} AND ended_at IS NULL`;
  const media = rows.map((row) => row.media);
  assert.ok(media.every((medium) => medium === 'text') ? media.length <= 3 : media.length === 1, media.join());
}

test(
  'a change in one process takes effect in another: configuration, presence and time',
  { timeout: hangMs },
  async () => {
    await using cluster = await startCluster(2);
    const [one, two] = [nodeOf(cluster, 0), nodeOf(cluster, 1)];
    const account = await makeAccount(one);
    const queue = await makeQueue(one, account, { when_unstaffed: 'accept' });
    const visitor = await makeVisitor(one, account);
    const body = { site_id: account.siteId, media: 'text', queue_id: queue };
    const ticket = expectStatus(await call(one, 'POST /queue_tickets', { token: visitor.token, body }), 201).body;
    const operator = await makeOperator(two, account, []);
    await setPresence(two, operator);
    assert.deepEqual(await offersOf(one, operator), []);
    // The second process assigns the operator; the first process enqueued the ticket.
    const assignments = [{ site_id: account.siteId, role: 'operator' }];
    expectStatus(
      await call(two, `PATCH /operators/${operator.id}`, { token: account.admin, body: { assignments } }),
      200,
    );
    await until(async () => (await offersOf(one, operator)).length === 1);
    // The processes with the timer of the offer are gone; a new process reads the deadline from the database.
    await Promise.all(cluster.nodes.map(async (node) => node.stop('SIGKILL')));
    await cluster.database.sql`UPDATE accounts SET next_due_at = next_due_at - interval '1 minute'`;
    await cluster.database.sql`
    UPDATE engagement_requests SET created_at = created_at - interval '1 minute' WHERE ticket_id = ${ticket.id}`;
    const three = cluster.reach(await cluster.start());
    const read = async () => call(three, `GET /queue_tickets/${ticket.id}`, { token: visitor.token });
    await until(async () => (await read()).body.state === 'waiting', 10_000);
    const failed = await call(three, 'GET /engagement_requests?state=failed', { token: operator.token });
    assert.equal(failed.body.engagement_requests[0].fail_reason, 'timed_out');
  },
);
