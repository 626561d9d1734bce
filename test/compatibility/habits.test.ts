import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call } from '../support/server.ts';
import { expectStatus, makeOperator, makeVisitor } from '../support/world.ts';

/** Small habits of existing programs. docs/guide/coming-from-another-vendor.md lists them. */
const { server, account } = await openWorld();
const token = account.admin;

test('2.14 parameters of GET /operators that only change the display are ignored, and the answer says so', async () => {
  await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const plain = expectStatus(await call(server, 'GET /operators?per_page=1', { token }), 200);
  assert.equal(plain.headers.get('preference-applied'), null);
  for (const query of ['include_support=true', 'include_engagements=false', 'view=full', 'order=asc']) {
    const answer = expectStatus(await call(server, `GET /operators?per_page=1&${query}`, { token }), 200);
    assert.deepEqual(answer.body.operators, plain.body.operators, query);
    assert.equal(answer.headers.get('preference-applied'), 'handling=lenient', query);
  }
});

test('2.14 a filter that GET /operators does not know is refused, and with handling=strict so are the ignored ones', async () => {
  const unknown = await call(server, 'GET /operators?order=asc&skill=french', { token });
  assert.deepEqual(
    expectStatus(unknown, 422).body.details.map(({ attribute }: { attribute: string }) => attribute),
    ['/skill'],
  );
  const strict = await call(server, 'GET /operators?order=asc', { token, headers: { prefer: 'handling=strict' } });
  assert.equal(expectStatus(strict, 422).body.details[0].attribute, '/order');
  expectStatus(await call(server, 'GET /teams?order=asc', { token }), 422);
});

test('2.16 GET /visitor shows the visitor of the token', async () => {
  const visitor = await makeVisitor(server, account);
  const path = `/sites/${account.siteId}/visitors/${visitor.id}`;
  const note = { name: 'Uma', note: 'Only for operators' };
  expectStatus(await call(server, `PATCH ${path}`, { token, body: note }), 200);
  const self = expectStatus(await call(server, 'GET /visitor', { token: visitor.token }), 200);
  const byId = expectStatus(await call(server, `GET ${path}`, { token: visitor.token }), 200);
  assert.deepEqual(self.body, byId.body);
  assert.equal(self.headers.get('etag'), byId.headers.get('etag'));
  assert.deepEqual([self.body.id, self.body.name, self.body.note], [visitor.id, 'Uma', null]);
  expectStatus(await call(server, 'GET /visitor', { token }), 403);
});

test('2.17 doubled slashes in a path count as one', async () => {
  const sites = expectStatus(await call(server, 'GET //sites', { token }), 200).body;
  assert.equal(sites.sites[0].id, account.siteId);
  const nested = `GET ///sites//${account.siteId}`;
  assert.equal(expectStatus(await call(server, nested, { token }), 200).body.id, account.siteId);
  // An alias, and a query, which stays as it is.
  const alias = `POST //operators//${account.adminId}`;
  expectStatus(await call(server, alias, { token, body: {} }), 200);
  const { body } = expectStatus(await call(server, 'GET //operators?contains=a//b', { token }), 200);
  assert.deepEqual(body.operators, []);
  expectStatus(await call(server, 'GET //nowhere', { token }), 404);
});

test('the guide for existing programs lists every numbered habit that is tested', () => {
  const numbersIn = (text: string, shape: RegExp): string[] =>
    [...text.matchAll(shape)].map(([, number = '']) => number);
  const sources = globSync('test/compatibility/*.test.ts').map((file) => readFileSync(file, 'utf8'));
  const tested = new Set(sources.flatMap((text) => numbersIn(text, /['"`]([12]\.\d+)(?=['"`: ])/g)));
  const listed = new Set(
    numbersIn(readFileSync('docs/guide/coming-from-another-vendor.md', 'utf8'), /^\| (\d\.\d+) +\|/gm),
  );
  assert.ok(tested.size > 20);
  assert.deepEqual(
    [...tested].filter((number) => !listed.has(number)),
    [],
  );
});
