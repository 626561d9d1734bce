import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  makeVisitor,
  queueFields,
} from '../support/world.ts';

/** The routes that the board page reads: waiting tickets, visitors by id, and stats by interval. */
const server = await forThisFile(startTestServer());

const read = async (token: string, path: string): Promise<Json> =>
  expectStatus(await call(server, `GET ${path}`, { token }), 200).body;

test('active tickets of the sites are listed in order and by page, each as GET /queue_tickets/{id} shows it', async () => {
  const own = await makeAccount(server);
  const other = await makeSite(server, own);
  const [one, two] = [
    await makeQueue(server, own, { when_unstaffed: 'accept' }),
    await makeQueue(server, own, { when_unstaffed: 'accept' }),
  ];
  const elsewhere = await makeQueue(server, own, { site_id: other, when_unstaffed: 'accept' });
  const tickets = [];
  for (const queue of [one, two, one, one]) tickets.push(await enqueue(server, own, queue));
  const body = { site_id: other, media: 'text', queue_id: elsewhere };
  const there = await makeVisitor(server, own, other);
  const far = expectStatus(await call(server, 'POST /queue_tickets', { token: there.token, body }), 201).body;
  const [gone] = tickets;
  const cancel = { token: own.admin, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${gone?.id}`, cancel), 200);

  const found: Json[] = [];
  let path: string | null = `/queue_tickets?site_ids[]=${own.siteId}&per_page=2`;
  while (path !== null) {
    const page: Json = await read(own.admin, path);
    assert.ok(page.queue_tickets.length <= 2);
    found.push(...page.queue_tickets);
    path = page.next_page === null ? null : page.next_page.slice(server.url.length);
  }
  assert.deepEqual(
    found.map(({ id, position }) => [id, position]),
    [
      [tickets[1]?.id, 1],
      [tickets[2]?.id, 1],
      [tickets[3]?.id, 2],
    ],
  );
  assert.deepEqual(found[2], await read(own.admin, `/queue_tickets/${tickets[3]?.id}`));
  const both = await read(own.admin, `/queue_tickets?site_ids[]=${own.siteId}&site_ids[]=${other}`);
  assert.deepEqual([both.queue_tickets.length, both.queue_tickets.at(-1).id, both.next_page], [4, far.id, null]);
  const bad = await call(server, `GET /queue_tickets?site_ids[]=${own.siteId}&cursor=x`, { token: own.admin });
  assert.equal(expectStatus(bad, 422).body.details[0].attribute, '/cursor');
});

test('a transfer to a queue is counted in the queue and listed with the transfers, but not as a ticket of the visitor', async () => {
  const own = await makeAccount(server);
  const [sales, office] = [await makeQueue(server, own), await makeQueue(server, own)];
  const operator = await makeAvailableOperator(server, own, { media: ['text'] });
  await enqueue(server, own, sales);
  const body = { engagement_id: await acceptOffer(server, operator), queue_id: office, media: 'text' };
  const made = expectStatus(await call(server, 'POST /transfer_tickets', { token: operator.token, body }), 201).body;
  const listed = await read(own.admin, `/transfer_tickets?site_ids[]=${own.siteId}`);
  assert.deepEqual([listed.transfer_tickets, listed.next_page], [[made], null]);
  const queue = await read(own.admin, `/queues/${office}`);
  assert.deepEqual([queue.visitors_count, queue.staffed], [1, true]);
  assert.deepEqual((await read(own.admin, `/queue_tickets?site_ids[]=${own.siteId}`)).queue_tickets, []);
  const refused = await call(server, `GET /transfer_tickets?site_ids[]=${own.siteId}`, { token: operator.token });
  expectStatus(refused, 403);
  expectStatus(await call(server, `PUT /operators/${operator.id}/presence`, { token: operator.token, body: { available: false } }), 200); // prettier-ignore
  assert.equal((await read(own.admin, `/queues/${office}`)).staffed, false);
});

test('visitors are read by id on sites where the caller has a role, and on no others', async () => {
  const own = await makeAccount(server);
  const strangers = await makeAccount(server);
  const mine = await makeVisitor(server, own);
  const theirs = await makeVisitor(server, strangers);
  const ids = [mine.id, theirs.id, randomUUID()].map((id) => `ids[]=${id}`).join('&');
  const { visitors } = await read(own.admin, `/visitors?${ids}`);
  assert.deepEqual(
    visitors.map(({ id }: Json) => id),
    [mine.id],
  );
  assert.deepEqual(visitors[0], await read(own.admin, `/sites/${own.siteId}/visitors/${mine.id}`));
  const many = Array.from({ length: 101 }, () => `ids[]=${randomUUID()}`).join('&');
  for (const query of ['', `?${many}`, '?ids[]=nobody'])
    expectStatus(await call(server, `GET /visitors${query}`, { token: own.admin }), 422);
});

const outcomes = ['engaged', 'engaged_elsewhere', 'canceled', 'visitor_left', 'unstaffed', 'expired', 'moved'];

test('each interval of a series equals the stats of the queue for that interval, also at its edges', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const quiet = await makeQueue(server, own);
  // Real visits: one visitor left, one is engaged, one still waits.
  const left = await enqueue(server, own, queue);
  await enqueue(server, own, queue);
  const cancel = { token: own.admin, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${left.id}`, cancel), 200);
  await acceptOffer(server, await makeAvailableOperator(server, own));
  await enqueue(server, own, queue);
  // Inserted visits of the day before, some exactly on the edges of intervals.
  const start = Date.now() - 86_400_000;
  const edges = [0, 899_999, 900_000, 900_001, 1_800_000, 86_399_999].map((ms) => start + ms);
  const entered = [...edges, ...Array.from({ length: 150 }, (_, n) => start + ((n * 7_919_113) % 80_000_000))];
  const rows = entered.map((at, n) => ({ at, left: at + n * 400, outcome: outcomes[n % outcomes.length] ?? '' }));
  const { sql } = server.database;
  await sql`
    INSERT INTO queue_visits (account_id, queue_id, ticket_id, enqueued_at, entered_at, left_at, outcome)
    SELECT q.account_id, q.id, gen_random_uuid(), to_timestamp(r.at / 1000), to_timestamp(r.at / 1000),
           to_timestamp(r.left / 1000), r.outcome
      FROM queues q, jsonb_to_recordset(${sql.json(rows)}) AS r (at numeric, "left" numeric, outcome text)
     WHERE q.id = ${queue}`;
  // The range is a minute longer than a day, so the last interval is short.
  const [from, to] = [start, Date.now() + 60_000].map((at) => new Date(at).toISOString());
  const period = `from=${from}&to=${to}&service_level_sec=30`;
  const path = `/queues/stats?site_ids[]=${own.siteId}&${period}&interval_sec=900`;
  const series = await read(own.admin, path);
  assert.equal(series.intervals.length, 97);
  assert.deepEqual([series.intervals[0].from, series.intervals.at(-1).to], [from, to]);
  for (const [n, interval] of series.intervals.entries()) {
    if (n > 0) assert.equal(interval.from, series.intervals[n - 1].to);
    const single = await read(
      own.admin,
      `/queues/${queue}/stats?from=${interval.from}&to=${interval.to}&service_level_sec=30`,
    );
    const { queue_id: _queue, service_level_sec: _level, ...figures } = single;
    assert.deepEqual(interval, figures);
  }
  const sum = (field: string): number => series.intervals.reduce((all: number, each: Json) => all + each[field], 0);
  assert.deepEqual([sum('arrivals'), sum('waiting')], [entered.length + 3, 1]);

  const named = await read(own.admin, `${path}&queue_ids[]=${queue}`);
  assert.deepEqual(named.intervals, series.intervals);
  const none = await read(own.admin, `${path}&queue_ids[]=${quiet}`);
  assert.ok(none.intervals.every((each: Json) => each.arrivals === 0 && each.average_wait_sec === null));
  assert.deepEqual((await read(own.admin, path.replace(`to=${to}`, `to=${from}`))).intervals, []);
});

test('a series is refused with too many intervals, a reversed range, or queues of other sites', async () => {
  const own = await makeAccount(server);
  const strangers = await makeAccount(server);
  const theirs = await makeQueue(server, strangers);
  const sites = `site_ids[]=${own.siteId}`;
  const day = 'from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z';
  const refusals: readonly [string, string][] = [
    [`${sites}&from=2027-01-01T00:00:00Z&to=2027-01-03T00:00:00Z&interval_sec=60`, '/interval_sec'],
    [`${sites}&from=2027-01-02T00:00:00Z&to=2027-01-01T00:00:00Z`, '/to'],
    [`${sites}&from=2027-01-01T00:00:00Z&to=2028-06-01T00:00:00Z`, '/to'],
    [`${sites}&${day}&interval_sec=59`, '/interval_sec'],
    [`${sites}&${day}&queue_ids[]=${theirs}`, '/queue_ids/0'],
  ];
  for (const [query, attribute] of refusals) {
    const answer = await call(server, `GET /queues/stats?${query}`, { token: own.admin });
    assert.equal(expectStatus(answer, 422).body.details[0].attribute, attribute);
  }
  const answer = await call(server, `GET /queues/stats?site_ids[]=${strangers.siteId}&${day}`, { token: own.admin });
  expectStatus(answer, 404);
});

test('the feed notifies operators of a changed queue, so that they can read it', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  await using feed = await openFeed(server, { token: own.admin });
  const renamed = { token: own.admin, body: { ...queueFields, name: 'Renamed' } };
  const { updated_at } = expectStatus(await call(server, `PUT /queues/${queue}`, renamed), 200).body;
  await feed.until(({ type, data }) => type === 'queue.state' && data.updated_at === updated_at);
});

test('active engagements are still listed', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const operator = await makeAvailableOperator(server, own);
  await enqueue(server, own, queue);
  const ended = await acceptOffer(server, operator);
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${ended}`, { token: operator.token, body }), 200);
  await enqueue(server, own, queue);
  const active = await acceptOffer(server, operator);
  const listed = async (state: string): Promise<string[]> =>
    (await read(own.admin, `/engagements?site_ids[]=${own.siteId}${state}`)).engagements.map(({ id }: Json) => id);
  assert.deepEqual(await listed('&state=active'), [active]);
  assert.deepEqual(await listed('&state=ended'), [ended]);
  assert.deepEqual(await listed(''), [active, ended]);
});
