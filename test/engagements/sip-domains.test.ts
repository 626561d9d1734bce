import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call, type Json } from '../support/server.ts';
import { eventsOf, expectStatus, makeAccount, makeSite, type TestAccount } from '../support/world.ts';

const { server, account: own } = await openWorld();

async function add(domain: unknown, who: TestAccount = own, site: string = who.siteId) {
  return call(server, 'POST /sip_domains', { token: who.admin, body: { site_id: site, domain } });
}

test('a SIP domain is created, read, listed and deleted', async () => {
  const made = expectStatus(await add('SIP.Example.COM'), 201);
  const { id, site_id, domain, created_at, ...rest } = made.body;
  assert.deepEqual([site_id, domain, rest], [own.siteId, 'sip.example.com', {}]);
  assert.equal(made.headers.get('location'), `/sip_domains/${id}`);
  assert.deepEqual((await call(server, `GET /sip_domains/${id}`, { token: own.admin })).body, {
    id,
    site_id,
    domain,
    created_at,
  });
  const otherSite = await makeSite(server, own);
  const other = expectStatus(await add('other.example.com', own, otherSite), 201).body;
  const listed = async (query: string): Promise<string[]> =>
    expectStatus(await call(server, `GET /sip_domains${query}`, { token: own.admin }), 200).body.sip_domains.map(
      (each: Json) => each.id,
    );
  assert.deepEqual(await listed(`?site_ids[]=${own.siteId}`), [id]);
  assert.deepEqual(await listed(`?site_ids[]=${otherSite}`), [other.id]);
  assert.deepEqual(await listed(''), [id, other.id]);
  const page = await call(server, 'GET /sip_domains?per_page=1', { token: own.admin });
  assert.match(page.body.next_page, /page=2/);
  expectStatus(await call(server, `GET /sip_domains?site_ids[]=${randomUUID()}`, { token: own.admin }), 404);

  const gone = expectStatus(await call(server, `DELETE /sip_domains/${id}`, { token: own.admin }), 204);
  assert.equal(gone.body, '');
  expectStatus(await call(server, `GET /sip_domains/${id}`, { token: own.admin }), 404);
  expectStatus(await call(server, `DELETE /sip_domains/${id}`, { token: own.admin }), 404);
  assert.deepEqual(await eventsOf(server, own), [{ event_type: 'sip_domain.delete', sip_domain: { id } }]);
  const [about] = await server.database.sql`SELECT site_id FROM events WHERE type = 'sip_domain.delete'`;
  assert.equal(about?.['site_id'], own.siteId);
});

test('an invalid host name is refused', async () => {
  const label63 = 'a'.repeat(63);
  const good = ['a.b', 'xn--bcher-kva.example', `${label63}.example`, 'a-b.c-d.example', '1.2.3.example', 'x.a1'];
  for (const domain of good) expectStatus(await add(domain), 201);
  const wrong = [
    ['', 'localhost', 'a..b', '.a.b', 'a.b.', '-a.b', 'a-.b', 'a.-b', 'a_b.c', 'a b.c', 'bücher.example', 'a.b:5060'],
    ['sip:a.b', 'a.b/c', '1.2.3.4', '127.0.0.1', '[::1]', 'a.1', `${'a'.repeat(64)}.example`, 'a.b\n', '*.a.b'],
    [`${label63}.${label63}.${label63}.${label63}.a`, 5, null, ['a.b'], { a: 'b' }],
  ].flat();
  for (const domain of wrong) {
    const { details } = expectStatus(await add(domain), 422).body;
    assert.equal(details[0].attribute, '/domain', JSON.stringify(domain));
  }
  const empty = await call(server, 'POST /sip_domains', { token: own.admin, body: {} });
  assert.deepEqual(
    expectStatus(empty, 422).body.details.map(({ attribute }: Json) => attribute),
    ['/site_id', '/domain'],
  );
});

test('a domain belongs to one site across all accounts, in any letter case, also with concurrent requests', async () => {
  const stranger = await makeAccount(server);
  const askers = Array.from({ length: 12 }, (_, index) =>
    add(index % 2 ? 'Once.Example' : 'once.example', index % 3 ? own : stranger),
  );
  const answers = await Promise.all(askers);
  assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), [
    '201',
    ...Array.from({ length: 11 }, () => '409'),
  ]);
  for (const { status, body } of answers) if (status === 409) assert.equal(body.error, 'domain_taken');
});

test('of two concurrent deletions one succeeds, and one event is sent', async () => {
  const account = await makeAccount(server);
  for (let round = 0; round < 10; round += 1) {
    const { id } = expectStatus(await add(`r${round}.example`, account), 201).body;
    const remove = async () => call(server, `DELETE /sip_domains/${id}`, { token: account.admin });
    const statuses = (await Promise.all([remove(), remove(), remove()])).map(({ status }) => String(status));
    assert.deepEqual(statuses.toSorted(), ['204', '404', '404']);
  }
  const domainIds = (await eventsOf(server, account)).map(({ sip_domain }) => sip_domain.id);
  assert.deepEqual([domainIds.length, new Set(domainIds).size], [10, 10]);
});

test('a site has at most 100 SIP domains, exactly, and a deletion frees a place', async () => {
  const account = await makeAccount(server);
  const answers = await Promise.all(Array.from({ length: 104 }, (_, index) => add(`n${index}.many.example`, account)));
  const made = answers.filter(({ status }) => status === 201);
  assert.equal(made.length, 100);
  for (const { status, body } of answers) if (status !== 201) assert.equal(body.error, 'too_many');
  expectStatus(await call(server, `DELETE /sip_domains/${made[0]?.body.id}`, { token: account.admin }), 204);
  expectStatus(await add('room.many.example', account), 201);
});
