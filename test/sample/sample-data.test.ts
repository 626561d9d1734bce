import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster } from '../support/processes/cluster.ts';
import { forThisFile } from '../support/fixture.ts';
import type { UsherProcess } from '../support/processes/process.ts';
import { fileForm } from '../support/people/files.ts';
import {
  countRows,
  pace,
  patienceMs,
  removeSampleData,
  callSampleData,
  startSampleData,
} from '../support/people/sample-data.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  acceptOffer,
  eventsOf,
  expectStatus,
  makeAccount,
  makeOperator,
  makeVisitor,
  offersOf,
  setPresence,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer({}, undefined, pace));

async function change(who: TestAccount, action: 'start' | 'stop'): Promise<Json> {
  const body = { action };
  return expectStatus(await call(server, 'PATCH /sample_data', { token: who.admin, body }), 200).body;
}

test('an account has no sample data at first; it is created once, and the caller sees all of it', async () => {
  const who = await makeAccount(server);
  assert.deepEqual(await callSampleData(server, who, 'GET'), { state: 'none', site_id: null, started_at: null });
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
  await removeSampleData(server, who);
});

/** Sample data is inserted without the API's validation, so this checks that the API accepts it unchanged. */
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

test('two concurrent requests create one sample', async () => {
  const who = await makeAccount(server);
  const answers = await Promise.all(
    Array.from({ length: 5 }, async () => call(server, 'POST /sample_data', { token: who.admin })),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 4);
  assert.equal(new Set(answers.map(({ body }) => body.site_id)).size, 1);
  const { sites } = (await call(server, 'GET /sites', { token: who.admin })).body;
  assert.equal(sites.length, 2);
  await removeSampleData(server, who);
});

test('only a super_manager with an unlimited token can create sample data', async () => {
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

test('another super_manager who requests sample data gets access to it', async () => {
  const { who, site } = await startSampleData(server);
  const other = await makeOperator(server, who, [{ site_id: who.siteId, role: 'super_manager' }]);
  expectStatus(await call(server, 'POST /sample_data', { token: other.token }), 200);
  const { sites } = (await call(server, 'GET /sites', { token: other.token })).body;
  assert.ok(sites.some(({ id }: Json) => id === site));
  await removeSampleData(server, who);
});

test('the simulation runs, stops when stopped, and runs again when started', async () => {
  const { who, site } = await startSampleData(server);
  const { started_at: first } = await callSampleData(server, who, 'GET');
  const hasEvent = async (type: string): Promise<boolean> =>
    (await countRows(server, 'events', site, `type = '${type}'`)) > 0;
  await until(async () => hasEvent('engagement.start'), patienceMs);
  await until(async () => hasEvent('engagement.end'), patienceMs);
  // Through several queues and media.
  await until(async () => {
    const [row] = await server.database.sql<{ queues: number; media: number }[]>`
      SELECT count(DISTINCT queue_id)::integer AS queues, count(DISTINCT media)::integer AS media
        FROM engagements WHERE site_id = ${site}`;
    return (row?.queues ?? 0) >= 4 && (row?.media ?? 0) >= 3;
  }, patienceMs);
  await until(async () => (await countRows(server, 'queue_tickets', site, `state = 'canceled'`)) > 0, patienceMs);
  await until(
    async () => (await countRows(server, 'engagement_requests', site, `fail_reason IS NOT NULL`)) > 0,
    patienceMs,
  );
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
  await until(async () => (await countRows(server, 'sub_engagements', site)) > 0, patienceMs);
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
  assert.equal((await read(`GET /operators?include_offline=false&site_ids[]=${site}`)).operators.length, 0);
  const before = await countRows(server, 'events', site);
  // As long as visitors take to arrive in another sample of the same pace.
  const other = await startSampleData(server);
  await until(async () => (await countRows(server, 'visitors', other.site)) >= 5, patienceMs);
  assert.equal(await countRows(server, 'events', site), before);

  const { started_at } = await change(who, 'start');
  assert.ok(Date.parse(started_at) > Date.parse(first));
  await until(async () => (await countRows(server, 'events', site)) > before, patienceMs);
  await removeSampleData(server, who);
  await removeSampleData(server, other.who);
});

test('all events of the simulation match their schemas, and nothing fails', async () => {
  const { who, site } = await startSampleData(server);
  await until(async () => (await countRows(server, 'events', site, `type = 'engagement.end'`)) > 3, patienceMs);
  assert.ok((await eventsOf(server, who)).length > 10);
  const wrong = server.logged.filter((line) => /"level":"(error|fatal)"|"status":500/.test(line));
  assert.deepEqual(wrong, []);
  await removeSampleData(server, who);
});

test('a real operator gets some of the visitors, and the simulation never acts for the real operator', async () => {
  const { who, site } = await startSampleData(server);
  const me = { id: who.adminId, token: who.admin };
  await setPresence(server, me, { media: ['text'] });
  await until(async () => (await offersOf(server, me)).length > 0, patienceMs);
  const engagement = await acceptOffer(server, me);
  const transcript = async (): Promise<Json[]> =>
    (await call(server, `GET /engagements/${engagement}/chat_transcript`, { token: who.admin })).body;
  await until(async () => (await transcript()).some(({ sender }) => sender.type === 'visitor'), patienceMs);
  const mine = (await transcript()).filter(({ sender, type }) => sender.type === 'operator' && type === 'chat');
  // Except the welcome message of the queue.
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
  await removeSampleData(server, who);
});

test('a real visitor is served, and the simulation never acts for them', async () => {
  const { who, site } = await startSampleData(server);
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
  await removeSampleData(server, who);
});

test('one of two processes simulates; the other takes over after a kill, and a new one after a restart', async () => {
  await using cluster = await startCluster(2);
  const [first, second] = cluster.nodes;
  assert.ok(first !== undefined && second !== undefined);
  const one = cluster.reach(first);
  const who = await makeAccount(one);
  const { site_id: site } = await callSampleData(one, who, 'POST');
  // A process logs all requests, including those of its own simulation.
  const acting = (): UsherProcess[] =>
    cluster.nodes.filter(({ output }) => output.includes('"route":"/queue_tickets"'));
  const arrived = async (): Promise<number> => countRows(one, 'visitors', site);
  await until(async () => (await arrived()) >= 2 && acting().length > 0, patienceMs);
  const [victim, ...others] = acting();
  assert.deepEqual(others, []);
  const survivor = victim === first ? second : first;
  await victim?.stop('SIGKILL');
  const known = await arrived();
  await until(async () => (await arrived()) > known && acting().includes(survivor), patienceMs);

  // A process that is asked to stop does so at once, and another one could continue.
  assert.equal(await survivor.stop('SIGTERM'), 0);
  const [row] = await cluster.database.sql`SELECT 1 FROM sample_data WHERE leased_until <= now() AND state = 'running'`;
  assert.ok(row !== undefined);
  const again = await cluster.start();
  const left = await arrived();
  await until(async () => (await arrived()) > left && acting().includes(again), patienceMs);
});
