import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call, type Json } from '../support/server.ts';
import { expectStatus, makeAccount, makeOperator, makeSite, makeTeam, makeVisitor } from '../support/world.ts';

const { server, account } = await openWorld();
const token = account.admin;

test('a team is created, read, changed, reset and deleted', async () => {
  const body = { site_id: account.siteId, name: 'Sales', description: 'Sells' };
  const created = expectStatus(await call(server, 'POST /teams', { token, body }), 201);
  const { id } = created.body;
  assert.equal(created.headers.get('location'), `/teams/${id}`);
  assert.deepEqual(
    { ...created.body, id: 0, created_at: 0, updated_at: 0 },
    { ...body, id: 0, created_at: 0, updated_at: 0 },
  );
  const renamed = await call(server, `PATCH /teams/${id}`, { token, body: { ...created.body, name: 'More sales' } });
  assert.equal(expectStatus(renamed, 200).body.name, 'More sales');
  assert.equal(renamed.body.description, 'Sells');
  const unset = await call(server, `PATCH /teams/${id}`, { token, body: { description: null } });
  assert.equal(expectStatus(unset, 200).body.description, null);
  assert.notEqual(unset.body.updated_at, created.body.updated_at);
  const nothing = await call(server, `PATCH /teams/${id}`, { token, body: {} });
  assert.deepEqual(nothing.body, unset.body);
  expectStatus(await call(server, `DELETE /teams/${id}`, { token }), 204);
  expectStatus(await call(server, `GET /teams/${id}`, { token }), 404);
  expectStatus(await call(server, `DELETE /teams/${id}`, { token }), 404);
});

test('D7.2 a team cannot move to another site, and the refused request changes nothing', async () => {
  const id = await makeTeam(server, account, account.siteId);
  const before = (await call(server, `GET /teams/${id}`, { token })).body;
  const elsewhere = await makeSite(server, account);
  const answer = await call(server, `PATCH /teams/${id}`, { token, body: { name: 'X', site_id: elsewhere } });
  assert.deepEqual(expectStatus(answer, 422).body.details, [{ attribute: '/site_id', detail: 'cannot be changed' }]);
  assert.deepEqual((await call(server, `GET /teams/${id}`, { token })).body, before);
});

test('D9.10 deleting a team removes all its members', async () => {
  const team = await makeTeam(server, account, account.siteId);
  const operator = await makeOperator(server, account, [
    { site_id: account.siteId, role: 'operator', team_ids: [team] },
  ]);
  const visitor = await makeVisitor(server, account);
  const visitorPath = `/sites/${account.siteId}/visitors/${visitor.id}`;
  expectStatus(await call(server, `PATCH ${visitorPath}`, { token, body: { team_ids: [team] } }), 200);
  expectStatus(await call(server, `DELETE /teams/${team}`, { token }), 204);
  assert.deepEqual((await call(server, `GET /operators/${operator.id}`, { token })).body.assignments[0].team_ids, []);
  assert.deepEqual((await call(server, `GET ${visitorPath}`, { token })).body.team_ids, []);
});

test('D9.10 an operator is created with assignments, whose role defaults to the operator’s role', async () => {
  const second = await makeSite(server, account);
  const team = await makeTeam(server, account, account.siteId);
  const body = {
    name: 'Ann',
    email: 'Ann@test',
    role: 'manager',
    assignments: [
      { site_id: account.siteId, team_ids: [team] },
      { site_id: second, role: 'operator' },
    ],
  };
  const created = expectStatus(await call(server, 'POST /operators', { token, body }), 201);
  const { id, created_at: createdAt, updated_at: updatedAt, assignments, ...rest } = created.body;
  assert.equal(created.headers.get('location'), `/operators/${id}`);
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(rest, {
    name: 'Ann',
    email: 'Ann@test',
    role: 'manager',
    max_engagement_count: 1,
    enabled: true,
    available: false,
    media: ['text', 'phone', 'audio', 'video'],
    presence_reason: null,
    presence_set_at: null,
    presence_expires_at: null,
    sign_in: { password: false, invited_until: null },
    display_name: 'Ann',
    picture_url: null,
    href: `${server.url}/operators/${id}`,
  });
  const expected = [
    { site_id: account.siteId, role: 'manager', team_ids: [team] },
    { site_id: second, role: 'operator', team_ids: [] },
  ];
  assert.deepEqual(
    assignments,
    expected.toSorted((a, b) => (a.site_id < b.site_id ? -1 : 1)),
  );
  const taken = await call(server, 'POST /operators', { token, body: { name: 'Bob', email: 'aNN@test' } });
  assert.equal(expectStatus(taken, 409).body.error, 'email_taken');
  const stranger = await makeAccount(server);
  expectStatus(
    await call(server, 'POST /operators', { token: stranger.admin, body: { name: 'Ann', email: 'ann@test' } }),
    201,
  );
});

test('the display name follows the name until another one is chosen', async () => {
  const body = { name: 'Ann', email: `${randomUUID()}@test` };
  const created = expectStatus(await call(server, 'POST /operators', { token, body }), 201).body;
  const change = async (fields: Json): Promise<string> =>
    expectStatus(await call(server, `PATCH /operators/${created.id}`, { token, body: fields }), 200).body.display_name;
  assert.equal(await change({ name: 'Anna' }), 'Anna');
  assert.equal(await change({ display_name: 'Ann of Sales' }), 'Ann of Sales');
  assert.equal(await change({ name: 'Ann' }), 'Ann of Sales');
  const read = expectStatus(await call(server, `GET /operators/${created.id}`, { token }), 200).body;
  assert.equal(await change(read), 'Ann of Sales', 'sending back what was read changes nothing');
  assert.equal(await change({ display_name: null }), 'Ann');
  assert.equal(await change({ display_name: 'Eve' }), 'Eve');
  assert.equal(await change({ display_name: '' }), 'Ann');
  assert.equal(await change({ ...read, name: 'Anna', display_name: 'Anna' }), 'Anna');
  assert.equal(await change({ name: 'Ann' }), 'Ann');
  const again = expectStatus(await call(server, `GET /operators/${created.id}`, { token }), 200).body;
  assert.equal(await change({ ...again, name: 'Anna' }), 'Anna', 'read, renamed and sent back');
  assert.equal(await change({ display_name: '  ' }), 'Anna');
  const long = { display_name: 'x'.repeat(256) };
  expectStatus(await call(server, `PATCH /operators/${created.id}`, { token, body: long }), 422);
});

test('with an invalid Host header the change is kept and href is a path', async () => {
  const operator = await makeOperator(server, account, []);
  const answer = await new Promise<unknown>((resolve, reject) => {
    const headers = { authorization: `Bearer ${operator.token}`, 'content-type': 'application/json', host: 'x$y' };
    const options = { method: 'PATCH', headers };
    request(`${server.url}/operators/${operator.id}`, options, (response) => void json(response).then(resolve, reject))
      .on('error', reject)
      .end('{"available":true}');
  });
  const { available, href } = answer as Json;
  assert.deepEqual([available, href], [true, `/operators/${operator.id}`]);
});

test('all violations of assignments are reported together', async () => {
  const foreign = await makeAccount(server);
  const second = await makeSite(server, account);
  const foreignTeam = await makeTeam(server, account, second);
  const body = {
    name: 'Eve',
    email: 'eve@test',
    assignments: [
      { site_id: foreign.siteId },
      { site_id: account.siteId, team_ids: [foreignTeam] },
      { site_id: account.siteId },
    ],
  };
  const answer = expectStatus(await call(server, 'POST /operators', { token, body }), 422);
  assert.deepEqual(answer.body.details, [
    { attribute: '/assignments/0/site_id', detail: 'is not a site that this token reaches' },
    { attribute: '/assignments/1/team_ids/0', detail: 'is not a team of the site' },
    { attribute: '/assignments/2/site_id', detail: 'is assigned twice' },
  ]);
});

test('D9.4 only a super_manager of both sites may change an operator of two sites', async () => {
  const second = await makeSite(server, account);
  const target = await makeOperator(server, account, [
    { site_id: account.siteId, role: 'operator' },
    { site_id: second, role: 'super_manager' },
  ]);
  const half = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  for (const [request, body] of [
    [`PATCH /operators/${target.id}`, { name: 'Mine' }],
    [`PATCH /operators/${target.id}`, { assignments: [] }],
    [`DELETE /operators/${target.id}`, undefined],
    [`POST /operators/${target.id}/api_keys`, undefined],
    [`GET /operators/${target.id}/api_keys`, undefined],
    [`DELETE /operators/${target.id}/api_keys/${target.keyId}`, undefined],
  ] as const) {
    expectStatus(await call(server, request, { token: half.token, body }), 403);
  }
  expectStatus(await call(server, `GET /operators/${target.id}`, { token: half.token }), 200);
  const widen = {
    assignments: [
      { site_id: account.siteId, role: 'super_manager' },
      { site_id: second, role: 'super_manager' },
    ],
  };
  const own = await call(server, `PATCH /operators/${half.id}`, { token: half.token, body: widen });
  assert.equal(own.status, 422);
});

test('D9.5 the last enabled super_manager of a site cannot be removed, even by concurrent requests', async () => {
  const own = await makeAccount(server);
  const path = `/operators/${own.adminId}`;
  const demote = { assignments: [{ site_id: own.siteId, role: 'manager' }] };
  for (const [request, body] of [
    [`DELETE ${path}`, undefined],
    [`PATCH ${path}`, { enabled: false }],
    [`PATCH ${path}`, demote],
    [`PATCH ${path}`, { assignments: [] }],
  ] as const) {
    const answer = await call(server, request, { token: own.admin, body });
    assert.equal(expectStatus(answer, 409).body.error, 'last_super_manager');
  }
  const deputy = await makeOperator(server, own, [{ site_id: own.siteId, role: 'super_manager' }]);
  const [first, second] = await Promise.all([
    call(server, `DELETE ${path}`, { token: own.admin }),
    call(server, `DELETE /operators/${deputy.id}`, { token: deputy.token }),
  ]);
  // The second request fails, because it would remove the last super_manager or its token is revoked already.
  const statuses = [first.status, second.status].toSorted((a, b) => a - b);
  assert.equal(statuses[0], 204);
  assert.ok(statuses[1] === 409 || statuses[1] === 401, String(statuses));
});

test('DELETE disables an operator, who is listed only on request and can be enabled again', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const ids = async (query: string): Promise<string[]> => {
    const { body } = expectStatus(await call(server, `GET /operators?${query}`, { token: own.admin }), 200);
    return body.operators.map((listed: { id: string }) => listed.id);
  };
  assert.deepEqual(await ids('include_offline=true'), [own.adminId, operator.id]);
  assert.deepEqual(await ids(''), [own.adminId, operator.id]);
  assert.deepEqual(await ids('include_offline=false'), []);
  expectStatus(
    await call(server, `PUT /operators/${operator.id}/presence`, { token: operator.token, body: { available: true } }),
    200,
  );
  assert.deepEqual(await ids('include_offline=false'), [operator.id]);
  expectStatus(await call(server, `DELETE /operators/${operator.id}`, { token: own.admin }), 204);
  assert.deepEqual(await ids('include_offline=true'), [own.adminId]);
  assert.deepEqual(await ids('include_offline=true&include_disabled=true'), [own.adminId, operator.id]);
  const team = await makeTeam(server, own, own.siteId);
  assert.deepEqual(await ids(`include_offline=true&team_ids[]=${team}`), []);
});

test('D5.5 presence lasts until it is changed or its lease expires', async () => {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const path = `/operators/${operator.id}`;
  const forever = await call(server, `PUT ${path}/presence`, {
    token: operator.token,
    body: { available: true, media: ['text'], reason: 'desk' },
  });
  assert.deepEqual(
    [forever.body.available, forever.body.media, forever.body.presence_reason, forever.body.presence_expires_at],
    [true, ['text'], 'desk', null],
  );
  const leased = await call(server, `PUT ${path}/presence`, {
    token: own.admin,
    body: { available: true, expires_in_sec: 60 },
  });
  const seconds = (Date.parse(leased.body.presence_expires_at) - Date.now()) / 1000;
  assert.ok(seconds > 55 && seconds <= 61, String(seconds));
  assert.deepEqual(leased.body.media, ['text', 'phone', 'audio', 'video']);
  await server.database
    .sql`UPDATE operators SET presence_expires_at = now() - interval '1 second' WHERE id = ${operator.id}`;
  assert.equal((await call(server, `GET ${path}`, { token: operator.token })).body.available, false);
  const self = await call(server, `PATCH ${path}`, { token: operator.token, body: { available: true } });
  assert.equal(expectStatus(self, 200).body.available, true);
  expectStatus(
    await call(server, `PATCH ${path}`, { token: operator.token, body: { available: true, role: 'super_manager' } }),
    403,
  );
  for (const body of [
    {},
    { available: 'yes' },
    { available: true, media: ['fax'] },
    { available: true, media: ['text', 'text'] },
    { available: true, expires_in_sec: 0 },
  ]) {
    expectStatus(await call(server, `PUT ${path}/presence`, { token: operator.token, body }), 422);
  }
});
