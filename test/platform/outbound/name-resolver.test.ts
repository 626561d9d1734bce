import assert from 'node:assert/strict';
import { Resolver } from 'node:dns';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { readConfig } from '../../../packages/server/src/config.ts';
import { NameUnresolved } from '../../../packages/server/src/platform/outbound/names/look-up-name.ts';
import { QueueFull } from '../../../packages/server/src/platform/outbound/names/fair-queue.ts';
import { NameResolver } from '../../../packages/server/src/platform/outbound/names/name-resolver.ts';
import { startDns, type DnsAnswer, type TestDns } from '../../support/network/dns.ts';
import { until } from '../../support/server.ts';

const directory = mkdtempSync(join(tmpdir(), 'usher-names-'));
after(() => rmSync(directory, { recursive: true, force: true }));

let count = 0;
function filesWith(hosts: string, resolvConf: string): { hosts: string; resolvConf: string } {
  count += 1;
  const files = { hosts: join(directory, `hosts-${count}`), resolvConf: join(directory, `resolv-${count}.conf`) };
  writeFileSync(files.hosts, hosts);
  writeFileSync(files.resolvConf, resolvConf);
  return files;
}

interface Resolving {
  readonly dns: TestDns;
  readonly names: NameResolver;
  readonly files: { readonly hosts: string };
  addresses(hostname: string, holder?: string): Promise<string[]>;
  code(hostname: string, holder?: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function resolving(answer: (name: string) => DnsAnswer, hosts = '', resolvConf = ''): Promise<Resolving> {
  const dns = await startDns(answer);
  const files = filesWith(hosts, resolvConf);
  const names = new NameResolver({ servers: [dns.address], files });
  return {
    dns,
    names,
    files,
    addresses: async (hostname, holder = 'one') =>
      (await names.resolve(hostname, holder)).map(({ address }) => address),
    code: async (hostname, holder = 'one') =>
      names.resolve(hostname, holder).then(
        () => 'resolved',
        (error: NodeJS.ErrnoException) => error.code ?? 'none',
      ),
    async [Symbol.asyncDispose]() {
      names.close();
      await dns[Symbol.asyncDispose]();
    },
  };
}

const here: DnsAnswer = { v4: ['192.0.2.1'] };
const both: DnsAnswer = { v4: ['192.0.2.1', '192.0.2.2'], v6: ['2001:0db8:0000:0000:0000:0000:0000:0001'] };

/** A lookup repeats a query whose response is late, as on a busy machine. */
const maxTries = 3;

/** The tests run concurrently, because most of them wait for a timeout. */
suite('names of receivers', { concurrency: true }, () => {
  test('of a name with many addresses, the first 16 of a family are used', async () => {
    const v4 = Array.from({ length: 40 }, (_, index) => `192.0.2.${index + 1}`);
    await using resolver = await resolving(() => ({ v4 }));
    assert.equal((await resolver.addresses('many.example')).length, 16);
  });

  test('a name resolves to both address families, by one lookup at a time, and is cached by its TTL', async () => {
    await using it = await resolving(() => both);
    const all = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => it.addresses('a.test', `holder ${index}`)),
    );
    for (const found of all) assert.deepEqual(found, ['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    assert.deepEqual(await it.addresses('a.test'), all[0]);
    assert.deepEqual([...new Set(it.dns.queries)].toSorted(), ['a.test A', 'a.test AAAA']);
    assert.ok(it.dns.queries.length <= 2 * maxTries, `${it.dns.queries.length} queries`);
    assert.deepEqual(it.names.counts, { underWay: 0, waiting: 0 });
  });

  test('an address family without a response does not delay the other', async () => {
    await using it = await resolving((name) => (name === 'dead.test' ? 'silent' : { v4: ['192.0.2.1'], v6: 'silent' }));
    const dead = it.code('dead.test');
    assert.deepEqual(await Promise.race([dead, it.addresses('a.test')]), ['192.0.2.1']);
    assert.equal(await dead, 'ETIMEOUT');
  });

  test('a failed lookup is cached for a while and then repeated', async () => {
    const answers: Record<string, DnsAnswer> = { 'no.test': 'absent', 'bad.test': 'failing', 'empty.test': {} };
    await using it = await resolving((name) => answers[name] ?? here);
    assert.deepEqual(await Promise.all(['no.test', 'bad.test', 'empty.test'].map(async (name) => it.code(name))), [
      'ENOTFOUND',
      'ESERVFAIL',
      'ENODATA',
    ]);
    const queriesBefore = it.dns.queries.length;
    answers['no.test'] = here;
    assert.equal(await it.code('no.test'), 'ENOTFOUND');
    assert.equal(it.dns.queries.length, queriesBefore);
    await assert.rejects(it.names.resolve('no.test', 'one'), new NameUnresolved('no.test', 'ENOTFOUND'));
    await until(async () => (await it.code('no.test')) === 'resolved');
  });

  test('lookups without a response time out, a bounded number at a time, and do not delay other holders', async () => {
    await using it = await resolving((name) => (name.startsWith('dead') ? 'silent' : here));
    await it.addresses('known.test');
    const startedAt = performance.now();
    let timedOut = 0;
    const dead = Array.from({ length: 200 }, async (_, index) =>
      it.code(`dead${index}.test`).finally(() => (timedOut += 1)),
    );
    await until(() => it.dns.queriedNames(/^dead/).length >= 32);
    // A new name of another holder.
    assert.deepEqual(await it.addresses('new.test', 'another'), ['192.0.2.1']);
    assert.equal(timedOut, 0, 'another holder waited');
    assert.equal(it.dns.queriedNames(/^dead/).length, 32);
    assert.deepEqual(it.names.counts, { underWay: 32, waiting: 168 });
    assert.deepEqual(await Promise.all(dead.slice(0, 32)), Array(32).fill('ETIMEOUT'));
    assert.ok(performance.now() - startedAt < 5_000, 'a silent name took too long');
  });

  test('a cached name is used while it is looked up again, and does not wait behind dead names', async () => {
    let answer: DnsAnswer = { v4: ['192.0.2.1'], ttlSec: 1 };
    await using it = await resolving((name) => (name.startsWith('dead') ? 'silent' : answer));
    await it.addresses('known.test');
    for (let index = 0; index < 200; index += 1) it.names.prepare(`dead${index}.test`, 'one');
    answer = { v4: ['192.0.2.2'], ttlSec: 1 };
    await until(async () => (await it.addresses('known.test'))[0] === '192.0.2.2');
    assert.ok(it.names.counts.waiting > 0, 'the cached name waited behind dead names');
    // A cached name survives servers that do not respond, but not an NXDOMAIN.
    answer = 'silent';
    const queriesBefore = it.dns.queries.length;
    await until(async () => {
      const waited = new Promise((resolve) => setImmediate(resolve, 'it was waited for'));
      assert.deepEqual(await Promise.race([it.addresses('known.test'), waited]), ['192.0.2.2']);
      return it.dns.queries.slice(queriesBefore).includes('known.test A');
    });
    answer = 'absent';
    await until(async () => (await it.code('known.test')) === 'ENOTFOUND');
    assert.equal(it.names.isTrusted('known.test'), false);
  });

  test('the number of waiting names per holder is limited', async () => {
    await using it = await resolving(() => 'silent');
    for (let index = 0; index < 1_032; index += 1) it.names.prepare(`dead${index}.test`, 'one');
    await assert.rejects(it.names.resolve('more.test', 'one'), QueueFull);
    assert.deepEqual(it.names.counts, { underWay: 32, waiting: 1_000 });
    it.dns.answer = () => here;
    assert.deepEqual(await it.addresses('more.test', 'another'), ['192.0.2.1']);
  });

  test('the hosts file and localhost need no DNS query, and a changed file is read again', async () => {
    const hosts = '# a comment\n192.0.2.7\tbuilder Builder.Local # why\n2001:db8::7 builder\nnot-an-address x.test\n';
    await using it = await resolving(() => 'absent', hosts);
    assert.deepEqual(await it.addresses('builder'), ['192.0.2.7', '2001:db8::7']);
    assert.deepEqual(await it.addresses('BUILDER.local.'), ['192.0.2.7']);
    for (const name of ['localhost', 'app.localhost', 'localhost.'])
      assert.deepEqual(await it.addresses(name), ['127.0.0.1', '::1']);
    assert.deepEqual(it.names.peek('builder')?.length, 2);
    assert.deepEqual(it.dns.queries, []);
    assert.equal(await it.code('x.test'), 'ENOTFOUND');
    writeFileSync(it.files.hosts, '192.0.2.8 builder\n');
    await until(async () => (await it.addresses('builder'))[0] === '192.0.2.8', 8_000);
  });

  test('search domains complete short names, as in Kubernetes, and public names cost no more for them', async () => {
    const resolvConf = 'domain ignored\nsearch shop.svc.cluster.local svc.cluster.local.\noptions edns0 ndots:5\n';
    const inside = new Set(['hooks.shop.svc.cluster.local', 'pay.bank.svc.cluster.local', 'example.com']);
    await using it = await resolving((name) => (inside.has(name) ? here : 'absent'), '', resolvConf);
    for (const name of ['hooks', 'pay.bank', 'example.com'])
      assert.deepEqual(await it.addresses(name), ['192.0.2.1'], name);
    assert.deepEqual(it.dns.queriedNames(/example/), ['example.com']);
    assert.equal(await it.code('hooks.'), 'ENOTFOUND');
    assert.equal(await it.code('nobody'), 'ENOTFOUND');
    assert.deepEqual(it.dns.queriedNames(/nobody/), [
      'nobody.shop.svc.cluster.local',
      'nobody.svc.cluster.local',
      'nobody',
    ]);
  });

  test('DNS servers may be set, with their ports', () => {
    const given = '10.0.0.53, 10.0.0.53:5353,[fd00::53]:5353,[fd00::54],fd00::55';
    const { dnsServers } = readConfig({ USHER_DNS_SERVERS: given });
    const resolver = new Resolver();
    resolver.setServers(dnsServers);
    assert.equal(resolver.getServers().length, 5);
    assert.deepEqual(readConfig({}).dnsServers, []);
    for (const wrong of ['dns.example', '10.0.0.53:65536', '[10.0.0.53]', '[fd00::53', 'fe80::1%eth0', '10.0.0.53,'])
      assert.throws(() => readConfig({ USHER_DNS_SERVERS: wrong }), /USHER_DNS_SERVERS must be/, wrong);
  });

  test('an invalid name does not resolve, and close aborts running lookups', async () => {
    const it = await resolving(() => 'silent');
    assert.equal(await it.code(`${'x'.repeat(64)}.test`), 'EBADNAME');
    const startedAt = performance.now();
    const cut = it.code('dead.test');
    await until(() => it.dns.queries.length > 0);
    await it[Symbol.asyncDispose]();
    await cut;
    assert.ok(performance.now() - startedAt < 2_000);
  });
});
