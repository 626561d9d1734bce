import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { assertPermitted, authenticate, authorize, declareAccess } from '../../packages/server/src/identity/access.ts';
import type { Access } from '../../packages/server/src/identity/declared-access.ts';
import { Authenticator } from '../../packages/server/src/identity/authenticate.ts';
import { createDirectory } from '../../packages/server/src/identity/directory.ts';
import { Keyring } from '../../packages/server/src/identity/signing-keys.ts';
import { Tokens } from '../../packages/server/src/identity/tokens.ts';
import { createApp } from '../../packages/server/src/platform/http/create-app.ts';
import type { App } from '../../packages/server/src/platform/http/http.ts';
import { AddressRate, RateLimit } from '../../packages/server/src/platform/limits/rate-limit.ts';
import { installPath } from '../../packages/server/src/platform/http/request-path.ts';
import { openWorld } from '../support/fixture.ts';
import { unshared } from '../support/unshared-uses.ts';
import { call } from '../support/server.ts';
import { expectStatus, makeAccount, makeSite } from '../support/world.ts';

/** These tests use no access token. */
const accessTokenOptions = { now: Date.now, onUse: () => undefined };
const { server, account } = await openWorld();

/** An app without routes, behind access control. */
function createGuardedApp(): App {
  const { database, changes } = server;
  const app = createApp({ log: pino({ level: 'silent' }), sql: database.sql, trustProxy: false });
  const tokens = new Tokens(new Keyring(database.sql, changes));
  const options = {
    authenticator: new Authenticator(tokens, createDirectory(database.sql, changes), accessTokenOptions),
    perToken: new RateLimit('token', 100, unshared),
    perAddress: new AddressRate(100, unshared),
    failures: new RateLimit('failures', 100, unshared),
    onTrusted: () => undefined,
  };
  installPath(app, {
    atRegistration: [declareAccess(app)],
    onRequest: { perRoute: [authenticate(options)] },
    preHandler: { perRoute: [authorize] },
    onSend: { perRoute: [assertPermitted] },
  });
  return app;
}

test('a route that does not declare who may use it cannot be registered', async () => {
  const app = createGuardedApp();
  assert.throws(() => app.get('/forgotten', async () => 'secret'), /GET \/forgotten does not declare who may use it/);
});

test('a resource route that answers without a permission check fails with an internal error', async () => {
  const app = createGuardedApp();
  const access: Access = { operator: 'manager', site: 'resource' };
  app.get('/careless', { config: { access } }, async () => ({ secret: true }));
  await app.listen({ port: 0 });
  try {
    const address = app.server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const answer = await call({ url: `http://127.0.0.1:${address.port}` }, 'GET /careless', { token: account.admin });
    assert.equal(answer.status, 500);
    assert.equal(answer.body.secret, undefined);
  } finally {
    await app.close();
  }
});

test('D9.7 a token that is limited to some sites reaches no other site', async () => {
  const otherSite = await makeSite(server, account);
  const stranger = await makeAccount(server);
  const credentials = { api_key_id: account.key.id, api_key_secret: account.key.secret };
  const limited = await call(server, 'POST /operator_authentication/tokens', {
    body: { ...credentials, site_ids: [otherSite] },
  });
  const { token } = expectStatus(limited, 200).body;
  expectStatus(await call(server, `GET /sites/${otherSite}`, { token }), 200);
  expectStatus(await call(server, `GET /sites/${account.siteId}`, { token }), 404);
  const session = await call(server, 'GET /operator_authentication/sessions/current', { token });
  assert.deepEqual(session.body.site_roles, { [otherSite]: 'super_manager' });
  for (const beyond of [`POST /operators/${account.adminId}/api_keys`, `GET /operators/${account.adminId}/api_keys`]) {
    expectStatus(await call(server, beyond, { token }), 403);
  }
  expectStatus(await call(server, 'POST /sites', { token, body: { name: 'Beyond' } }), 403);
  const foreign = await call(server, 'POST /operator_authentication/tokens', {
    body: { ...credentials, site_ids: [otherSite, stranger.siteId] },
  });
  assert.equal(foreign.status, 422);
  assert.deepEqual(foreign.body.details, [{ attribute: '/site_ids/1', detail: 'is not a site of this operator' }]);
});
