import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call, type Json } from '../support/server.ts';
import { expectStatus, makeAccount, makePolicy, policyFields } from '../support/world.ts';

const collection = '/queues/scheduling_policies';

const { server, account } = await openWorld();

test('a policy is created, read, listed, changed with If-Match and deleted', async () => {
  const own = await makeAccount(server);
  const token = own.admin;
  const created = expectStatus(
    await call(server, `POST ${collection}`, { token, body: { site_id: own.siteId, ...policyFields } }),
    201,
  );
  const { id, created_at: _createdAt, updated_at: _updatedAt, ...rest } = created.body;
  assert.equal(created.headers.get('location'), `${collection}/${id}`);
  assert.deepEqual(rest, { site_id: own.siteId, description: null, exceptions: [], ...policyFields });
  assert.deepEqual((await call(server, `GET ${collection}/${id}`, { token })).body, created.body);
  const listed = await call(server, `GET ${collection}?site_ids[]=${own.siteId}`, { token });
  assert.deepEqual(listed.body, { scheduling_policies: [created.body], next_page: null });
  const headers = { 'if-match': created.headers.get('etag') ?? '' };
  const body = { ...policyFields, description: 'New', exceptions: [{ date: '2027-12-24' }] };
  const changed = expectStatus(await call(server, `PUT ${collection}/${id}`, { token, body, headers }), 200);
  assert.deepEqual([changed.body.description, changed.body.exceptions], ['New', [{ date: '2027-12-24' }]]);
  expectStatus(await call(server, `PUT ${collection}/${id}`, { token, body, headers }), 412);
  expectStatus(await call(server, `DELETE ${collection}/${id}`, { token, headers }), 412);
  const kept = expectStatus(await call(server, `PUT ${collection}/${id}`, { token, body: policyFields }), 200);
  assert.deepEqual([kept.body.description, kept.body.exceptions], ['New', [{ date: '2027-12-24' }]]);
  const unset = expectStatus(
    await call(server, `PUT ${collection}/${id}`, {
      token,
      body: { ...policyFields, description: null, exceptions: null },
    }),
    200,
  );
  assert.deepEqual([unset.body.description, unset.body.exceptions], [null, []]);
  const deleted = await call(server, `DELETE ${collection}/${id}`, { token });
  assert.deepEqual([deleted.status, deleted.body], [204, '']);
  expectStatus(await call(server, `GET ${collection}/${id}`, { token }), 404);
});

test('D6.5 days are returned in week order without duplicates, and zones in their canonical spelling', async () => {
  const id = await makePolicy(server, account, {
    timezone: 'us/EASTERN',
    business_hours: [{ opens_at: '09:00', closes_at: '17:00', days_of_week: ['Sun', 'MON', 'mon', 'fri'] }],
  });
  const { body } = await call(server, `GET ${collection}/${id}`, { token: account.admin });
  assert.equal(body.timezone, 'US/Eastern');
  assert.deepEqual(body.business_hours[0].days_of_week, ['mon', 'fri', 'sun']);
});

test('D6.6 the preview returns the open intervals as instants, including daylight saving', async () => {
  const id = await makePolicy(server, account, {
    timezone: 'Europe/Tallinn',
    business_hours: [{ opens_at: '22:00', closes_at: '06:00', days_of_week: ['sat'] }],
    exceptions: [{ date: '2027-04-03' }],
  });
  const preview = async (from: string, to: string) =>
    call(server, `GET ${collection}/${id}/preview?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`, {
      token: account.admin,
    });
  // The clocks of Tallinn skip 03:00 to 04:00 on 28 March 2027: the night is an hour shorter.
  const march = expectStatus(await preview('2027-03-27T00:00:00+02:00', '2027-04-12T00:00:00+03:00'), 200);
  assert.deepEqual(march.body.intervals, [
    { opens_at: '2027-03-27T20:00:00.000Z', closes_at: '2027-03-28T03:00:00.000Z' },
    { opens_at: '2027-04-10T19:00:00.000Z', closes_at: '2027-04-11T03:00:00.000Z' },
  ]);
  for (const [from, to] of [
    ['2027-01-02T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['2027-01-01T00:00:00Z', '2028-01-02T00:00:01Z'],
    ['x', '2027-01-01T00:00:00Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ] as const) {
    expectStatus(await preview(from, to), 422);
  }
  expectStatus(await preview('2027-01-01T00:00:00Z', '2028-01-02T00:00:00Z'), 200);
  const missing = await call(server, `GET ${collection}/${id}/preview`, { token: account.admin });
  assert.deepEqual(
    missing.body.details.map(({ attribute }: Json) => attribute),
    ['/from', '/to'],
  );
});
