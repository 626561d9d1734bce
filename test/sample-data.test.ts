import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SiteId } from '../packages/server/src/platform/ids.ts';
import { startCluster } from './support/cluster.ts';
import type { UsherProcess } from './support/process.ts';
import { fileForm } from './support/files.ts';
import { call, startTestServer, until, type Json, type TestServer } from './support/server.ts';
import { makeWebhook } from './support/webhooks.ts';
import {
  acceptOffer,
  enqueue,
  eventsOf,
  expectStatus,
  makeAccount,
  makeOperator,
  makePresent,
  makeQueue,
  makeSite,
  makeVisitor,
  offersOf,
  present,
  type Reached,
  type TestAccount,
} from './support/world.ts';

/** Twenty times as fast as people live: what takes minutes is seen in seconds. */
const pace = { speed: 20, lookEveryMs: 50 };
/** For what has to happen by chance, on a machine that is busy. */
const patienceMs = 60_000;

let server: TestServer;
before(async () => {
  server = await startTestServer({}, undefined, pace);
});
after(async () => server[Symbol.asyncDispose]());

async function sample(who: TestAccount, action: 'GET' | 'POST' | 'DELETE', on: Reached = server): Promise<Json> {
  const answer = await call(on, `${action} /sample_data`, { token: who.admin });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

async function change(who: TestAccount, action: 'start' | 'stop'): Promise<Json> {
  const body = { action };
  return expectStatus(await call(server, 'PATCH /sample_data', { token: who.admin, body }), 200).body;
}

async function started(): Promise<{ who: TestAccount; site: SiteId }> {
  const who = await makeAccount(server);
  const { site_id: site } = await sample(who, 'POST');
  return { who, site };
}

async function count(table: string, site: string, more = 'true', on: Reached = server): Promise<number> {
  const { sql } = on.database;
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM ${sql(table)} WHERE site_id = ${site} AND ${sql.unsafe(more)}`;
  return row?.count ?? 0;
}

async function removed(who: TestAccount): Promise<void> {
  await sample(who, 'DELETE');
  await until(async () => (await sample(who, 'GET')).state === 'none', patienceMs);
}

test('there is none at first; it is made once, and the caller sees all of it', async () => {
  const who = await makeAccount(server);
  assert.deepEqual(await sample(who, 'GET'), { state: 'none', site_id: null, started_at: null });
  const made = expectStatus(await call(server, 'POST /sample_data', { token: who.admin }), 201).body;
  assert.equal(made.state, 'running');
  const again = expectStatus(await call(server, 'POST /sample_data', { token: who.admin }), 200).body;
  assert.deepEqual(again, made);
  const read = async (path: string): Promise<Json> =>
    expectStatus(await call(server, `GET ${path}`, { token: who.admin }), 200).body;
  const { sites } = await read('/sites');
  assert.deepEqual(
    sites.map(({ name }: Json) => name),
    ['First site', 'Sample shop'],
  );
  const on = `site_ids[]=${made.site_id}`;
  assert.equal((await read(`/teams?${on}`)).teams.length, 4);
  const { operators } = await read(`/operators?${on}&include_offline=true`);
  assert.equal(operators.filter(({ email }: Json) => email.endsWith('@sample.example.com')).length, 8);
  assert.ok(operators.some(({ id }: Json) => id === who.adminId));
  const { queues } = await read(`/queues?${on}`);
  assert.equal(queues.length, 6);
  assert.ok(queues.some(({ self_status }: Json) => self_status === 'closed'));
  assert.equal((await read(`/webhooks`)).webhooks[0].site_ids[0], made.site_id);
  await assertValid(who, made.site_id, queues);
  const day = `from=${new Date(Date.now() - 86_400_000).toISOString()}&to=${new Date().toISOString()}`;
  const support = queues.find(({ name }: Json) => name === 'Support (sample)');
  assert.ok((await read(`/queues/${support.id}/stats?${day}`)).arrivals > 20, 'the day before is not empty');
  await removed(who);
});

/** What was written past the API's own rules keeps them: it can be written again through the API as it is read. */
async function assertValid(who: TestAccount, site: string, queues: readonly Json[]): Promise<void> {
  for (const { id, ...queue } of queues) {
    expectStatus(await call(server, `PUT /queues/${id}`, { token: who.admin, body: queue }), 200);
  }
  const listed = await call(server, `GET /queues/scheduling_policies?site_ids[]=${site}`, { token: who.admin });
  assert.equal(listed.body.scheduling_policies.length, 3);
  for (const { id, ...policy } of listed.body.scheduling_policies) {
    const path = `PUT /queues/scheduling_policies/${id}`;
    expectStatus(await call(server, path, { token: who.admin, body: policy }), 200);
  }
}

test('two at once make one', async () => {
  const who = await makeAccount(server);
  const answers = await Promise.all(
    Array.from({ length: 5 }, async () => call(server, 'POST /sample_data', { token: who.admin })),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 200, 200, 201]);
  assert.equal(new Set(answers.map(({ body }) => body.site_id)).size, 1);
  const { sites } = (await call(server, 'GET /sites', { token: who.admin })).body;
  assert.equal(sites.length, 2);
  await removed(who);
});

test('it is for a super_manager of some site, with a token that reaches all of them', async () => {
  const who = await makeAccount(server);
  const manager = await makeOperator(server, who, [{ site_id: who.siteId, role: 'manager' }]);
  const limited = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: who.key.id, api_key_secret: who.key.secret, site_ids: [who.siteId] },
  });
  for (const token of [manager.token, limited.body.token]) {
    expectStatus(await call(server, 'POST /sample_data', { token }), 403);
    expectStatus(await call(server, 'PATCH /sample_data', { token, body: { action: 'stop' } }), 403);
    expectStatus(await call(server, 'DELETE /sample_data', { token }), 403);
  }
  expectStatus(await call(server, 'PATCH /sample_data', { token: who.admin, body: { action: 'start' } }), 404);
  expectStatus(await call(server, 'DELETE /sample_data', { token: who.admin }), 200);
});

test('another super_manager who asks for it joins it', async () => {
  const { who, site } = await started();
  const other = await makeOperator(server, who, [{ site_id: who.siteId, role: 'super_manager' }]);
  expectStatus(await call(server, 'POST /sample_data', { token: other.token }), 200);
  const { sites } = (await call(server, 'GET /sites', { token: other.token })).body;
  assert.ok(sites.some(({ id }: Json) => id === site));
  await removed(who);
});

test('things move; stopped nothing does; started again they do', async () => {
  const { who, site } = await started();
  const { started_at: first } = await sample(who, 'GET');
  const told = async (type: string): Promise<boolean> => (await count('events', site, `type = '${type}'`)) > 0;
  await until(async () => told('engagement.start'), patienceMs);
  await until(async () => told('engagement.end'), patienceMs);
  // Not all by way of the queue that takes everybody, nor all by text.
  await until(async () => {
    const [row] = await server.database.sql<{ queues: number; media: number }[]>`
      SELECT count(DISTINCT queue_id)::integer AS queues, count(DISTINCT media)::integer AS media
        FROM engagements WHERE site_id = ${site}`;
    return (row?.queues ?? 0) >= 4 && (row?.media ?? 0) >= 3;
  }, patienceMs);
  await until(async () => (await count('queue_tickets', site, `state = 'canceled'`)) > 0, patienceMs);
  await until(async () => (await count('engagement_requests', site, `fail_reason IS NOT NULL`)) > 0, patienceMs);
  await until(async () => {
    const [row] = await server.database.sql`
      SELECT 1 FROM chat_messages m JOIN engagements e ON e.id = m.engagement_id
       WHERE e.site_id = ${site} AND m.attachment ->> 'type' = 'single_choice_response'`;
    return row !== undefined;
  }, patienceMs);
  await until(async () => {
    const [row] = await server.database.sql`
      SELECT 1 FROM media_upgrade_requests u JOIN engagements e ON e.id = u.engagement_id
       WHERE e.site_id = ${site} AND u.state = 'accepted'`;
    return row !== undefined;
  }, patienceMs);
  await until(async () => (await count('sub_engagements', site)) > 0, patienceMs);
  await until(async () => {
    const [row] = await server.database.sql<{ delivered: number; retried: number }[]>`
      SELECT count(*) FILTER (WHERE l.state = 'delivered')::integer AS delivered,
             count(*) FILTER (WHERE l.state = 'retrying')::integer AS retried
        FROM delivery_log l JOIN sample_data s ON s.webhook_id = l.webhook_id
       WHERE s.site_id = ${site}`;
    return (row?.delivered ?? 0) > 0 && (row?.retried ?? 0) > 0;
  }, patienceMs);

  assert.equal((await change(who, 'stop')).state, 'stopped');
  const { sql } = server.database;
  await until(async () => (await sql`SELECT 1 FROM sample_data WHERE site_id = ${site} AND settled`).length === 1);
  const read = async (path: string): Promise<Json> => (await call(server, path, { token: who.admin })).body;
  assert.equal((await read(`GET /engagements?site_ids[]=${site}&state=active`)).engagements.length, 0);
  assert.equal((await read(`GET /operators?site_ids[]=${site}`)).operators.length, 0);
  const before = await count('events', site);
  // As long as it takes for visitors to come to another sample, at the same pace.
  const other = await started();
  await until(async () => (await count('visitors', other.site)) >= 5, patienceMs);
  assert.equal(await count('events', site), before);

  const { started_at } = await change(who, 'start');
  assert.ok(Date.parse(started_at) > Date.parse(first));
  await until(async () => (await count('events', site)) > before, patienceMs);
  await removed(who);
  await removed(other.who);
});

test('what happens fits the catalogue of events, and nothing fails', async () => {
  const { who, site } = await started();
  await until(async () => (await count('events', site, `type = 'engagement.end'`)) > 3, patienceMs);
  assert.ok((await eventsOf(server, who)).length > 10);
  const wrong = server.logged.filter((line) => /"level":"(error|fatal)"|"status":500/.test(line));
  assert.deepEqual(wrong, []);
  await removed(who);
});

test('a person is left some of the visitors, who talk to them, and nobody acts in their place', async () => {
  const { who, site } = await started();
  const me = { id: who.adminId, token: who.admin };
  await present(server, me, { media: ['text'] });
  await until(async () => (await offersOf(server, me)).length > 0, patienceMs);
  const engagement = await acceptOffer(server, me);
  const transcript = async (): Promise<Json[]> =>
    (await call(server, `GET /engagements/${engagement}/chat_transcript`, { token: who.admin })).body;
  await until(async () => (await transcript()).some(({ sender }) => sender.type === 'visitor'), patienceMs);
  const mine = (await transcript()).filter(({ sender, type }) => sender.type === 'operator' && type === 'chat');
  // But for the welcome message of the queue.
  assert.ok(mine.length <= 1);
  const at = Date.now();
  const path = `PUT /engagements/${engagement}/chat_messages/${crypto.randomUUID()}`;
  expectStatus(await call(server, path, { token: who.admin, body: { content: 'Hello, I am real.' } }), 200);
  await until(
    async () =>
      (await transcript()).some(({ sender, created_at }) => sender.type === 'visitor' && Date.parse(created_at) > at),
    patienceMs,
  );
  const [row] = await server.database.sql<{ operator_id: string; end_reason: string | null }[]>`
    SELECT operator_id, end_reason FROM engagements WHERE id = ${engagement} AND site_id = ${site}`;
  assert.equal(row?.operator_id, who.adminId);
  assert.ok(row.end_reason === null || row.end_reason === 'visitor_hung_up');
  await removed(who);
});

test('a visitor who is real is served, and neither leaves nor speaks by itself', async () => {
  const { who, site } = await started();
  const visitor = await makeVisitor(server, who, site);
  const { queues } = (await call(server, `GET /queues?site_ids[]=${site}`, { token: who.admin })).body;
  const support = queues.find(({ name }: Json) => name === 'Support (sample)').id;
  await until(async () => {
    const body = { site_id: site, media: 'text', queue_id: support };
    return (await call(server, 'POST /queue_tickets', { token: visitor.token, body })).status < 300;
  }, patienceMs);
  let engagement = '';
  await until(async () => {
    const path = `GET /engagements?site_ids[]=${site}&state=active`;
    const { engagements } = (await call(server, path, { token: visitor.token })).body;
    engagement = engagements[0]?.id ?? '';
    return engagement !== '';
  }, patienceMs);
  const path = `/engagements/${engagement}`;
  const body = { content: 'Is anybody there?' };
  expectStatus(
    await call(server, `PUT ${path}/chat_messages/${crypto.randomUUID()}`, { token: visitor.token, body }),
    200,
  );
  expectStatus(await call(server, `POST ${path}/files`, { token: visitor.token, body: fileForm('Hello') }), 200);
  const said = async (): Promise<string[]> => {
    const { body: messages } = await call(server, `GET ${path}/chat_transcript`, { token: visitor.token });
    return messages.filter(({ type }: Json) => type === 'chat').map(({ sender }: Json) => sender.type);
  };
  await until(async () => (await said()).at(-1) === 'operator', patienceMs);
  assert.equal((await said()).filter((type) => type === 'visitor').length, 1);
  await removed(who);
});

/** Everything that exists: each row of each table, as text, by the table. */
async function everything(): Promise<Map<string, string[]>> {
  const { sql } = server.database;
  const tables = await sql<{ name: string }[]>`
    SELECT c.relname AS name
      FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`;
  const found = new Map<string, string[]>();
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`SELECT to_jsonb(t)::text AS row FROM ${sql(name)} t`;
    found.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return found;
}

/** They name what moved, for processes that lag behind; nobody sees them, and they go within the hour. */
const passing = new Set(['board_moves', 'migrations']);

test('removed, no row names anything of it; and what is the user’s own is as it was', async () => {
  const who = await makeAccount(server);
  const own = await makeOwn(who);
  const { site_id: site } = await sample(who, 'POST');
  const { sql } = server.database;
  const [made] = await sql<{ operator_ids: string[]; webhook_id: string }[]>`
    SELECT operator_ids, webhook_id FROM sample_data WHERE site_id = ${site}`;
  assert.ok(made !== undefined);
  const attached = await attachOwn(who, site, own);
  await until(async () => (await count('events', site, `type = 'engagement.end'`)) > 2, patienceMs);
  await until(
    async () => (await sql`SELECT 1 FROM delivery_log WHERE webhook_id = ${attached.both}`).length > 0,
    patienceMs,
  );
  const ids = [site, ...made.operator_ids, made.webhook_id];
  for (const table of ['teams', 'queues', 'scheduling_policies', 'visitors', 'queue_tickets', 'engagements'])
    ids.push(
      ...(
        await sql<{ id: string }[]>`SELECT id FROM ${sql(table)} WHERE site_id = ${site} AND id <> ${own.visitor.id}`
      ).map(({ id }) => id),
    );
  await removed(who);

  for (const [table, rows] of await everything()) {
    if (passing.has(table)) continue;
    const left = rows.filter((row) => ids.some((id) => row.includes(id)));
    assert.deepEqual(left, [], `left in ${table}`);
  }
  await assertOwn(who, own, attached);
  const { sites } = (await call(server, 'GET /sites', { token: who.admin })).body;
  assert.deepEqual(
    sites.map(({ id }: Json) => id),
    [who.siteId],
  );
});

interface Own {
  readonly queue: string;
  readonly visitor: { readonly id: string; readonly token: string };
  readonly operator: { readonly id: string; readonly token: string };
  readonly engagement: string;
  readonly events: number;
}

/** What a user has before there is sample data. */
async function makeOwn(who: TestAccount): Promise<Own> {
  const queue = await makeQueue(server, who);
  const operator = await makePresent(server, who);
  const { visitor } = await enqueue(server, who, queue);
  await until(async () => (await offersOf(server, operator)).length > 0);
  const engagement = await acceptOffer(server, operator);
  return { queue, visitor, operator, engagement, events: await count('events', who.siteId) };
}

interface Attached {
  readonly only: string;
  readonly both: string;
  readonly all: string;
}

/** What a user may tie to the sample: an operator in a team, webhooks, a fallback, a name of its own for a queue. */
async function attachOwn(who: TestAccount, site: SiteId, own: Own): Promise<Attached> {
  const ask = async (request: string, body: unknown): Promise<Json> => {
    const answer = await call(server, request, { token: who.admin, body });
    assert.ok(answer.status < 300, `${request}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const [team] = (await call(server, `GET /teams?site_ids[]=${site}`, { token: who.admin })).body.teams;
  const assignments = [
    { site_id: who.siteId, role: 'operator' },
    { site_id: site, role: 'operator', team_ids: [team.id] },
  ];
  await ask(`PATCH /operators/${own.operator.id}`, { assignments });
  const { queues } = (await call(server, `GET /queues?site_ids[]=${site}`, { token: who.admin })).body;
  const { id, ...first } = queues[0];
  await ask(`PUT /queues/${id}`, { ...first, name: 'Renamed by hand' });
  await ask('POST /queues', {
    site_id: site,
    name: 'By hand',
    capacity_policy: { type: 'fixed', capacity: 1 },
    routing_policy: {},
    fallback_queue_id: own.queue,
  });
  const { body: mine } = await call(server, `GET /queues/${own.queue}`, { token: who.admin });
  await ask(`PUT /queues/${own.queue}`, { ...mine, fallback_queue_id: id });
  const events = { events: ['engagement.start', 'engagement.end'] };
  const only = await makeWebhook(server, who, { ...events, site_ids: [site] });
  const both = await makeWebhook(server, who, { ...events, site_ids: [site, who.siteId] });
  const all = await makeWebhook(server, who, { ...events, site_ids: null });
  return { only: only.id, both: both.id, all: all.id };
}

async function assertOwn(who: TestAccount, own: Own, { only, both, all }: Attached): Promise<void> {
  const read = async (path: string): Promise<Json> =>
    expectStatus(await call(server, `GET ${path}`, { token: who.admin }), 200).body;
  const webhook = async (id: string): Promise<Json> => {
    const { site_ids, enabled } = await read(`/webhooks/${id}`);
    return { site_ids, enabled };
  };
  assert.deepEqual(await webhook(only), { site_ids: [], enabled: false });
  assert.deepEqual(await webhook(both), { site_ids: [who.siteId], enabled: true });
  assert.deepEqual(await webhook(all), { site_ids: null, enabled: true });
  assert.equal((await read(`/queues/${own.queue}`)).fallback_queue_id, null);
  const operator = await read(`/operators/${own.operator.id}`);
  assert.deepEqual(operator.assignments, [{ site_id: who.siteId, role: 'operator', team_ids: [] }]);
  const engagement = await read(`/engagements/${own.engagement}`);
  assert.equal(engagement.state, 'active');
  assert.equal(await count('events', who.siteId), own.events);
  const { visitor } = own;
  expectStatus(await call(server, `GET /sites/${who.siteId}/visitors/${visitor.id}`, { token: visitor.token }), 200);
  const end = { token: own.operator.token, body: { action: 'end' } };
  expectStatus(await call(server, `PATCH /engagements/${own.engagement}`, end), 200);
}

test('a visitor from before who was moved to the sample site goes back; while it is removed none is made', async () => {
  const who = await makeAccount(server);
  const visitor = await makeVisitor(server, who);
  const { site_id: site } = await sample(who, 'POST');
  const body = { site_id: site };
  expectStatus(await call(server, `PATCH /visitors/${visitor.id}`, { token: visitor.token, body }), 200);
  await sample(who, 'DELETE');
  const again = await call(server, 'POST /sample_data', { token: who.admin });
  assert.ok(again.status === 201 || again.body.error === 'sample_data_removing', JSON.stringify(again.body));
  await removed(who);
  const path = `GET /sites/${who.siteId}/visitors/${visitor.id}`;
  expectStatus(await call(server, path, { token: who.admin }), 200);
});

test('a sample operator put to work on a real site is never made to act there', async () => {
  const { who, site } = await started();
  const other = await makeSite(server, who);
  const [row] = await server.database.sql<{ id: string }[]>`
    SELECT operator_ids[1] AS id FROM sample_data WHERE site_id = ${site}`;
  const assignments = [{ site_id: site }, { site_id: other }];
  expectStatus(await call(server, `PATCH /operators/${row?.id}`, { token: who.admin, body: { assignments } }), 200);
  const queue = await makeQueue(server, { ...who, siteId: other }, { when_unstaffed: 'accept' });
  const elsewhere = { ...who, siteId: other };
  const ticket = await enqueue(server, elsewhere, queue);
  const { sql } = server.database;
  await until(
    async () => (await sql`SELECT 1 FROM engagement_requests WHERE ticket_id = ${ticket.id}`).length > 0,
    patienceMs,
  );
  await until(async () => (await count('events', site, `type = 'engagement.end'`)) > 0, patienceMs);
  const accepted = await sql`SELECT 1 FROM engagement_requests WHERE ticket_id = ${ticket.id} AND state = 'accepted'`;
  assert.equal(accepted.length, 0);
  await removed(who);
  const { body } = await call(server, `GET /queue_tickets/${ticket.id}`, { token: ticket.visitor.token });
  assert.equal(body.state, 'waiting');
});

test('of two processes one acts; killed, the other goes on; and after a restart a new one', async () => {
  await using cluster = await startCluster(2);
  const [first, second] = cluster.nodes;
  assert.ok(first !== undefined && second !== undefined);
  const one = cluster.reach(first);
  const who = await makeAccount(one);
  const { site_id: site } = await sample(who, 'POST', one);
  // A process logs whatever is asked of it, its own asking included.
  const acting = (): UsherProcess[] =>
    cluster.nodes.filter(({ output }) => output.includes('"route":"/queue_tickets"'));
  const arrived = async (): Promise<number> => count('visitors', site, 'true', one);
  await until(async () => (await arrived()) >= 2 && acting().length > 0, patienceMs);
  const [victim, ...others] = acting();
  assert.deepEqual(others, []);
  const survivor = victim === first ? second : first;
  await victim?.stop('SIGKILL');
  const known = await arrived();
  await until(async () => (await arrived()) > known && acting().includes(survivor), patienceMs);

  // Told to end it does, at once, and another could go on.
  assert.equal(await survivor.stop('SIGTERM'), 0);
  const [row] = await cluster.database.sql`SELECT 1 FROM sample_data WHERE leased_until <= now() AND state = 'running'`;
  assert.ok(row !== undefined);
  const again = await cluster.start();
  const left = await arrived();
  await until(async () => (await arrived()) > left && acting().includes(again), patienceMs);
});
