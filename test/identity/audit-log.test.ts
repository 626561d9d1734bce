import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeTargetOperator } from '../support/api/audited-credentials.ts';
import { cases, freshWebhook, makeChannel, sentSecrets, type World } from '../support/api/audited.ts';
import { startFileEngagement } from '../support/people/files.ts';
import { openWorld } from '../support/fixture.ts';
import { call, type Answer, type Json } from '../support/server.ts';
import {
  requestTicket,
  expectStatus,
  makeAccount,
  makeOperator,
  makePolicy,
  makeQueue,
  makeTeam,
  policyFields,
  setPresence,
  queueFields,
  type TestAccount,
} from '../support/world.ts';

const { server, account } = await openWorld({ scanner: { kind: 'manual' } });
const world = (): World => ({ ...server, account });

/** All entries of the account, oldest first. */
async function entriesOf({ admin }: TestAccount): Promise<Json[]> {
  const { body } = expectStatus(await call(server, 'GET /audit_log?per_page=1000', { token: admin }), 200);
  assert.equal(body.next_page, null);
  return body.audit_log.toReversed();
}

/** The result of `run` and the entries written meanwhile. */
async function writtenBy<T>(run: () => Promise<T>, who = account): Promise<{ result: T; entries: Json[] }> {
  const before = (await entriesOf(who)).length;
  const result = await run();
  return { result, entries: (await entriesOf(who)).slice(before) };
}

/** Secrets and tokens in the response, which are shown only once. */
function secretsIn({ body }: Answer): string[] {
  const { Authorization: header = [] } = body?.visitor_authentication ?? {};
  return [header, ...['secret', 'token', 'access_token'].map((field) => body?.[field] ?? [])].flat();
}

test('every audited route writes one entry that says who changed what and contains no secret', async (t) => {
  const routes = server.app.declaredAudits.filter(({ audit }) => typeof audit === 'object');
  assert.deepEqual(
    routes.map(({ method, url }) => `${method} ${url}`).toSorted(),
    Object.keys(cases).toSorted(),
    'add a case for each audited route to this test',
  );
  const secrets: string[] = [];
  for (const [route, make] of Object.entries(cases)) {
    await t.test(route, async () => {
      const given = await make(world());
      const [method = ''] = route.split(' ', 1);
      const { result, entries } = await writtenBy(async () =>
        call(server, `${method} ${given.path}`, { token: given.as?.token ?? account.admin, body: given.body }),
      );
      assert.ok(result.status < 300, JSON.stringify(result.body));
      secrets.push(...secretsIn(result));
      assert.equal(entries.length, 1, JSON.stringify(entries));
      const [entry] = entries;
      assert.equal(entry.action, given.action);
      assert.deepEqual(entry.actor, { type: 'operator', id: account.adminId, name: 'Administrator' });
      assert.equal(entry.via, given.as?.via ?? account.key.id);
      assert.equal(entry.request_id, result.headers.get('x-request-id'));
      assert.equal(entry.target.type, given.action.split('.')[0]);
      assert.equal(entry.target.id, given.target ?? result.body[given.createdField ?? 'id']);
      if (given.name !== undefined) assert.equal(entry.target.name, given.name);
      if (given.changes !== undefined) assert.deepEqual(entry.changes, given.changes);
      else assert.ok(entry.changes.length > 0);
      assert.ok(Math.abs(Date.parse(entry.at) - Date.now()) < 60_000);
    });
  }
  const [stored] = await server.database.sql<{ text: string }[]>`
    SELECT string_agg(row_to_json(l)::text, ' ') AS text FROM audit_log l`;
  assert.ok(secrets.length >= 5 && sentSecrets.length >= 12);
  for (const each of [...secrets, ...sentSecrets]) assert.ok(!stored?.text.includes(each), `${each} is in the log`);
});

test('a route that can change something must declare whether it is audited', async () => {
  const { createApp } = await import('../../packages/server/src/platform/http/create-app.ts');
  const { declareAudits } = await import('../../packages/server/src/identity/audit/write-audit.ts');
  const { installPath } = await import('../../packages/server/src/platform/http/request-path.ts');
  const { createLog } = await import('../../packages/server/src/platform/log.ts');
  const app = createApp({ log: createLog('silent'), sql: server.database.sql, trustProxy: false });
  installPath(app, { atRegistration: [declareAudits(app)] });
  const nothing = async (): Promise<null> => null;
  app.get('/reads', { config: { access: { public: true } } }, nothing);
  assert.throws(
    () => app.post('/forgets', { config: { access: { public: true } } }, nothing),
    /POST \/forgets does not declare whether its changes are audited/,
  );
  const access = { operator: 'operator', site: 'none' } as const;
  assert.throws(
    () => app.put('/lies', { config: { access, audit: 'no operator' } }, nothing),
    /PUT \/lies declares 'no operator', but operators may use it/,
  );
  app.post('/works', { config: { access, audit: 'own work' } }, nothing);
  await app.close();
});

test('operators’ own work and changes by visitors write no entry', async () => {
  const own = await makeAccount(server);
  const { operator, visitor, engagement } = await startFileEngagement(server, own);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
  await setPresence(server, operator, { media: ['text'] });
  const ticket = await requestTicket(server, own, { queue_ids: [queue], media: 'video' });
  const { entries } = await writtenBy(async () => {
    await setPresence(server, operator, { media: ['text'] });
    const ask = async (route: string, token: string, body: unknown): Promise<void> =>
      void expectStatus(await call(server, route, { token, body }), 200);
    await ask(`PATCH /operators/${operator.id}`, operator.token, { available: false });
    await ask(`PUT /engagements/${engagement}/chat_messages/${randomUUID()}`, operator.token, { content: 'Hello' });
    await ask(`PATCH /sites/${own.siteId}/visitors/${visitor.id}`, visitor.token, { name: 'Me' });
    await ask(`PATCH /queue_tickets/${ticket.body.id}`, ticket.visitor.token, { action: 'cancel' });
    await ask(`PATCH /engagements/${engagement}`, operator.token, { action: 'end' });
  }, own);
  assert.deepEqual(entries, []);
});

test('a request that changes nothing writes no entry', async () => {
  const team = await makeTeam(server, account, account.siteId);
  const { id: webhook, secret: first } = await freshWebhook(world());
  const operator = await makeTargetOperator(world());
  const { entries } = await writtenBy(async () => {
    for (const body of [{}, { name: 'Team' }, { name: 'Team', description: null }])
      expectStatus(await call(server, `PATCH /teams/${team}`, { token: account.admin, body }), 200);
    const body = { secret: first };
    expectStatus(await call(server, `POST /webhooks/${webhook}/rotate_secret`, { token: account.admin, body }), 200);
    const same = { available: false };
    const path = `PUT /operators/${operator.id}/presence`;
    expectStatus(await call(server, path, { token: account.admin, body: same }), 200);
  });
  assert.deepEqual(entries, []);
});

test('a refused request writes no entry', async () => {
  const queue = await makeQueue(server, account);
  const team = await makeTeam(server, account, account.siteId);
  await makeQueue(server, account, { routing_policy: { team_ids: [team] } });
  const { token: manager } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);
  const taken = { name: 'Twice', email: `${randomUUID()}@test` };
  expectStatus(await call(server, 'POST /operators', { token: account.admin, body: taken }), 201);
  const { entries } = await writtenBy(async () => {
    const refused: [number, string, Parameters<typeof call>[2]][] = [
      [401, `PUT /queues/${queue}`, { body: queueFields }],
      [403, `PUT /queues/${queue}`, { token: manager, body: queueFields }],
      [404, `PUT /queues/${randomUUID()}`, { token: account.admin, body: queueFields }],
      [422, `PUT /queues/${queue}`, { token: account.admin, body: { name: '' } }],
      [412, `PUT /queues/${queue}`, { token: account.admin, body: queueFields, headers: { 'if-match': '"9"' } }],
      [412, `DELETE /queues/${queue}`, { token: account.admin, headers: { 'if-match': '"9"' } }],
      [422, `PATCH /sites/${account.siteId}`, { token: account.admin, body: { time_zone: 'Nowhere' } }],
      [409, `DELETE /teams/${team}`, { token: account.admin }],
      [409, 'POST /operators', { token: account.admin, body: taken }],
      [409, `DELETE /operators/${account.adminId}`, { token: account.admin }],
    ];
    for (const [status, request, options] of refused) expectStatus(await call(server, request, options), status);
  });
  assert.deepEqual(entries, []);
});

test('a request that is repeated with its Idempotency-Key writes one entry', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const body = { site_id: account.siteId, name: 'Once' };
  const ask = async () => call(server, 'POST /teams', { token: account.admin, body, headers: key });
  const { result, entries } = await writtenBy(async () => Promise.all([ask(), ask(), ask()]));
  for (const answer of result) assert.equal(answer.body.id, result[0]?.body.id);
  assert.deepEqual(
    entries.map(({ action, target }) => [action, target.id]),
    [['team.create', result[0]?.body.id]],
  );
});

test('with concurrent changes, the before value of each entry is the after value of the previous one', async () => {
  const team = await makeTeam(server, account, account.siteId);
  const queue = await makeQueue(server, account);
  const policy = await makePolicy(server, account);
  const names = Array.from({ length: 8 }, (_, index) => `Name ${index}`);
  const { entries } = await writtenBy(async () => {
    const changes = names.flatMap((name) => [
      call(server, `PATCH /teams/${team}`, { token: account.admin, body: { name } }),
      call(server, `PUT /queues/${queue}`, { token: account.admin, body: { ...queueFields, name } }),
      call(server, `PUT /queues/scheduling_policies/${policy}`, {
        token: account.admin,
        body: { ...policyFields, name },
      }),
    ]);
    for (const answer of await Promise.all(changes)) expectStatus(answer, 200);
  });
  for (const [id, first] of [
    [team, 'Team'],
    [queue, 'Queue'],
    [policy, policyFields.name],
  ] as const) {
    const own = entries.filter(({ target }) => target.id === id).flatMap(({ changes }) => changes);
    assert.equal(own.length, names.length);
    assert.deepEqual(
      own.map(({ before: was }) => was),
      [first, ...own.slice(0, -1).map(({ after: is }) => is)],
    );
    assert.deepEqual(
      own.map(({ after: is }): string => is).toSorted((a, b) => a.localeCompare(b)),
      names,
    );
  }
});

test('two concurrent deletions of one resource write one entry', async () => {
  const team = await makeTeam(server, account, account.siteId);
  const channel = await makeChannel(world(), 'phone');
  for (const path of [`/teams/${team}`, `/phone_channels/${channel}`]) {
    const ask = async () => call(server, `DELETE ${path}`, { token: account.admin });
    const { result, entries } = await writtenBy(async () => Promise.all([ask(), ask()]));
    assert.deepEqual(
      result.map(({ status }) => status).toSorted((a, b) => a - b),
      [204, 404],
    );
    assert.equal(entries.length, 1);
  }
});

test('long values are shortened and marked as shortened', async () => {
  const addresses = Array.from({ length: 1_000 }, () => 'x'.repeat(1_000));
  const { entries } = await writtenBy(async () =>
    call(server, `PATCH /sites/${account.siteId}`, { token: account.admin, body: { addresses } }),
  );
  const [change] = entries[0].changes;
  assert.deepEqual(
    { ...change, after: change.after.slice(0, 5) },
    { field: 'addresses', before: [], after: '["xxx', shortened: true },
  );
  assert.equal(change.after.length, 4_000);
});

test('hostile text is stored unchanged', async () => {
  const name = '<script>alert(1)</script> \u202etxt "\\ 😀';
  const { entries } = await writtenBy(async () =>
    call(server, 'POST /teams', { token: account.admin, body: { site_id: account.siteId, name } }),
  );
  assert.equal(entries[0].target.name, name);
});
