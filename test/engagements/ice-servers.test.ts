import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { readConfig, SettingError } from '../../packages/server/src/config.ts';
import { call, startTestServer } from '../support/server.ts';
import { expectStatus, makeAccount, makeVisitor } from '../support/world.ts';

const secret = 'shared-with-the-relay';
const urls = 'stun:stun.test:3478, turn:turn.test?transport=udp,turns:turn.test:443?transport=tcp';

test('without a setting the list of servers is empty', async () => {
  await using server = await startTestServer();
  const { admin } = await makeAccount(server);
  const { body } = expectStatus(await call(server, 'GET /ice_servers', { token: admin }), 200);
  assert.deepEqual(body, { ice_servers: [], expires_in: 3_600 });
});

test('relays are listed with credentials for the caller, signed with the shared secret and valid for an hour', async () => {
  const { ice } = readConfig({ USHER_ICE_SERVERS: urls, USHER_TURN_SECRET: secret });
  await using server = await startTestServer({ ice });
  const own = await makeAccount(server);
  const visitor = await makeVisitor(server, own);
  const callers = [
    [own.admin, `operator-${own.adminId}`],
    [visitor.token, `visitor-${visitor.id}`],
  ] as const;
  for (const [token, name] of callers) {
    const before = Math.floor(Date.now() / 1_000);
    const { body, headers } = expectStatus(await call(server, 'GET /ice_servers', { token }), 200);
    const [stun, turn, ...more] = body.ice_servers;
    assert.deepEqual(stun, { urls: ['stun:stun.test:3478'] });
    assert.deepEqual(turn.urls, ['turn:turn.test?transport=udp', 'turns:turn.test:443?transport=tcp']);
    assert.deepEqual(more, []);
    const [expiry, who] = turn.username.split(':');
    assert.equal(who, name);
    assert.ok(Number(expiry) >= before + 3_600 && Number(expiry) <= Date.now() / 1_000 + 3_600);
    // The check that coturn does.
    assert.equal(turn.credential, createHmac('sha1', secret).update(turn.username).digest('base64'));
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.ok(!JSON.stringify(body).includes(secret));
  }
  assert.equal((await call(server, 'GET /ice_servers')).status, 401);
});

test('a URL that browsers reject stops the start with an explanation', () => {
  const wrong = [
    'stun.test:3478',
    'http://stun.test',
    'stun://stun.test',
    'stun:',
    'stun:user@stun.test',
    'stun:stun.test?transport=udp',
    'turn:turn.test?transport=sctp',
    'turn:turn.test:0',
    'turn:turn.test:65536',
    'turn:turn.test/path',
    'TURN:turn.test',
    'stun:[::1',
    'stun:[1:2:3]',
    'stun:a,,stun:b',
    'stun:a b',
  ];
  for (const each of wrong) {
    assert.throws(
      () => readConfig({ USHER_ICE_SERVERS: each, USHER_TURN_SECRET: secret }),
      (error: Error) => error instanceof SettingError && error.message.startsWith('USHER_ICE_SERVERS must be a list'),
      each,
    );
  }
  const many = Array.from({ length: 11 }, (_, index) => `stun:s${index}.test`).join(',');
  assert.throws(() => readConfig({ USHER_ICE_SERVERS: many }), /10 servers at most, not 11/);
  for (const good of ['stun:a', 'stuns:a:5349', 'stun:[2001:db8::1]:3478', 'stun:10.0.0.1'])
    assert.deepEqual(readConfig({ USHER_ICE_SERVERS: good }).ice.urls, [good]);
});

test('a relay requires a secret and a secret a relay, and the error does not repeat the secret', () => {
  const relay = 'turn:turn.test';
  const refused: Record<string, string>[] = [
    { USHER_ICE_SERVERS: relay },
    { USHER_TURN_SECRET: secret },
    { USHER_ICE_SERVERS: 'stun:a', USHER_TURN_SECRET: secret },
    { USHER_ICE_SERVERS: relay, USHER_TURN_SECRET: 'short' },
    { USHER_ICE_SERVERS: relay, USHER_TURN_SECRET: 'with a space in between' },
  ];
  for (const environment of refused) {
    assert.throws(
      () => readConfig(environment),
      (error: Error) =>
        error instanceof SettingError &&
        error.message.includes('USHER_TURN_SECRET') &&
        !error.message.includes(environment['USHER_TURN_SECRET'] ?? '-'.repeat(99)),
      JSON.stringify(environment),
    );
  }
});
