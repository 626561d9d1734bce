import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call } from '../support/server.ts';
import {
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makeSite,
  makeTeam,
  makeVisitor,
} from '../support/world.ts';

const { server, account } = await openWorld();
const operator = (await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }])).token;

test('an application token creates a visitor on its site', async () => {
  const { header } = await makeApplicationToken(server, account, 'publishable');
  const team = await makeTeam(server, account, account.siteId);
  const created = await call(server, 'POST /visitors', { token: header, body: { name: 'Vi', team_ids: [team] } });
  assert.deepEqual(Object.keys(expectStatus(created, 200).body), ['id', 'access_token', 'expires_in']);
  const path = `/sites/${account.siteId}/visitors/${created.body.id}`;
  const { body } = expectStatus(await call(server, `GET ${path}`, { token: created.body.access_token }), 200);
  const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = body;
  assert.equal(id, created.body.id);
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(rest, {
    site_id: account.siteId,
    name: 'Vi',
    email: null,
    phone: null,
    note: null,
    custom_attributes: {},
    external_id: null,
    team_ids: [team],
    presence_expires_at: null,
  });
  const elsewhere = await makeSite(server, account);
  expectStatus(await call(server, 'POST /visitors', { token: header, body: { site_id: elsewhere } }), 404);
  // The administrator has two sites by now. An operator of one site can omit site_id.
  expectStatus(await call(server, 'POST /visitors', { token: account.admin }), 422);
  expectStatus(await call(server, 'POST /visitors', { token: operator }), 200);
  const foreignTeam = await makeTeam(server, account, elsewhere);
  const refused = await call(server, 'POST /visitors', { token: header, body: { team_ids: [team, foreignTeam] } });
  assert.deepEqual(expectStatus(refused, 422).body.details, [
    { attribute: '/team_ids/1', detail: 'is not a team of the site' },
  ]);
});

test('notes are replaced or appended, attributes are replaced or merged', async () => {
  const visitor = await makeVisitor(server, account);
  const path = `/sites/${account.siteId}/visitors/${visitor.id}`;
  const patch = async (body: unknown) =>
    expectStatus(await call(server, `PATCH ${path}`, { token: operator, body }), 200).body;
  assert.equal((await patch({ note: 'one' })).note, 'one');
  assert.equal((await patch({ note: 'two', note_update_method: 'append' })).note, 'one\ntwo');
  assert.equal((await patch({ note: 'three', note_update_method: 'replace' })).note, 'three');
  assert.equal((await patch({ note: null })).note, null);
  assert.deepEqual((await patch({ custom_attributes: { a: '1', b: '2' } })).custom_attributes, { a: '1', b: '2' });
  const merged = await patch({ custom_attributes: { b: null, c: '3' }, custom_attributes_update_method: 'merge' });
  assert.deepEqual(merged.custom_attributes, { a: '1', c: '3' });
  assert.deepEqual((await patch({ custom_attributes: { d: '4' } })).custom_attributes, { d: '4' });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, 'v']));
  await patch({ custom_attributes: many });
  const tooMany = await call(server, `PATCH ${path}`, {
    token: operator,
    body: { custom_attributes: { more: 'v' }, custom_attributes_update_method: 'merge' },
  });
  assert.equal(expectStatus(tooMany, 422).body.details[0].attribute, '/custom_attributes');
  for (const body of [
    { custom_attributes: { a: 1 } },
    { custom_attributes: [] },
    { email: 'nobody' },
    { note_update_method: 'prepend' },
    { surprise: 1 },
  ]) {
    expectStatus(await call(server, `PATCH ${path}`, { token: operator, body }), 422);
  }
});

test('two concurrent merges are both applied', async () => {
  const visitor = await makeVisitor(server, account);
  const path = `/sites/${account.siteId}/visitors/${visitor.id}`;
  const method = { custom_attributes_update_method: 'merge' };
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) =>
      call(server, `PATCH ${path}`, { token: operator, body: { custom_attributes: { [`k${i}`]: 'v' }, ...method } }),
    ),
  );
  const { body } = await call(server, `GET ${path}`, { token: operator });
  assert.equal(Object.keys(body.custom_attributes).length, 20);
});

test('D9.6 visitors can change their name, but not see notes or reach other visitors', async () => {
  const visitor = await makeVisitor(server, account);
  const other = await makeVisitor(server, account);
  const path = `/sites/${account.siteId}/visitors/${visitor.id}`;
  expectStatus(await call(server, `PATCH ${path}`, { token: operator, body: { note: 'difficult' } }), 200);
  const named = await call(server, `PATCH ${path}`, {
    token: visitor.token,
    body: { name: 'Me', email: 'me@x', phone: '+1' },
  });
  assert.deepEqual([expectStatus(named, 200).body.name, named.body.note], ['Me', null]);
  assert.equal((await call(server, `GET ${path}`, { token: visitor.token })).body.note, null);
  assert.equal((await call(server, `GET ${path}`, { token: operator })).body.note, 'difficult');
  for (const body of [{ note: 'x' }, { team_ids: [] }, { external_id: 'x' }, { note_update_method: 'append' }]) {
    expectStatus(await call(server, `PATCH ${path}`, { token: visitor.token, body }), 403);
  }
  expectStatus(await call(server, `GET ${path}`, { token: other.token }), 404);
  expectStatus(await call(server, `PATCH ${path}`, { token: other.token, body: { name: 'Hacked' } }), 404);
  expectStatus(
    await call(server, `PUT /visitors/${visitor.id}/presence`, { token: other.token, body: { expires_in_sec: 5 } }),
    404,
  );
  expectStatus(
    await call(server, `PATCH /visitors/${visitor.id}`, { token: other.token, body: { site_id: account.siteId } }),
    404,
  );
});

test('a visitor moves to another site of the account and keeps their token', async () => {
  const elsewhere = await makeSite(server, account);
  const stranger = await makeAccount(server);
  const team = await makeTeam(server, account, account.siteId);
  const visitor = await makeVisitor(server, account);
  const here = `/sites/${account.siteId}/visitors/${visitor.id}`;
  expectStatus(await call(server, `PATCH ${here}`, { token: operator, body: { team_ids: [team] } }), 200);
  const moved = await call(server, `PATCH /visitors/${visitor.id}`, {
    token: visitor.token,
    body: { site_id: elsewhere },
  });
  assert.deepEqual([expectStatus(moved, 200).body.site_id, moved.body.team_ids], [elsewhere, []]);
  expectStatus(await call(server, `GET ${here}`, { token: visitor.token }), 404);
  expectStatus(await call(server, `GET ${here}`, { token: operator }), 404);
  expectStatus(await call(server, `GET /sites/${elsewhere}/visitors/${visitor.id}`, { token: visitor.token }), 200);
  const abroad = await call(server, `PATCH /visitors/${visitor.id}`, {
    token: visitor.token,
    body: { site_id: stranger.siteId },
  });
  assert.equal(expectStatus(abroad, 422).body.details[0].attribute, '/site_id');
});

test('a visitor renews their presence', async () => {
  const visitor = await makeVisitor(server, account);
  const answer = await call(server, `PUT /visitors/${visitor.id}/presence`, {
    token: visitor.token,
    body: { expires_in_sec: 30 },
  });
  const seconds = (Date.parse(expectStatus(answer, 200).body.presence_expires_at) - Date.now()) / 1000;
  assert.ok(seconds > 25 && seconds <= 31, String(seconds));
});
