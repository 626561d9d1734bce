import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { SiteId } from '../../packages/server/src/platform/ids.ts';
import { forThisFile } from '../support/fixture.ts';
import {
  countRows,
  pace,
  patienceMs,
  removeSampleData,
  callSampleData,
  startSampleData,
} from '../support/people/sample-data.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  makeVisitor,
  offersOf,
  setPresence,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer({}, undefined, pace));

/** All rows of all tables, as text, by table. */
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

/** Tables that may still name the sample: board_moves is cleared within the hour, and the audit log keeps everything. */
const exempt = new Set(['board_moves', 'migrations', 'audit_log']);

test('after the removal no row refers to sample data, and the user’s own data is unchanged', async () => {
  const who = await makeAccount(server);
  const own = await makeOwn(who);
  const { site_id: site } = await callSampleData(server, who, 'POST');
  const { sql } = server.database;
  const [made] = await sql<{ operator_ids: string[]; webhook_id: string }[]>`
    SELECT operator_ids, webhook_id FROM sample_data WHERE site_id = ${site}`;
  assert.ok(made !== undefined);
  const attached = await attachOwn(who, site, own);
  await until(async () => (await countRows(server, 'events', site, `type = 'engagement.end'`)) > 2, patienceMs);
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
  await removeSampleData(server, who);

  for (const [table, rows] of await everything()) {
    if (exempt.has(table)) continue;
    const left = rows.filter((row) => ids.some((id) => row.includes(id)));
    assert.deepEqual(left, [], `left in ${table}`);
  }
  const pretended = await sql`SELECT 1 FROM audit_log WHERE actor_id = ANY(${made.operator_ids})`;
  assert.equal(pretended.length, 0, 'sample operators are in the audit log');
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

/** Creates the user's own data, before the sample data. */
async function makeOwn(who: TestAccount): Promise<Own> {
  const queue = await makeQueue(server, who);
  const operator = await makeAvailableOperator(server, who);
  const { visitor } = await enqueue(server, who, queue);
  await until(async () => (await offersOf(server, operator)).length > 0);
  const engagement = await acceptOffer(server, operator);
  return { queue, visitor, operator, engagement, events: await countRows(server, 'events', who.siteId) };
}

interface Attached {
  readonly only: string;
  readonly both: string;
  readonly all: string;
}

/** Connects the user's data with the sample: an operator in a team, webhooks, a fallback, a renamed queue. */
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
  assert.equal(await countRows(server, 'events', who.siteId), own.events);
  const { visitor } = own;
  expectStatus(await call(server, `GET /sites/${who.siteId}/visitors/${visitor.id}`, { token: visitor.token }), 200);
  const end = { token: own.operator.token, body: { action: 'end' } };
  expectStatus(await call(server, `PATCH /engagements/${own.engagement}`, end), 200);
}

test('presence intervals of own operators lose the sample site, and the account stays usable meanwhile', async () => {
  const who = await makeAccount(server);
  const colleague = await makeAvailableOperator(server, who);
  const { site_id: site } = await callSampleData(server, who, 'POST');
  const roles = [who.siteId, site].map((site_id) => ({ site_id, role: 'operator' }));
  const operator = await makeOperator(server, who, roles);
  await setPresence(server, operator, { media: ['video'] });
  await setPresence(server, operator, { available: false, reason: 'Lunch' });
  const { sql } = server.database;
  const sites = async (): Promise<string[][]> =>
    (
      await sql<{ site_ids: string[] }[]>`SELECT site_ids FROM presence_intervals WHERE operator_id = ${operator.id}`
    ).map(({ site_ids }) => site_ids);
  assert.ok((await sites()).some((ids) => ids.includes(site)));
  const other = server.database.connect({ max: 1 });
  await other.begin(async (holding) => {
    await holding`SELECT 1 FROM presence_intervals WHERE operator_id = ${operator.id} AND ended_at IS NOT NULL FOR UPDATE`;
    await callSampleData(server, who, 'DELETE');
    // While the removal waits for these rows, it blocks no other request.
    await until(async () => {
      const held = await sql`
        SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%UPDATE presence_intervals%'`;
      return held.length > 0;
    }, patienceMs);
    await setPresence(server, colleague, { media: ['text'] });
  });
  await other.end({ timeout: 1 });
  await until(async () => (await callSampleData(server, who, 'GET')).state === 'none', patienceMs);
  const left = await sites();
  assert.ok(left.length >= 2);
  for (const ids of left) assert.deepEqual(ids, [who.siteId]);
});

test('an older visitor on the sample site goes back, and no sample data is created during the removal', async () => {
  const who = await makeAccount(server);
  const visitor = await makeVisitor(server, who);
  const { site_id: site } = await callSampleData(server, who, 'POST');
  const body = { site_id: site };
  expectStatus(await call(server, `PATCH /visitors/${visitor.id}`, { token: visitor.token, body }), 200);
  await callSampleData(server, who, 'DELETE');
  const again = await call(server, 'POST /sample_data', { token: who.admin });
  assert.ok(again.status === 201 || again.body.error === 'sample_data_removing', JSON.stringify(again.body));
  await removeSampleData(server, who);
  const path = `GET /sites/${who.siteId}/visitors/${visitor.id}`;
  expectStatus(await call(server, path, { token: who.admin }), 200);
});

test('a visitor from another site keeps their conversations, including one that was transferred to the sample', async () => {
  const who = await makeAccount(server);
  const { site_id: site } = await callSampleData(server, who, 'POST');
  const queue = await makeQueue(server, who);
  const operator = await makeOperator(server, who, [{ site_id: who.siteId, role: 'operator' }]);
  await setPresence(server, operator);
  const { visitor } = await enqueue(server, who, queue);
  await until(async () => (await offersOf(server, operator)).length > 0);
  const engagement = await acceptOffer(server, operator);
  const assignments = [who.siteId, site].map((site_id) => ({ site_id, role: 'operator' }));
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: who.admin, body: { assignments } }), 200);
  const message = `/engagements/${engagement}/chat_messages/${randomUUID()}`;
  expectStatus(await call(server, `PUT ${message}`, { token: visitor.token, body: { content: 'Mine' } }), 200);
  // To the operator who created the sample, who has a role there.
  expectStatus(
    await call(server, `PUT /operators/${who.adminId}/presence`, { token: who.admin, body: { available: true } }),
    200,
  );
  const { queues } = (await call(server, `GET /queues?site_ids[]=${site}`, { token: who.admin })).body;
  const { id: support } = queues.find(({ name }: Json) => name.startsWith('Support'));
  const body = { engagement_id: engagement, queue_id: support, media: 'text' };
  expectStatus(await call(server, 'POST /transfer_tickets', { token: operator.token, body }), 201);
  await until(async () => {
    const { body: pending } = await call(server, 'GET /transfer_requests?state=pending', { token: who.admin });
    for (const { id } of pending.transfer_requests)
      await call(server, `PATCH /transfer_requests/${id}`, { token: who.admin, body: { action: 'accept' } });
    return (await call(server, `GET /engagements/${engagement}`, { token: who.admin })).body.site_id === site;
  }, patienceMs);
  await removeSampleData(server, who);

  const kept = expectStatus(await call(server, `GET /engagements/${engagement}`, { token: who.admin }), 200).body;
  assert.deepEqual([kept.site_id, kept.state], [who.siteId, 'ended']);
  const transcript = await call(server, `GET /engagements/${engagement}/chat_transcript`, { token: who.admin });
  assert.ok(expectStatus(transcript, 200).body.some(({ content }: Json) => content === 'Mine'));
  expectStatus(await call(server, `GET /sites/${who.siteId}/visitors/${visitor.id}`, { token: who.admin }), 200);

  // Again, with a visitor who was moved after the sample was created.
  const next = await callSampleData(server, who, 'POST');
  expectStatus(
    await call(server, `PATCH /visitors/${visitor.id}`, { token: visitor.token, body: { site_id: next.site_id } }),
    200,
  );
  await removeSampleData(server, who);
  expectStatus(await call(server, `GET /sites/${who.siteId}/visitors/${visitor.id}`, { token: who.admin }), 200);
  expectStatus(await call(server, `GET /engagements/${engagement}`, { token: who.admin }), 200);
});

test('the simulation never acts for a sample operator on a real site', async () => {
  const { who, site } = await startSampleData(server);
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
  await until(async () => (await countRows(server, 'events', site, `type = 'engagement.end'`)) > 0, patienceMs);
  const accepted = await sql`SELECT 1 FROM engagement_requests WHERE ticket_id = ${ticket.id} AND state = 'accepted'`;
  assert.equal(accepted.length, 0);
  await removeSampleData(server, who);
  const { body } = await call(server, `GET /queue_tickets/${ticket.id}`, { token: ticket.visitor.token });
  assert.equal(body.state, 'waiting');
});
