import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../config.ts';
import { AddressGuard, bareHost, ForbiddenAddress } from './address-guard.ts';

/** A resolver without any names. */
const unknown = {
  resolve: async () => Promise.reject(new Error('no DNS')),
  peek: () => null,
};

const forbidden = [
  // this machine and the unspecified address
  ['127.0.0.1', '127.255.255.254', '::1', '0.0.0.0', '0.1.2.3', '::'],
  // networks around it
  ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '100.127.255.255', '169.254.1.1'],
  ['fe80::1', 'fe80::1%eth0', 'fe80::1%eth0.1', 'febf::1', 'fec0::1', 'fc00::1', 'fdff::1'],
  // metadata and other services of clouds, in private and public ranges
  ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', 'fe80::a9fe:a9fe', '192.0.0.192', 'fd20:ce::254'],
  ['168.63.129.16', '161.26.0.10', '161.26.255.255', '166.8.0.1', '166.11.255.255', '199.36.153.4', '199.36.153.11'],
  [
    '::ffff:168.63.129.16',
    '::ffff:a83f:8110',
    '0:0:0:0:0:ffff:a83f:8110',
    '64:ff9b::168.63.129.16',
    '64:ff9b::a83f:8110',
  ],
  ['2002:a83f:8110::', '2002:a83f:8110::1', '2001:0:a83f:8110::1', '::168.63.129.16', '64:ff9b:1::a83f:8110'],
  ['::ffff:192.0.0.192', '64:ff9b::c000:c0', '::ffff:100.100.100.200', '64:ff9b::6464:64c8', '2002:6464:64c8::'],
  // multicast, broadcast
  ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1', 'ff0e::1'],
  // benchmarks, documentation, protocols, reserved
  ['198.18.0.1', '198.19.255.255', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.0.0.1', '240.0.0.1', '192.88.99.1'],
  ['2001:db8::1', '3fff::1', '2001:2::1', '2001:10::1', '100::1', '5f00::1', '4000::1', '1::1'],
  // IPv6 that wraps forbidden IPv4
  ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '0:0:0:0:0:ffff:c0a8:1'],
  ['::127.0.0.1', '::7f00:1', '::a9fe:a9fe', '::8.8.8.8', '::808:808', '::ffff:0:7f00:1', '::ffff:0:808:808'],
  ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::a00:1', '64:ff9b:1::808:808', '64:ff9b:1::a00:1'],
  ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1', '2001:0:a00:1::1', '2001::1'],
  // not an address
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
  // next to the internal ranges of clouds
  ['168.63.129.15', '168.63.129.17', '161.25.255.255', '161.27.0.0', '166.7.255.255', '166.12.0.0', '199.36.153.3'],
  ['2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8', '64:ff9b::808:808'],
].flat();

test('D8.9 public addresses may be connected to, all others are forbidden', () => {
  const guard = new AddressGuard([], unknown);
  for (const address of forbidden) assert.equal(guard.classify(address), 'forbidden', address);
  for (const address of open) assert.equal(guard.classify(address), 'public', address);
});

test('the ranges in the settings are allowed, and addresses next to them are not', () => {
  const guard = new AddressGuard(['127.0.0.0/8', '::1', '10.1.0.0/16', 'fd12::/16', '192.168.7.9'], unknown);
  const addressClasses = {
    allowed: ['127.0.0.1', '::ffff:127.0.0.1', '::1', '10.1.255.255', 'fd12::1', '192.168.7.9', '64:ff9b::10.1.0.1'],
    forbidden: ['10.2.0.0', '192.168.7.8', 'fd13::1', '169.254.169.254', '::7f00:1', '2002:7f00:1::'],
    public: ['8.8.8.8', '2606:4700:4700::1111'],
  };
  for (const [addressClass, addresses] of Object.entries(addressClasses))
    for (const address of addresses) assert.equal(guard.classify(address), addressClass, address);
});

const DATABASE_URL = 'postgres://user@db.example/usher';
const probes = ['127.0.0.2', '::1', '10.1.2.3', 'fd00:ec2::254'];

function allowed(by: 'webhookAllowCidrs' | 'attachedWebhookAllowCidrs', environment: Record<string, string>): string[] {
  const guard = new AddressGuard(readConfig(environment)[by], unknown);
  return probes.filter((address) => guard.permits(address));
}

test('by default only loopback is allowed, and only with the embedded database; a setting replaces the default', () => {
  const by = 'webhookAllowCidrs';
  assert.deepEqual(allowed(by, {}), ['127.0.0.2', '::1']);
  assert.deepEqual(allowed(by, { DATABASE_URL }), []);
  assert.deepEqual(allowed(by, { USHER_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, ::1' }), ['::1', '10.1.2.3']);
  assert.deepEqual(allowed(by, { DATABASE_URL, USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.2' }), ['127.0.0.2']);
});

test('a webhook attached to a ticket may call the ranges in the settings, and by default no private address', () => {
  const by = 'attachedWebhookAllowCidrs';
  assert.deepEqual(allowed(by, {}), []);
  assert.deepEqual(allowed(by, { DATABASE_URL }), []);
  assert.deepEqual(allowed(by, { USHER_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, ::1' }), ['::1', '10.1.2.3']);
});

test('an internal address of a cloud is forbidden in any spelling of a URL', () => {
  const guard = new AddressGuard([], unknown);
  const spellings = [
    '168.63.129.16',
    '2822734096',
    '0xa83f8110',
    '0250.077.0201.020',
    '168.4161808',
    '0xa8.63.0x81.16',
  ];
  for (const host of [
    ...spellings,
    '168.63.129.16.',
    '[::ffff:168.63.129.16]',
    '[64:ff9b::a83f:8110]',
    '[2002:a83f:8110::]',
  ])
    assert.match(guard.complaint(new URL(`http://${host}/`)) ?? '', /may connect to/, host);
});

test('a parsed URL has IPv4 in its normal form, whatever the spelling', () => {
  const guard = new AddressGuard([], unknown);
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
    assert.equal(guard.classify(bareHost(url)), 'forbidden', host);
    assert.match(guard.complaint(url) ?? '', /may connect to/, host);
  }
  for (const host of ['8.8.8.8', '134744072', '[2606:4700:4700::1111]'])
    assert.equal(guard.complaint(new URL(`http://${host}/`)), null, host);
  assert.match(guard.complaint(new URL('http://8.8.8.8/'), { onlyAllowed: true }) ?? '', /may connect to/);
});

function resolving(...addresses: string[]): AddressGuard {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return new AddressGuard(['10.0.0.0/8'], { resolve: async () => found, peek: () => found });
}

test('a name with one forbidden address is forbidden', async () => {
  const url = new URL('https://idp.example/');
  const lookup = { onlyAllowed: false, holder: 'test' };
  const good = resolving('8.8.8.8', '2606:4700:4700::1111', '10.0.0.1');
  assert.equal(good.complaint(url), null);
  assert.equal((await good.addresses('idp.example', lookup)).length, 3);
  assert.match(good.complaint(url, { onlyAllowed: true }) ?? '', /8\.8\.8\.8/);
  for (const bad of [
    ['8.8.8.8', '127.0.0.1'],
    ['::1', '8.8.8.8'],
    ['169.254.169.254'],
    ['8.8.8.8', '64:ff9b::7f00:1'],
  ]) {
    const guard = resolving(...bad);
    assert.match(guard.complaint(url) ?? '', /idp\.example resolves to .* may connect to/);
    await assert.rejects(guard.addresses('idp.example', lookup), ForbiddenAddress);
  }
});

test('a name that was not resolved yet may be registered', () => {
  const guard = new AddressGuard([], unknown);
  assert.equal(guard.complaint(new URL('https://idp.example/')), null);
  assert.equal(guard.complaint(new URL('http://idp.example/'), { onlyAllowed: true }), null);
});
