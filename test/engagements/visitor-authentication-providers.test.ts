import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { authenticate } from '../support/people/authentication.ts';
import { openWorld } from '../support/fixture.ts';
import { TestOpenid } from '../support/services/openid.ts';
import { call, startTestServer, type Json, type TestServer } from '../support/server.ts';
import {
  expectStatus,
  makeAccount,
  makeProvider,
  makeSite,
  makeVisitor,
  providerFields,
  type TestAccount,
} from '../support/world.ts';

const { server, account: own } = await openWorld();

const pathOf = ({ siteId }: TestAccount): string => `/sites/${siteId}/visitor_authentication_providers`;

async function add(fields: Json, at: TestServer = server, who: TestAccount = own) {
  return call(at, `POST ${pathOf(who)}`, { token: who.admin, body: { ...providerFields(), ...fields } });
}

async function violations(fields: Json, at: TestServer = server, who: TestAccount = own): Promise<string[]> {
  return expectStatus(await add(fields, at, who), 422).body.details.map(({ attribute }: Json) => attribute);
}

test('a provider is registered, read, listed and deleted; its secret is never shown', async () => {
  const account = await makeAccount(server);
  const given = { ...providerFields(), redirect_uris: ['https://app.example/back', 'com.example.app:/back'] };
  const made = expectStatus(await add({ ...given, client_secret: 'hush' }, server, account), 201);
  const { id, created_at, ...rest } = made.body;
  assert.ok(Date.parse(created_at) <= Date.now());
  assert.deepEqual(rest, { ...given, site_id: account.siteId, has_client_secret: true });
  assert.equal(made.headers.get('location'), `${pathOf(account)}/${id}`);
  const read = async (path = '') => call(server, `GET ${pathOf(account)}${path}`, { token: account.admin });
  assert.deepEqual((await read(`/${id}`)).body, made.body);
  const plain = expectStatus(await add({}, server, account), 201).body;
  assert.deepEqual([plain.has_client_secret, plain.redirect_uris], [false, []]);
  assert.deepEqual((await read()).body, { visitor_authentication_providers: [made.body, plain] });

  const otherSite = { ...account, siteId: await makeSite(server, account) };
  expectStatus(await call(server, `GET ${pathOf(otherSite)}/${id}`, { token: account.admin }), 404);
  expectStatus(await call(server, `DELETE ${pathOf(otherSite)}/${id}`, { token: account.admin }), 404);
  const remove = async () => call(server, `DELETE ${pathOf(account)}/${id}`, { token: account.admin });
  const statuses = (await Promise.all([remove(), remove()])).map(({ status }) => String(status));
  assert.deepEqual(statuses.toSorted(), ['204', '404']);
  expectStatus(await read(`/${id}`), 404);
});

test('a repeated Idempotency-Key gets the same answer, without the secret', async () => {
  const account = await makeAccount(server);
  const body = { ...providerFields(), client_secret: 'hush hush' };
  const headers = { 'idempotency-key': randomUUID() };
  const send = async () => call(server, `POST ${pathOf(account)}`, { token: account.admin, body, headers });
  const [first, second] = [expectStatus(await send(), 201), expectStatus(await send(), 201)];
  assert.deepEqual(second.body, first.body);
  assert.ok(!JSON.stringify(second.body).includes('hush'));
});

test('an invalid provider is refused with all violations', async () => {
  const empty = await call(server, `POST ${pathOf(own)}`, { token: own.admin, body: {} });
  assert.deepEqual(
    expectStatus(empty, 422).body.details.map(({ attribute }: Json) => attribute),
    ['/name', '/type', '/issuer', '/client_id'],
  );
  const issuers = [
    '',
    'idp.example',
    'ftp://idp.example',
    'https://a:b@idp.example',
    'https://idp.example?a',
    'https://',
  ];
  for (const issuer of [...issuers, 'https://idp.example/#x', 'https://idp.example/ x', 5, null])
    assert.deepEqual(await violations({ issuer }), ['/issuer'], String(issuer));
  assert.deepEqual(await violations({ type: 'saml', name: '', client_id: '' }), ['/name', '/type', '/client_id']);
  assert.deepEqual(await violations({ client_secret: '' }), ['/client_secret']);
  assert.deepEqual(await violations({ redirect_uris: ['/back', 'https://a.b/#c', 'https://a.b/'] }), [
    '/redirect_uris/0',
    '/redirect_uris/1',
  ]);
  assert.deepEqual(await violations({ redirect_uris: ['app:/a', 'app:/a'] }), ['/redirect_uris']);
  const many = Array.from({ length: 21 }, (_, index) => `app:/${index}`);
  assert.deepEqual(await violations({ redirect_uris: many }), ['/redirect_uris']);
  assert.deepEqual(await violations({ colour: 'red' }), ['/colour']);
  // A read-only field that is sent back is ignored.
  const { body } = expectStatus(await add({ has_client_secret: true }), 201);
  assert.equal(body.has_client_secret, false);
});

test('a name is unique on its site in any letter case, and a site has at most 20 providers, exactly', async () => {
  const account = await makeAccount(server);
  const names = ['Corp', 'corp', 'CORP', 'Corp'];
  const answers = await Promise.all(names.map(async (name) => add({ name }, server, account)));
  assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['201', '409', '409', '409']);
  for (const { status, body } of answers) if (status === 409) assert.equal(body.error, 'provider_name_taken');
  const otherSite = { ...account, siteId: await makeSite(server, account) };
  await makeProvider(server, otherSite, { name: 'Corp' });
  const more = await Promise.all(Array.from({ length: 24 }, async () => add({}, server, account)));
  assert.equal(more.filter(({ status }) => status === 201).length, 19);
  for (const { status, body } of more) if (status !== 201) assert.equal(body.error, 'too_many');
});

test('D8.9 an issuer must be at an address that Usher may connect to', async () => {
  const forbidden = [
    'https://10.0.0.1',
    'https://169.254.169.254/x',
    'https://[fd00:ec2::254]',
    'https://0',
    'https://[::]',
  ];
  for (const issuer of [...forbidden, 'https://192.168.1', 'http://8.8.8.8', 'http://[2606:4700:4700::1111]/'])
    assert.deepEqual(await violations({ issuer }), ['/issuer'], issuer);
  const plain = expectStatus(await add({ issuer: 'http://8.8.8.8' }), 422).body;
  assert.match(plain.detail, /must be https/);
  for (const issuer of ['https://8.8.8.8', 'https://127.0.0.1:9/a', 'http://[::1]:9', 'http://localhost:9'])
    expectStatus(await add({ issuer }), 201);

  const strict = await startTestServer({ webhookAllowCidrs: [] });
  try {
    const account = await makeAccount(strict);
    for (const issuer of [
      'https://127.0.0.1',
      'https://localhost',
      'http://localhost',
      'https://2130706433',
      'https://[::1]',
    ])
      assert.deepEqual(await violations({ issuer }, strict, account), ['/issuer'], issuer);
  } finally {
    await strict[Symbol.asyncDispose]();
  }
});

test('D8.9 Usher does not connect to a registered provider whose range is no longer allowed', async () => {
  const openid = await new TestOpenid().start();
  const strict = await startTestServer({ webhookAllowCidrs: ['10.0.0.0/8'] }, server.database.address);
  try {
    const account = await makeAccount(strict);
    const provider_id = await makeProvider(server, account, { issuer: openid.issuer, client_id: openid.clientId });
    await stopDeciding(server);
    const visitor = await makeVisitor(strict, account);
    const body = { provider_id, id_token: await openid.idToken() };
    assert.equal(await authenticate(strict, visitor, body), 'provider_unreachable');
    assert.deepEqual(openid.requestedPaths, []);
  } finally {
    await strict[Symbol.asyncDispose]();
    await openid.stop();
  }
});

/** For the last test: stops the server that may connect, so that only the other one decides. */
async function stopDeciding({ app }: TestServer): Promise<void> {
  app.server.closeAllConnections();
  await app.close();
}
