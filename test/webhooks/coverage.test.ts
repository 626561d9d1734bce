import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { say, type Engaged } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import {
  assignRoles,
  engageOn,
  makeRegistrarSetup,
  webhookBody,
  registerWebhook,
  type RegistrarSetup,
} from '../support/api/registrars.ts';
import { call, startTestServer, until, type Answer, type Json } from '../support/server.ts';
import { apnsFields, leaseElsewhere, webhookRow } from '../support/receivers/webhooks.ts';
import { expectStatus, makeOperator, makeSite, signIn, type TestAccount, type TestOperator } from '../support/world.ts';

/** A registration covers the sites on which its registrar is super_manager, from the next event on. */
const isLong = process.env['PROVE'] !== undefined;
const rounds = isLong ? 40 : 4;
const writers = isLong ? 12 : 6;

const server = await forThisFile(startTestServer());
const otherServer = await forThisFile(startTestServer({}, server.database.address));
// Deliveries stay in the table, so that the tests can count them.
await leaseElsewhere(server);

async function ask(who: { readonly token: string }, request: string, body?: Json): Promise<Answer> {
  return call(server, request, { token: who.token, body });
}

const register = async (who: { readonly token: string }, more: Json = {}): Promise<Json> =>
  registerWebhook(server, who, more);
const assign = async (
  own: TestAccount,
  operator: TestOperator,
  roles: Readonly<Record<string, string>>,
): Promise<void> => assignRoles(server, { own, operator, roles });
const setUp = async (): Promise<RegistrarSetup> => makeRegistrarSetup(server);
const chatsOn = async (own: TestAccount, siteId: string, count: number): Promise<Engaged[]> =>
  engageOn([server, otherServer], { own, siteId, count });

async function coveredBy(who: { readonly token: string }, id: string): Promise<string[]> {
  return expectStatus(await ask(who, `GET /webhooks/${id}`), 200).body.covered_site_ids;
}

test('D8.14 the sites a registration covers follow the roles of its registrar', async () => {
  const { own, first, second, registrar } = await setUp();
  const { id, covered_site_ids: covered } = await register(registrar);
  const both = [first, second].toSorted();
  assert.deepEqual(covered, both);
  const named = await register(registrar, { site_ids: [second, first] });
  assert.deepEqual([named.site_ids, named.covered_site_ids], [[second, first], both]);

  // A site made by another operator does not change the coverage.
  await makeSite(server, own);
  assert.deepEqual(await coveredBy(registrar, id), both);
  // A site that the registrar is assigned to is covered at once.
  const third = await makeSite(server, own);
  await assign(own, registrar, { [first]: 'super_manager', [second]: 'super_manager', [third]: 'super_manager' });
  assert.deepEqual(await coveredBy(registrar, id), [...both, third].toSorted());
  assert.deepEqual(await coveredBy(registrar, named.id), both);

  await assign(own, registrar, { [first]: 'super_manager', [second]: 'manager', [third]: 'super_manager' });
  assert.deepEqual(await coveredBy(registrar, id), [first, third].toSorted());
  assert.deepEqual(await coveredBy(registrar, named.id), [first]);
  await assign(own, registrar, { [first]: 'super_manager', [second]: 'super_manager' });
  assert.deepEqual(await coveredBy(registrar, id), both);
  assert.deepEqual(await coveredBy(registrar, named.id), both);

  const enable = async (enabled: boolean): Promise<void> => {
    const answer = await call(server, `PATCH /operators/${registrar.id}`, { token: own.admin, body: { enabled } });
    expectStatus(answer, 200);
  };
  await enable(false);
  assert.deepEqual((await webhookRow(server, id)).covers, []);
  await enable(true);
  assert.deepEqual((await webhookRow(server, id)).covers, both);
  // A site that the registrar creates is covered at once.
  const fourth = await makeSite(server, { ...own, admin: await signIn(server, registrar.key) });
  assert.deepEqual((await webhookRow(server, id)).covers, [...both, fourth].toSorted());
});

test('a registration without a registrar covers all sites, new ones included', async () => {
  const { own, admin, first, second } = await setUp();
  const { id } = await register(admin);
  await server.database
    .sql`UPDATE webhooks SET registered_by = NULL, url_set_by = NULL, has_covered = NULL WHERE id = ${id}`;
  assert.deepEqual([(await webhookRow(server, id)).covers, await coveredBy(admin, id)], [null, [first, second]]);
  const third = await makeSite(server, own);
  const shown = expectStatus(await ask(admin, `GET /webhooks/${id}`), 200).body;
  assert.deepEqual([shown.covered_site_ids, shown.registered_by], [[first, second, third], null]);
  // Once it names sites, only a super_manager of all sites can extend it to all sites again.
  const other = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  expectStatus(await ask(admin, `PUT /webhooks/${id}`, { ...webhookBody, site_ids: [first] }), 200);
  expectStatus(await ask(other, `PUT /webhooks/${id}`, { ...webhookBody, site_ids: null }), 403);
  expectStatus(await ask(admin, `PUT /webhooks/${id}`, { ...webhookBody, site_ids: null }), 200);
  assert.equal((await webhookRow(server, id)).covers, null);
});

test('a registrar who is no longer super_manager anywhere can read and delete their registrations, and nothing else', async () => {
  const { own, admin, first, second, registrar } = await setUp();
  const ofAll = await register(registrar);
  const named = await register(registrar, { site_ids: [first] });
  const push = await register(registrar, { ...apnsFields, method: undefined });
  const secret = { url: 'http://127.0.0.1:9/path?key=secret', headers: { 'x-key': 'secret' } };
  expectStatus(await ask(admin, `PUT /webhooks/${named.id}`, { ...webhookBody, ...secret }), 200);
  const bystander = await makeOperator(server, own, [{ site_id: first, role: 'manager' }]);
  await assign(own, registrar, { [first]: 'operator' });
  const { webhooks } = expectStatus(await ask(registrar, 'GET /webhooks'), 200).body;
  assert.deepEqual(
    webhooks.map((webhook: Json) => [webhook.id, webhook.covered_site_ids]),
    [
      [ofAll.id, []],
      [named.id, []],
      [push.id, []],
    ],
  );
  // A registrar without the role is not shown fields that others have set.
  assert.deepEqual(
    webhooks.map((webhook: Json) => [webhook.url, webhook.headers]),
    [
      ['http://127.0.0.1:9', {}],
      ['http://127.0.0.1:9', {}],
      ['apns://sandbox', null],
    ],
  );
  const changed = expectStatus(await ask(admin, `GET /webhooks/${named.id}`), 200).body;
  assert.deepEqual([changed.url, changed.headers], [secret.url, secret.headers]);
  expectStatus(await ask(bystander, 'GET /webhooks'), 403);
  for (const { id } of [ofAll, named, push]) {
    const seen = expectStatus(await ask(registrar, `GET /webhooks/${id}`), 200).body;
    assert.deepEqual(
      seen,
      webhooks.find((webhook: Json) => webhook.id === id),
    );
    expectStatus(await ask(bystander, `GET /webhooks/${id}`), 403);
    for (const [request, body] of [
      [`PUT /webhooks/${id}`, webhookBody],
      [`POST /webhooks/${id}/rotate_secret`, {}],
      [`POST /webhooks/${id}/test`, { event_type: 'engagement.start' }],
      [`POST /webhooks/${id}/recover`, { since: new Date(0).toISOString() }],
      [`GET /webhooks/${id}/deliveries`, undefined],
      [`GET /webhooks/${id}/recoveries`, undefined],
    ] as const)
      expectStatus(await ask(registrar, request, body), 403);
  }
  // A super_manager of all sites that it ever covered sees it too, so that it can be deleted.
  const { secret: _, ...shown } = ofAll;
  assert.deepEqual(expectStatus(await ask(admin, `GET /webhooks/${ofAll.id}`), 200).body, {
    ...shown,
    covered_site_ids: [],
  });
  const onSecond = await makeOperator(server, own, [{ site_id: second, role: 'super_manager' }]);
  expectStatus(await ask(onSecond, `GET /webhooks/${ofAll.id}`), 404);
  for (const { id } of [ofAll, named, push]) expectStatus(await ask(registrar, `DELETE /webhooks/${id}`), 204);
  expectStatus(await ask(registrar, 'GET /webhooks'), 403);
});

test('the eleventh registration is refused, and the error says how many of the ten the caller cannot see', async () => {
  const { own, admin, first, second, registrar } = await setUp();
  for (let n = 0; n < 7; n += 1) await register(admin);
  for (let n = 0; n < 3; n += 1) await register(registrar, { site_ids: [second] });
  const onFirst = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  assert.match(
    expectStatus(await ask(onFirst, 'POST /webhooks', webhookBody), 409).body.detail,
    /10 of them are not visible/,
  );
  assert.doesNotMatch(expectStatus(await ask(admin, 'POST /webhooks', webhookBody), 409).body.detail, /not visible/);
});

test('a token limited to some sites registers only for those sites', async () => {
  const { first, second, registrar } = await setUp();
  const answer = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: registrar.key.id, api_key_secret: registrar.key.secret, site_ids: [first] },
  });
  const narrow = { token: expectStatus(answer, 200).body.token as string };
  const made = await register(narrow);
  assert.deepEqual([made.site_ids, made.covered_site_ids], [[first], [first]]);
  const ofAll = await register(registrar);
  expectStatus(await ask(narrow, `GET /webhooks/${ofAll.id}`), 404);
  const widened = expectStatus(
    await ask(narrow, `PUT /webhooks/${made.id}`, { ...webhookBody, site_ids: null }),
    200,
  ).body;
  assert.deepEqual(widened.site_ids, [first]);
  const whole = expectStatus(
    await ask(registrar, `PUT /webhooks/${made.id}`, { ...webhookBody, site_ids: null }),
    200,
  ).body;
  assert.deepEqual([whole.site_ids, whole.covered_site_ids], [null, [first, second].toSorted()]);
});

test('D8.14 a webhook with a URL from another operator covers only sites on which both are super_manager', async () => {
  const { own, first, second, registrar } = await setUp();
  const other = await makeOperator(
    server,
    own,
    [first, second].map((site_id) => ({ site_id, role: 'super_manager' })),
  );
  const { id } = await register(registrar);
  expectStatus(await ask(other, `PUT /webhooks/${id}`, { ...webhookBody, url: 'http://127.0.0.1:9/other' }), 200);
  const third = await makeSite(server, { ...own, admin: registrar.token });
  assert.deepEqual(await coveredBy(registrar, id), [first, second].toSorted());
  await assign(own, other, { [second]: 'super_manager' });
  assert.deepEqual(await coveredBy(registrar, id), [second]);
  await assign(own, other, {});
  assert.deepEqual(await coveredBy(registrar, id), []);
  // The registrar sets the URL again.
  expectStatus(await ask(registrar, `PUT /webhooks/${id}`, webhookBody), 200);
  assert.deepEqual(await coveredBy(registrar, id), [first, second, third].toSorted());
});

test('a super_manager who updates a webhook of a disabled registrar becomes its registrar', async () => {
  const { own, admin, first, second, registrar } = await setUp();
  const both = [first, second].toSorted();
  const { id } = await register(registrar);
  const other = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  const put = async (who: { readonly token: string }, more: Json = {}): Promise<Json> =>
    expectStatus(await ask(who, `PUT /webhooks/${id}`, { ...webhookBody, ...more }), 200).body;
  // While it covers a site, its registrar does not change.
  assert.equal((await put(admin)).registered_by, registrar.id);
  const disable = { token: own.admin, body: { enabled: false } };
  expectStatus(await call(server, `PATCH /operators/${registrar.id}`, disable), 200);
  expectStatus(await ask(other, `PUT /webhooks/${id}`, webhookBody), 404);
  const off = await put(admin, { enabled: false });
  assert.deepEqual([off.registered_by, off.covered_site_ids], [registrar.id, []]);
  const taken = await put(admin, { enabled: true });
  assert.deepEqual([taken.registered_by, taken.covered_site_ids], [own.adminId, both]);
  const log = await call(server, `GET /audit_log?target_id=${id}&per_page=1`, { token: own.admin });
  const { changes } = expectStatus(log, 200).body.audit_log[0];
  assert.deepEqual(
    changes.filter(({ field }: Json) => field === 'registered_by'),
    [{ field: 'registered_by', before: registrar.id, after: own.adminId }],
  );
});

test('a webhook whose URL was set by an operator who left covers sites again once its registrar updates it', async () => {
  const { own, first, second, registrar } = await setUp();
  const roles = [first, second].map((site_id) => ({ site_id, role: 'super_manager' }));
  const other = await makeOperator(server, own, roles);
  const { id } = await register(registrar);
  const moved = { ...webhookBody, url: 'http://127.0.0.1:9/other' };
  expectStatus(await ask(other, `PUT /webhooks/${id}`, moved), 200);
  await assign(own, other, {});
  assert.deepEqual(await coveredBy(registrar, id), []);
  expectStatus(await ask(registrar, `PUT /webhooks/${id}`, moved), 200);
  assert.deepEqual(await coveredBy(registrar, id), [first, second].toSorted());
});

test('an operator cannot extend a webhook to sites on which they are not super_manager', async () => {
  const { own, first, registrar } = await setUp();
  const named = await register(registrar, { site_ids: [first] });
  const onFirst = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  const refused = await ask(onFirst, `PUT /webhooks/${named.id}`, { ...webhookBody, site_ids: null });
  assert.match(expectStatus(refused, 403).body.detail, /List the sites of the caller in site_ids/);
  assert.deepEqual((await webhookRow(server, named.id)).site_ids, [first]);
});

/** The ids of the messages that wait for the webhook. */
async function messagesFor(id: string): Promise<Set<string>> {
  const rows = await server.database.sql<{ message: string }[]>`
    SELECT e.payload -> 'message' ->> 'id' AS message
      FROM deliveries d
      JOIN events e ON e.account_id = d.account_id AND e.xid = d.event_xid AND e.seq = d.event_seq
     WHERE d.webhook_id = ${id} AND e.type = 'engagement.chat.message'`;
  return new Set(rows.map(({ message }) => message));
}

test('after the registrar has lost a role, no new message of that site is delivered', async (t) => {
  const { own, first, second, registrar } = await setUp();
  const hooks = [await register(registrar), await register(registrar, { site_ids: [first, second] })];
  const lost = await chatsOn(own, second, writers);
  const unaffected = await chatsOn(own, first, 2);
  const everything = { [first]: 'super_manager', [second]: 'super_manager' };
  const removals: readonly (() => Promise<void>)[] = [
    async () => assign(own, registrar, { [first]: 'super_manager' }),
    async () => assign(own, registrar, { ...everything, [second]: 'manager' }),
  ];
  const counts = { before: 0, between: 0, after: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const sent: { readonly id: string; readonly site: string; startedAt: number; acknowledgedAt: number }[] = [];
    const writing = { isOver: false };
    const write = async (chat: Engaged, site: string): Promise<void> => {
      while (!writing.isOver) {
        const message = { id: randomUUID(), site, startedAt: performance.now(), acknowledgedAt: Infinity };
        sent.push(message);
        expectStatus(await say(chat, chat.visitor, 'Hello', message.id), 200);
        message.acknowledgedAt = performance.now();
      }
    };
    const writes = [
      ...lost.map(async (chat) => write(chat, second)),
      ...unaffected.map(async (chat) => write(chat, first)),
    ];
    const written = (): number => sent.filter(({ acknowledgedAt }) => acknowledgedAt < Infinity).length;
    await until(() => written() > 100);
    const requestedAt = performance.now();
    await removals[round % removals.length]?.();
    const changedAt = performance.now();
    const until100More = written() + 100;
    await until(() => written() >= until100More);
    writing.isOver = true;
    await Promise.all(writes);
    for (const { id } of hooks) {
      const delivered = await messagesFor(id);
      for (const { id: message, site, startedAt, acknowledgedAt } of sent) {
        const isDelivered = delivered.has(message);
        if (site === first || acknowledgedAt < requestedAt)
          assert.ok(isDelivered, 'a message from before the change, or on the other site, is delivered');
        else if (startedAt > changedAt) assert.ok(!isDelivered, 'no message from after the change is delivered');
      }
    }
    counts.before += sent.filter(({ acknowledgedAt }) => acknowledgedAt < requestedAt).length;
    counts.between += sent.filter(
      ({ acknowledgedAt, startedAt }) => acknowledgedAt >= requestedAt && startedAt <= changedAt,
    ).length;
    counts.after += sent.filter(({ startedAt }) => startedAt > changedAt).length;
    await assign(own, registrar, everything);
  }
  t.diagnostic(JSON.stringify({ rounds, ...counts }));
  console.log(JSON.stringify({ coverageRaces: { rounds, ...counts } }));
});

test('two concurrent changes of roles both take effect', async () => {
  const { own, first, second, registrar } = await setUp();
  const third = await makeSite(server, own);
  const { id } = await register(registrar);
  const { sql } = server.database;
  const added = Promise.withResolvers<void>();
  let adding: Promise<unknown> | undefined;
  await sql.begin(async (removing) => {
    await removing`DELETE FROM operator_assignments WHERE operator_id = ${registrar.id} AND site_id = ${second}`;
    adding = sql.begin(async (other) => {
      added.resolve();
      await other`
        INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
        SELECT account_id, id, ${third}, 'super_manager' FROM operators WHERE id = ${registrar.id}`;
    });
    await added.promise;
    await until(async () => {
      const [row] =
        await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      return row !== undefined;
    });
  });
  await adding;
  assert.deepEqual((await webhookRow(server, id)).covers, [first, third].toSorted());
  assert.deepEqual((await webhookRow(server, id)).has_covered, [first, second, third].toSorted());
});

test('a webhook that is registered while its registrar loses a role does not cover that site', async () => {
  const { own, first, second } = await setUp();
  for (let round = 0; round < rounds; round += 1) {
    const registrar = await makeOperator(
      server,
      own,
      [first, second].map((site_id) => ({ site_id, role: 'super_manager' })),
    );
    const [made] = await Promise.all([
      call(otherServer, 'POST /webhooks', { token: registrar.token, body: webhookBody }),
      assign(own, registrar, { [first]: 'super_manager' }),
    ]);
    const { id } = expectStatus(made, 201).body;
    assert.deepEqual((await webhookRow(server, id)).covers, [first]);
    expectStatus(await ask({ token: own.admin }, `DELETE /webhooks/${id}`), 204);
  }
});

test('typing is stored for a registration only while it covers the site', async () => {
  const { own, first, second, registrar } = await setUp();
  const { id } = await register(registrar, { events: ['engagement.chat.typing_indicator.visitor'] });
  const [chat] = await chatsOn(own, second, 1);
  assert.ok(chat);
  const type = async (typing: boolean): Promise<number> => {
    const path = `/engagements/${chat.id}/typing_indicator`;
    expectStatus(await call(server, `PUT ${path}`, { token: chat.visitor.token, body: { typing } }), 204);
    const [row] = await server.database.sql<{ count: number }[]>`
      SELECT count(*)::integer AS count FROM deliveries WHERE webhook_id = ${id}`;
    return row?.count ?? 0;
  };
  assert.equal(await type(true), 1);
  await assign(own, registrar, { [first]: 'super_manager' });
  assert.equal(await type(false), 1);
});
