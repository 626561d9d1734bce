import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../config.ts';
import { AddressGuard, bareHost, ForbiddenAddress } from './address-guard.ts';

const forbidden = [
  // this machine, and nothing in particular
  ['127.0.0.1', '127.255.255.254', '::1', '0.0.0.0', '0.1.2.3', '::'],
  // networks around it
  ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '100.127.255.255', '169.254.1.1'],
  ['fe80::1', 'fe80::1%eth0', 'fe80::1%eth0.1', 'febf::1', 'fec0::1', 'fc00::1', 'fdff::1'],
  // metadata of clouds
  ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', 'fe80::a9fe:a9fe'],
  // many, all
  ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1', 'ff0e::1'],
  // benchmarks, documentation, protocols, reserved
  ['198.18.0.1', '198.19.255.255', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.0.0.1', '240.0.0.1', '192.88.99.1'],
  ['2001:db8::1', '3fff::1', '2001:2::1', '2001:10::1', '100::1', '5f00::1', '4000::1', '1::1'],
  // IPv6 that stands for forbidden IPv4
  ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '0:0:0:0:0:ffff:c0a8:1'],
  ['::127.0.0.1', '::7f00:1', '::a9fe:a9fe', '::8.8.8.8', '::808:808', '::ffff:0:7f00:1', '::ffff:0:808:808'],
  ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::a00:1', '64:ff9b:1::808:808', '64:ff9b:1::a00:1'],
  ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1', '2001:0:a00:1::1', '2001::1'],
  // no addresses at all
  ['', 'localhost', '127.1', '0x7f.1', '2130706433', '1.2.3.4.5', ':::', '::1/128'],
].flat();

const open = [
  [
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '169.253.0.1',
    '223.255.255.255',
  ],
  ['2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8', '64:ff9b::808:808'],
].flat();

test('D8.9 what may be connected to, by address', () => {
  const guard = new AddressGuard([]);
  for (const address of forbidden) assert.equal(guard.standing(address), 'forbidden', address);
  for (const address of open) assert.equal(guard.standing(address), 'public', address);
});

test('ranges that the settings allow, and nothing beside them', () => {
  const guard = new AddressGuard(['127.0.0.0/8', '::1', '10.1.0.0/16', 'fd12::/16', '192.168.7.9']);
  const standings = {
    allowed: ['127.0.0.1', '::ffff:127.0.0.1', '::1', '10.1.255.255', 'fd12::1', '192.168.7.9', '64:ff9b::10.1.0.1'],
    forbidden: ['10.2.0.0', '192.168.7.8', 'fd13::1', '169.254.169.254', '::7f00:1', '2002:7f00:1::'],
    public: ['8.8.8.8', '2606:4700:4700::1111'],
  };
  for (const [standing, addresses] of Object.entries(standings))
    for (const address of addresses) assert.equal(guard.standing(address), standing, address);
});

test('by default nothing is allowed but, with the embedded database, loopback; a setting replaces that', () => {
  const DATABASE_URL = 'postgres://user@db.example/usher';
  const allowed = (environment: Record<string, string>): string[] => {
    const guard = new AddressGuard(readConfig(environment).webhookAllowCidrs);
    return ['127.0.0.2', '::1', '10.1.2.3', 'fd00:ec2::254'].filter((address) => guard.permits(address));
  };
  assert.deepEqual(allowed({}), ['127.0.0.2', '::1']);
  assert.deepEqual(allowed({ DATABASE_URL }), []);
  assert.deepEqual(allowed({ USHER_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, ::1' }), ['::1', '10.1.2.3']);
  assert.deepEqual(allowed({ DATABASE_URL, USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.2' }), ['127.0.0.2']);
});

test('IPv4 in any spelling is a plain address in a parsed URL', async () => {
  const guard = new AddressGuard([], unreachable);
  const spellings = [
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '0x7f.1',
    '017700000001',
    '127.0.0.1.',
    '①②⑦.0.0.1',
  ];
  for (const host of [...spellings, '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[::1]', '0']) {
    const url = new URL(`http://${host}/`);
    assert.equal(guard.standing(bareHost(url)), 'forbidden', host);
    assert.match((await guard.complaint(url)) ?? '', /may connect to/, host);
  }
  for (const host of ['8.8.8.8', '134744072', '[2606:4700:4700::1111]'])
    assert.equal(await guard.complaint(new URL(`http://${host}/`)), null, host);
  assert.match((await guard.complaint(new URL('http://8.8.8.8/'), { onlyAllowed: true })) ?? '', /may connect to/);
});

async function unreachable(): Promise<never> {
  throw Object.assign(new Error('no DNS'), { code: 'ENOTFOUND' });
}

function resolving(...addresses: string[]): AddressGuard {
  return new AddressGuard(['10.0.0.0/8'], async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  );
}

test('a name with one bad address is as bad as that', async () => {
  const url = new URL('https://idp.example/');
  const good = resolving('8.8.8.8', '2606:4700:4700::1111', '10.0.0.1');
  assert.equal(await good.complaint(url), null);
  assert.equal((await good.addresses('idp.example')).length, 3);
  assert.match((await good.complaint(url, { onlyAllowed: true })) ?? '', /8\.8\.8\.8/);
  for (const bad of [
    ['8.8.8.8', '127.0.0.1'],
    ['::1', '8.8.8.8'],
    ['169.254.169.254'],
    ['8.8.8.8', '64:ff9b::7f00:1'],
  ]) {
    const guard = resolving(...bad);
    assert.match((await guard.complaint(url)) ?? '', /idp\.example resolves to .* may connect to/);
    await assert.rejects(guard.addresses('idp.example'), ForbiddenAddress);
  }
  await assert.rejects(resolving().addresses('idp.example'), /has no address/);
});

test('a name that does not resolve when it is registered is not held against it; nor is one that takes too long', async (t) => {
  const url = new URL('https://idp.example/');
  const deaf = new AddressGuard([], unreachable);
  assert.equal(await deaf.complaint(url), null);
  assert.match((await deaf.complaint(url, { onlyAllowed: true })) ?? '', /cannot be resolved/);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waiting = new AddressGuard([], async () => new Promise(() => undefined)).complaint(url);
  t.mock.timers.tick(3_000);
  assert.equal(await waiting, null);
});

test('who asks for a name that is being resolved waits for that, and whoever comes later asks anew', async () => {
  const answers: (() => void)[] = [];
  const guard = new AddressGuard([], async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answers.push(resolve);
    await promise;
    return [{ address: '127.0.0.1', family: 4 }];
  });
  const first = Array.from({ length: 32 }, async () => guard.addresses('slow.example'));
  const other = guard.addresses('other.example');
  assert.equal(answers.length, 2);
  answers[0]?.();
  for (const { status } of await Promise.allSettled(first)) assert.equal(status, 'rejected');
  answers[1]?.();
  await assert.rejects(other, ForbiddenAddress);
  const later = guard.addresses('slow.example');
  assert.equal(answers.length, 3);
  answers[2]?.();
  await assert.rejects(later, ForbiddenAddress);
});
