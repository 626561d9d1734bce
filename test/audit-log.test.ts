import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fill, makeWebhook as insertWebhook } from './support/deliveries.ts';
import { sent, startTalk, fileForm } from './support/files.ts';
import { call, startTestServer, type Answer, type Json, type TestServer } from './support/server.ts';
import { makeWebhook, webhookFields } from './support/webhooks.ts';
import {
  askIn,
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makePolicy,
  makeProvider,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  policyFields,
  present,
  providerFields,
  queueFields,
  type TestAccount,
} from './support/world.ts';

let server: TestServer;
let account: TestAccount;
before(async () => {
  server = await startTestServer({ scanner: { kind: 'manual' } });
  account = await makeAccount(server);
});
after(async () => server[Symbol.asyncDispose]());

/** Every entry there is of the account, oldest first, as super_managers of all of it are shown them. */
async function entriesOf({ admin }: TestAccount): Promise<Json[]> {
  const { body } = expectStatus(await call(server, 'GET /audit_log?per_page=1000', { token: admin }), 200);
  assert.equal(body.next_page, null);
  return body.audit_log.toReversed();
}

/** What was written while it ran. */
async function writtenBy<T>(run: () => Promise<T>, who = account): Promise<{ result: T; entries: Json[] }> {
  const known = (await entriesOf(who)).length;
  const result = await run();
  return { result, entries: (await entriesOf(who)).slice(known) };
}

interface Case {
  readonly action: string;
  readonly path: string;
  readonly body?: unknown;
  /** The id of what is changed; of what is made, the answer has it. */
  readonly target?: string;
  readonly name?: string | null;
  /** What the entry tells, or some of it. */
  readonly changes?: readonly Json[];
}

const owner = async () => makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
const secretsGiven: string[] = [];
function secret(): string {
  const text = `hidden-${randomUUID()}`;
  secretsGiven.push(text);
  return text;
}

async function makeChannel(kind: 'phone' | 'digital'): Promise<string> {
  const { body } = channelCase(kind, await makeQueue(server, account));
  return expectStatus(await call(server, `POST /${kind}_channels`, { token: account.admin, body }), 201).body.id;
}

let count = 0;
function channelCase(kind: 'phone' | 'digital', queue_id: string): { body: Json; name: string } {
  count += 1;
  const name = kind === 'phone' ? `+1555${1_000_000 + count}` : `address-${count}`;
  const addressing = kind === 'phone' ? { number: name } : { kind: 'sms', address: name };
  return { body: { site_id: account.siteId, queue_id, ...addressing }, name };
}

/** For each audited route a request that changes something. */
const cases: Readonly<Record<string, () => Promise<Case>>> = {
  'POST /sites': async () => ({ action: 'site.create', path: '/sites', body: { name: 'New' }, name: 'New' }),
  'PATCH /sites/:site_id': async () => {
    const id = await makeSite(server, account);
    const changes = [{ field: 'allowed_origins', before: [], after: ['https://a.example'] }];
    const body = { allowed_origins: ['https://a.example'] };
    return { action: 'site.update', path: `/sites/${id}`, body, target: id, name: 'Another site', changes };
  },
  'POST /teams': async () => ({
    action: 'team.create',
    path: '/teams',
    body: { site_id: account.siteId, name: 'Red' },
    name: 'Red',
    changes: [
      { field: 'name', after: 'Red' },
      { field: 'description', after: null },
    ],
  }),
  'PATCH /teams/:team_id': async () => {
    const id = await makeTeam(server, account, account.siteId);
    const changes = [{ field: 'name', before: 'Team', after: 'Blue' }];
    return { action: 'team.update', path: `/teams/${id}`, body: { name: 'Blue' }, target: id, name: 'Blue', changes };
  },
  'DELETE /teams/:team_id': async () => {
    const id = await makeTeam(server, account, account.siteId);
    const changes = [
      { field: 'name', before: 'Team' },
      { field: 'description', before: null },
    ];
    return { action: 'team.delete', path: `/teams/${id}`, target: id, name: 'Team', changes };
  },
  'POST /operators': async () => ({
    action: 'operator.create',
    path: '/operators',
    body: { name: 'Ann', email: `${randomUUID()}@test`, assignments: [{ site_id: account.siteId }] },
    name: 'Ann',
  }),
  'PATCH /operators/:operator_id': async () => {
    const { id } = await owner();
    const team = await makeTeam(server, account, account.siteId);
    const assignments = [{ site_id: account.siteId, role: 'manager', team_ids: [team] }];
    const changes = [
      {
        field: 'assignments',
        before: [{ role: 'operator', site_id: account.siteId, team_ids: [] }],
        after: [{ role: 'manager', site_id: account.siteId, team_ids: [team] }],
      },
    ];
    return { action: 'operator.update', path: `/operators/${id}`, body: { assignments }, target: id, changes };
  },
  'DELETE /operators/:operator_id': async () => {
    const { id } = await owner();
    const changes = [{ field: 'enabled', before: true, after: false }];
    return { action: 'operator.disable', path: `/operators/${id}`, target: id, name: 'Somebody', changes };
  },
  'POST /operators/:operator_id/api_keys': async () => {
    const { id } = await owner();
    const changes = [{ field: 'operator_id', after: id }];
    return { action: 'api_key.create', path: `/operators/${id}/api_keys`, body: {}, name: null, changes };
  },
  'DELETE /operators/:operator_id/api_keys/:key_id': async () => {
    const { id, keyId } = await owner();
    const changes = [{ field: 'operator_id', before: id }];
    return { action: 'api_key.delete', path: `/operators/${id}/api_keys/${keyId}`, target: keyId, name: null, changes };
  },
  'POST /sites/:site_id/application_tokens': async () => ({
    action: 'application_token.create',
    path: `/sites/${account.siteId}/application_tokens`,
    body: { kind: 'secret' },
    changes: [{ field: 'kind', after: 'secret' }],
  }),
  'DELETE /sites/:site_id/application_tokens/:token_id': async () => {
    const { id } = await makeApplicationToken(server, account, 'publishable');
    const path = `/sites/${account.siteId}/application_tokens/${id}`;
    return {
      action: 'application_token.delete',
      path,
      target: id,
      changes: [{ field: 'kind', before: 'publishable' }],
    };
  },
  'POST /visitors': async () => ({
    action: 'visitor.create',
    path: '/visitors',
    body: { site_id: account.siteId, name: secret() },
    name: null,
    changes: [
      { field: 'name', hidden: true },
      { field: 'team_ids', after: [] },
    ],
  }),
  'PATCH /sites/:site_id/visitors/:visitor_id': async () => {
    const { id } = await makeVisitor(server, account);
    const body = { email: `${secret()}@test`, note: secret(), custom_attributes: { [secret()]: secret() } };
    const changes = ['email', 'note', 'custom_attributes'].map((field) => ({ field, hidden: true }));
    const path = `/sites/${account.siteId}/visitors/${id}`;
    return { action: 'visitor.update', path, body, target: id, name: null, changes };
  },
  'POST /queues/scheduling_policies': async () => ({
    action: 'scheduling_policy.create',
    path: '/queues/scheduling_policies',
    body: { site_id: account.siteId, ...policyFields },
    name: 'Office hours',
  }),
  'PUT /queues/scheduling_policies/:scheduling_policy_id': async () => {
    const id = await makePolicy(server, account);
    const exceptions = [{ date: '2027-12-24' }];
    const body = { ...policyFields, exceptions };
    const path = `/queues/scheduling_policies/${id}`;
    const changes = [{ field: 'exceptions', before: [], after: exceptions }];
    return { action: 'scheduling_policy.update', path, body, target: id, name: 'Office hours', changes };
  },
  'DELETE /queues/scheduling_policies/:scheduling_policy_id': async () => {
    const id = await makePolicy(server, account);
    return { action: 'scheduling_policy.delete', path: `/queues/scheduling_policies/${id}`, target: id };
  },
  'POST /queues': async () => ({
    action: 'queue.create',
    path: '/queues',
    body: { site_id: account.siteId, ...queueFields },
    name: 'Queue',
    changes: [
      { field: 'name', after: 'Queue' },
      { field: 'description', after: null },
      { field: 'capacity_policy', after: queueFields.capacity_policy },
      { field: 'routing_policy', after: {} },
      { field: 'when_unstaffed', after: 'reject' },
      { field: 'operator_ranking_enabled', after: false },
      { field: 'welcome_message', after: null },
      { field: 'scheduling_policy_id', after: null },
      { field: 'fallback_queue_id', after: null },
      { field: 'operator_affinity', after: null },
    ],
  }),
  'PUT /queues/:queue_id': async () => {
    const id = await makeQueue(server, account);
    const body = { ...queueFields, name: 'Other', capacity_policy: { type: 'fixed', capacity: 11 } };
    const changes = [
      { field: 'name', before: 'Queue', after: 'Other' },
      { field: 'capacity_policy', before: queueFields.capacity_policy, after: body.capacity_policy },
    ];
    return { action: 'queue.update', path: `/queues/${id}`, body, target: id, name: 'Other', changes };
  },
  'DELETE /queues/:queue_id': async () => {
    const id = await makeQueue(server, account);
    return { action: 'queue.delete', path: `/queues/${id}`, target: id, name: 'Queue' };
  },
  'PATCH /queues/:queue_id/rankings': async () => {
    const [id, { id: operator }] = [await makeQueue(server, account), await owner()];
    const operators = [{ id: operator, rank: 3 }];
    const changes = [{ field: 'operators', before: [], after: operators }];
    return {
      action: 'queue.rank',
      path: `/queues/${id}/rankings`,
      body: { operators },
      target: id,
      name: 'Queue',
      changes,
    };
  },
  'POST /phone_channels': async () => ({
    action: 'phone_channel.create',
    path: '/phone_channels',
    ...channelCase('phone', await makeQueue(server, account)),
  }),
  'PATCH /phone_channels/:channel_id': async () => {
    const [id, queue_id] = [await makeChannel('phone'), await makeQueue(server, account)];
    return { action: 'phone_channel.update', path: `/phone_channels/${id}`, body: { queue_id }, target: id };
  },
  'DELETE /phone_channels/:channel_id': async () => {
    const id = await makeChannel('phone');
    return { action: 'phone_channel.delete', path: `/phone_channels/${id}`, target: id };
  },
  'POST /digital_channels': async () => ({
    action: 'digital_channel.create',
    path: '/digital_channels',
    ...channelCase('digital', await makeQueue(server, account)),
  }),
  'PATCH /digital_channels/:channel_id': async () => {
    const id = await makeChannel('digital');
    const changes = [{ field: 'kind', before: 'sms', after: 'whatsapp' }];
    return {
      action: 'digital_channel.update',
      path: `/digital_channels/${id}`,
      body: { kind: 'whatsapp' },
      target: id,
      changes,
    };
  },
  'DELETE /digital_channels/:channel_id': async () => {
    const id = await makeChannel('digital');
    return { action: 'digital_channel.delete', path: `/digital_channels/${id}`, target: id };
  },
  'PUT /operators/:operator_id/presence': async () => {
    const { id } = await owner();
    // Nobody else's tickets, here, are of this medium.
    const body = { available: true, media: ['phone'], reason: 'asked by phone' };
    const changes = [
      { field: 'available', before: false, after: true },
      { field: 'media', before: ['text', 'phone', 'audio', 'video'], after: ['phone'] },
      { field: 'presence_reason', before: null, after: 'asked by phone' },
    ];
    return { action: 'operator.presence', path: `/operators/${id}/presence`, body, target: id, changes };
  },
  'PATCH /queue_tickets/:ticket_id': async () => {
    const queue = await makeQueue(server, account, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
    const { body } = expectStatus(await askIn(server, account, { queue_ids: [queue], media: 'video' }), 201);
    const changes = [{ field: 'state', before: 'waiting', after: 'canceled' }];
    const path = `/queue_tickets/${body.id}`;
    return { action: 'queue_ticket.cancel', path, body: { action: 'cancel' }, target: body.id, name: null, changes };
  },
  'PUT /files/:file_id/security_scan': async () => {
    const talk = await startTalk(server, account);
    const id = await sent(server, talk, fileForm('Hello', `${secret()}.txt`));
    const changes = [{ field: 'state', before: 'pending', after: 'infected' }];
    const path = `/files/${id}/security_scan`;
    return { action: 'file.scan', path, body: { result: 'infected' }, target: id, name: null, changes };
  },
  'POST /sites/:site_id/visitor_authentication_providers': async () => ({
    action: 'visitor_authentication_provider.create',
    path: `/sites/${account.siteId}/visitor_authentication_providers`,
    body: { ...providerFields(), client_secret: secret() },
  }),
  'DELETE /sites/:site_id/visitor_authentication_providers/:provider_id': async () => {
    const id = await makeProvider(server, account, { client_secret: secret() });
    const path = `/sites/${account.siteId}/visitor_authentication_providers/${id}`;
    return { action: 'visitor_authentication_provider.delete', path, target: id };
  },
  'POST /sip_domains': async () => ({
    action: 'sip_domain.create',
    path: '/sip_domains',
    body: { site_id: account.siteId, domain: 'one.example.com' },
    name: 'one.example.com',
    changes: [{ field: 'domain', after: 'one.example.com' }],
  }),
  'DELETE /sip_domains/:sip_domain_id': async () => {
    const body = { site_id: account.siteId, domain: 'two.example.com' };
    const { id } = expectStatus(await call(server, 'POST /sip_domains', { token: account.admin, body }), 201).body;
    const changes = [{ field: 'domain', before: 'two.example.com' }];
    return { action: 'sip_domain.delete', path: `/sip_domains/${id}`, target: id, name: 'two.example.com', changes };
  },
  'POST /webhooks': async () => ({
    action: 'webhook.create',
    path: '/webhooks',
    body: {
      ...webhookFields,
      url: `http://127.0.0.1:9/${secret()}?token=${secret()}`,
      headers: { 'x-password': secret() },
      secret: webhookSecret(),
    },
    changes: [
      { field: 'url', hidden: true },
      { field: 'method', after: 'POST' },
      { field: 'headers', hidden: true },
      { field: 'events', after: ['engagement.start'] },
      { field: 'site_ids', after: null },
      { field: 'description', after: null },
      { field: 'ordering', after: 'engagement' },
      { field: 'enabled', after: true },
      { field: 'origin', after: 'http://127.0.0.1:9' },
    ],
  }),
  'PUT /webhooks/:webhook_id': async () => {
    const { id } = await freshWebhook();
    const body = { ...webhookFields, url: `http://127.0.0.1:10/${secret()}`, headers: { 'x-password': secret() } };
    const changes = [
      { field: 'url', hidden: true },
      { field: 'headers', hidden: true },
      { field: 'origin', before: 'http://127.0.0.1:9', after: 'http://127.0.0.1:10' },
    ];
    return { action: 'webhook.update', path: `/webhooks/${id}`, body, target: id, name: null, changes };
  },
  'DELETE /webhooks/:webhook_id': async () => {
    const { id } = await freshWebhook();
    return { action: 'webhook.delete', path: `/webhooks/${id}`, target: id };
  },
  'POST /webhooks/:webhook_id/rotate_secret': async () => {
    const { id } = await freshWebhook();
    return { action: 'webhook.rotate_secret', path: `/webhooks/${id}/rotate_secret`, body: {}, target: id };
  },
  'POST /webhooks/:webhook_id/test': async () => {
    const { id } = await freshWebhook();
    const body = { event_type: 'engagement.start' };
    return { action: 'webhook.test', path: `/webhooks/${id}/test`, body, target: id };
  },
  'POST /webhooks/:webhook_id/recover': async () => {
    const { id } = await freshWebhook();
    const body = { since: '2027-01-01T00:00:00.000Z' };
    const changes = [
      { field: 'since', after: body.since },
      { field: 'until', after: null },
    ];
    return { action: 'webhook.recover', path: `/webhooks/${id}/recover`, body, target: id, changes };
  },
  'POST /deliveries/:delivery_id/replay': async () => {
    const webhook = await insertWebhook(server, account);
    const [id = ''] = await fill(server.database.sql, webhook, 'exhausted', { count: 1 });
    return { action: 'delivery.replay', path: `/deliveries/${id}/replay`, body: {}, target: id, name: null };
  },
};

/** An account may have so many of them only. */
async function freshWebhook(): Promise<Json> {
  await server.database.sql`DELETE FROM webhooks`;
  return makeWebhook(server, account, { headers: { 'x-password': secret() } });
}

function webhookSecret(): string {
  const text = `whsec_${Buffer.from(randomUUID()).toString('base64')}`;
  secretsGiven.push(text);
  return text;
}

/** Whatever is shown once, and tokens. */
function secretsIn({ body }: Answer): string[] {
  return ['secret', 'token', 'access_token'].flatMap((field) => body?.[field] ?? []);
}

test('every audited route writes one entry that says who changed what, and no secret', async (t) => {
  const routes = server.app.declaredAudits.filter(({ audit }) => typeof audit === 'object');
  assert.deepEqual(
    routes.map(({ method, url }) => `${method} ${url}`).toSorted(),
    Object.keys(cases).toSorted(),
    'say in this test how each audited route is used',
  );
  const secrets: string[] = [];
  for (const [route, make] of Object.entries(cases)) {
    await t.test(route, async () => {
      const given = await make();
      const [method = ''] = route.split(' ', 1);
      const { result, entries } = await writtenBy(async () =>
        call(server, `${method} ${given.path}`, { token: account.admin, body: given.body }),
      );
      assert.ok(result.status < 300, JSON.stringify(result.body));
      secrets.push(...secretsIn(result));
      assert.equal(entries.length, 1, JSON.stringify(entries));
      const [entry] = entries;
      assert.equal(entry.action, given.action);
      assert.deepEqual(entry.actor, { type: 'operator', id: account.adminId, name: 'Administrator' });
      assert.equal(entry.via, account.key.id);
      assert.equal(entry.request_id, result.headers.get('x-request-id'));
      assert.equal(entry.target.type, given.action.split('.')[0]);
      assert.equal(entry.target.id, given.target ?? result.body.id);
      if (given.name !== undefined) assert.equal(entry.target.name, given.name);
      if (given.changes !== undefined) assert.deepEqual(entry.changes, given.changes);
      else assert.ok(entry.changes.length > 0);
      assert.ok(Math.abs(Date.parse(entry.at) - Date.now()) < 60_000);
    });
  }
  const [stored] = await server.database.sql<{ text: string }[]>`
    SELECT string_agg(row_to_json(l)::text, ' ') AS text FROM audit_log l`;
  assert.ok(secrets.length >= 5 && secretsGiven.length >= 12);
  for (const each of [...secrets, ...secretsGiven]) assert.ok(!stored?.text.includes(each), `${each} is in the log`);
});

test('every route that changes anything declares whether it is audited, or is not registered', async () => {
  const { createApp } = await import('../packages/server/src/platform/http.ts');
  const { installAudit } = await import('../packages/server/src/identity/audit/install-audit.ts');
  const { createLog } = await import('../packages/server/src/platform/log.ts');
  const app = createApp({ log: createLog('silent'), sql: server.database.sql, trustProxy: false });
  installAudit(app);
  const nothing = async (): Promise<null> => null;
  app.get('/reads', { config: { access: { public: true } } }, nothing);
  assert.throws(
    () => app.post('/forgets', { config: { access: { public: true } } }, nothing),
    /POST \/forgets does not declare whether its changes are in the audit log/,
  );
  const access = { operator: 'operator', site: 'none' } as const;
  assert.throws(
    () => app.put('/lies', { config: { access, audit: 'no operator' } }, nothing),
    /PUT \/lies is for operators, and says that it is not/,
  );
  app.post('/works', { config: { access, audit: 'own work' } }, nothing);
  await app.close();
});

test("what is one's own work, and what visitors do, is in no entry", async () => {
  const own = await makeAccount(server);
  const { operator, visitor, engagement } = await startTalk(server, own);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
  await present(server, operator, { media: ['text'] });
  const ticket = await askIn(server, own, { queue_ids: [queue], media: 'video' });
  const { entries } = await writtenBy(async () => {
    await present(server, operator, { media: ['text'] });
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

test('who changes nothing is in no entry', async () => {
  const team = await makeTeam(server, account, account.siteId);
  const { id: webhook, secret: first } = await freshWebhook();
  const operator = await owner();
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

test('a request that is refused is in no entry', async () => {
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

test('a repeated request with its key is in one entry', async () => {
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

test('of changes at the same time each entry begins where the one before ended', async () => {
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
    assert.deepEqual(own.map(({ after: is }) => is).toSorted(), names);
  }
});

test('of two who delete the same, one is in the log', async () => {
  const team = await makeTeam(server, account, account.siteId);
  const channel = await makeChannel('phone');
  for (const path of [`/teams/${team}`, `/phone_channels/${channel}`]) {
    const ask = async () => call(server, `DELETE ${path}`, { token: account.admin });
    const { result, entries } = await writtenBy(async () => Promise.all([ask(), ask()]));
    assert.deepEqual(result.map(({ status }) => status).toSorted(), [204, 404]);
    assert.equal(entries.length, 1);
  }
});

test('long values are cut, and said to be', async () => {
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

test('hostile text is kept as it was given', async () => {
  const name = '<script>alert(1)</script> \u202etxt "\\ 😀';
  const { entries } = await writtenBy(async () =>
    call(server, 'POST /teams', { token: account.admin, body: { site_id: account.siteId, name } }),
  );
  assert.equal(entries[0].target.name, name);
});
