import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { call, startTestServer, type TestServer } from './support/server.ts';
import { makeAccount, type TestAccount } from './support/world.ts';

let server: TestServer;
let account: TestAccount;

before(async () => {
  server = await startTestServer();
  account = await makeAccount(server);
});
after(async () => server[Symbol.asyncDispose]());

test('a site is created with its defaults, and its creator is its super_manager at once', async () => {
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
    queue_ticket_timeout_sec: 14_400,
    allowed_file_content_types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf', 'text/plain'],
    allowed_file_senders: { operator: true, visitor: true },
    allowed_origins: [],
  });
  const read = await call(server, `GET /sites/${id}`, { token: account.admin });
  assert.deepEqual(read.body, created.body);
});
