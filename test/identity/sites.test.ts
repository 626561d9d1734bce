import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { expectStatus, makeAccount, makeOperator, makeSite } from '../support/world.ts';

const { server, account } = await openWorld();

test('a new site has the default settings and its creator as super_manager', async () => {
  const created = await call(server, 'POST /sites', { token: account.admin, body: { name: 'Shop' } });
  assert.equal(created.status, 201);
  assert.equal(created.headers.get('location'), `/sites/${created.body.id}`);
  assert.equal(created.headers.get('etag'), '"1"');
  const { id, created_at, updated_at, ...rest } = created.body;
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(created_at, updated_at);
  assert.deepEqual(rest, {
    name: 'Shop',
    addresses: [],
    time_zone: null,
    reactive_call_timeout: 30,
    proactive_call_timeout: 15,
    missed_call_unavailability_enabled: true,
    calls_beside_chats: true,
    queue_ticket_timeout_sec: 14_400,
    visitor_webhooks: true,
    allowed_file_content_types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf', 'text/plain'],
    allowed_file_senders: { operator: true, visitor: true },
    allowed_origins: [],
    visitor_limits: { new_visitors_per_minute: 60, open_tickets_per_address: 10, open_feeds_per_address: 100 },
    ticket_needs_presence: false,
    attached_webhook_messages: 'own',
    lenient_requests: false,
  });
  const read = await call(server, `GET /sites/${id}`, { token: account.admin });
  assert.deepEqual(read.body, created.body);
});

test('D9.10 every setting can be set, read and reset with null', async () => {
  const settings = {
    name: 'All set',
    addresses: ['1 Main Street'],
    time_zone: 'US/Eastern',
    reactive_call_timeout: 60,
    proactive_call_timeout: 20,
    missed_call_unavailability_enabled: false,
    calls_beside_chats: false,
    queue_ticket_timeout_sec: 600,
    visitor_webhooks: false,
    allowed_file_content_types: ['image/*'],
    allowed_file_senders: { operator: true, visitor: false },
    allowed_origins: ['https://shop.example'],
    visitor_limits: { new_visitors_per_minute: 600, open_tickets_per_address: 30, open_feeds_per_address: 50 },
    ticket_needs_presence: true,
    attached_webhook_messages: 'other',
    lenient_requests: true,
  };
  const created = expectStatus(await call(server, 'POST /sites', { token: account.admin, body: settings }), 201).body;
  for (const [field, value] of Object.entries(settings)) assert.deepEqual(created[field], value);
  const path = `/sites/${created.id}`;
  const unset = Object.fromEntries(Object.keys(settings).map((field) => [field, field === 'name' ? 'Unset' : null]));
  const changed = expectStatus(await call(server, `PATCH ${path}`, { token: account.admin, body: unset }), 200).body;
  const plain = expectStatus(
    await call(server, 'POST /sites', { token: account.admin, body: { name: 'Unset' } }),
    201,
  ).body;
  const { id: _a, created_at: _b, updated_at: _c, ...left } = changed;
  const { id: _d, created_at: _e, updated_at: _f, ...right } = plain;
  assert.deepEqual(left, right);
  const echoed = await call(server, `PATCH ${path}`, { token: account.admin, body: { ...changed, name: 'Echoed' } });
  assert.equal(expectStatus(echoed, 200).body.name, 'Echoed');
});

test('the database default of visitor_limits equals the default of the API', async () => {
  const [row] = await server.database.sql`
    SELECT (SELECT visitor_limits FROM sites WHERE id = ${account.siteId}) = column_default::jsonb AS same
      FROM (SELECT trim(both '''' FROM split_part(column_default, '::', 1)) AS column_default
              FROM information_schema.columns WHERE table_name = 'sites' AND column_name = 'visitor_limits') AS d`;
  assert.equal(row?.['same'], true);
});

test('callers list the sites they have a role on, and see changes by another process', async () => {
  const own = await makeAccount(server);
  const second = await makeSite(server, own);
  const operator = await makeOperator(server, own, [{ site_id: second, role: 'operator' }]);
  const list = async (token: string): Promise<string[]> =>
    (await call(server, 'GET /sites', { token })).body.sites.map((site: { id: string }) => site.id);
  assert.deepEqual(await list(own.admin), [own.siteId, second]);
  assert.deepEqual(await list(operator.token), [second]);

  const other = await startTestServer({}, server.database.address);
  try {
    expectStatus(await call(other, `GET /sites/${second}`, { token: own.admin }), 200);
    expectStatus(await call(server, `PATCH /sites/${second}`, { token: own.admin, body: { name: 'Moved on' } }), 200);
    assert.equal((await call(server, `GET /sites/${second}`, { token: own.admin })).body.name, 'Moved on');
    await until(
      async () => (await call(other, `GET /sites/${second}`, { token: own.admin })).body.name === 'Moved on',
      1_000,
    );
  } finally {
    await other[Symbol.asyncDispose]();
  }
});
