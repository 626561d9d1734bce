import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newSecret, secretBytes } from '../../packages/server/src/channels/webhook-secret.ts';
import { startCluster } from '../support/processes/cluster.ts';
import { openWorld } from '../support/fixture.ts';
import { call, type Answer, type Json } from '../support/server.ts';
import {
  apnsFields,
  leaseElsewhere,
  makeWebhook,
  openSecret,
  originOf,
  webhookRow,
  webhookFields,
} from '../support/receivers/webhooks.ts';
import { requestTicket, expectStatus, makeAccount, makeOperator, makeQueue, makeSite } from '../support/world.ts';

const { server, account: own } = await openWorld();
await leaseElsewhere(server);

async function ask(request: string, body?: unknown, who: { admin: string } = own): Promise<Answer> {
  return call(server, request, { token: who.admin, body });
}

async function read(id: string, who: { admin: string } = own): Promise<Json> {
  return expectStatus(await ask(`GET /webhooks/${id}`, undefined, who), 200).body;
}

const unset = {
  headers: {},
  site_ids: null,
  description: null,
  ordering: 'engagement',
  enabled: true,
  disabled_because: null,
  disabled_at: null,
  failing_since: null,
  filter: null,
};

test('a webhook is registered, read, listed, changed and deleted', async () => {
  const account = await makeAccount(server);
  const made = expectStatus(await ask('POST /webhooks', webhookFields, account), 201);
  const { secret, ...shown } = made.body;
  const { id, created_at, updated_at, ...rest } = shown;
  const registration = { registered_by: account.adminId, covered_site_ids: [account.siteId] };
  assert.deepEqual(rest, { ...unset, ...webhookFields, ...registration });
  assert.equal(created_at, updated_at);
  assert.equal(secretBytes(secret)?.length, 32);
  assert.equal(made.headers.get('location'), `/webhooks/${id}`);
  assert.equal(made.headers.get('etag'), '"1"');
  const found = expectStatus(await ask(`GET /webhooks/${id}`, undefined, account), 200);
  assert.deepEqual([found.body, found.headers.get('etag')], [shown, '"1"']);
  assert.equal(await originOf(server, (await webhookRow(server, id)).destination_id), 'http://127.0.0.1:9');

  const apns = expectStatus(await ask('POST /webhooks', apnsFields, account), 201).body;
  assert.deepEqual(
    [apns.secret, apns.method, apns.headers, apns.url],
    [null, null, null, 'apns://0a1b2c@com.example.App?env=sandbox'],
  );
  assert.equal((await webhookRow(server, apns.id)).secret, null);
  assert.equal(await originOf(server, (await webhookRow(server, apns.id)).destination_id), 'apns://sandbox');

  const listed = expectStatus(await ask('GET /webhooks', undefined, account), 200).body;
  const { secret: _, ...apnsShown } = apns;
  assert.deepEqual(listed, { webhooks: [shown, apnsShown], next_page: null });
  const page = expectStatus(await ask('GET /webhooks?per_page=1', undefined, account), 200).body;
  assert.deepEqual(page.webhooks, [shown]);
  assert.match(page.next_page, /\/webhooks\?per_page=1&page=2$/);
  assert.deepEqual((await ask('GET /webhooks?per_page=1&page=2', undefined, account)).body.webhooks, [apnsShown]);
  expectStatus(await ask('GET /webhooks?per_page=0', undefined, account), 422);

  const changes = { ...webhookFields, url: 'http://127.0.0.1:9/other', method: 'PATCH', description: 'Our own' };
  const changed = expectStatus(await ask(`PUT /webhooks/${id}`, changes, account), 200);
  assert.deepEqual(changed.body, { ...shown, ...changes, updated_at: changed.body.updated_at });
  assert.equal(changed.headers.get('etag'), '"2"');
  assert.deepEqual(await read(id, account), changed.body);

  const gone = expectStatus(await ask(`DELETE /webhooks/${id}`, undefined, account), 204);
  assert.equal(gone.body, '');
  for (const request of [`GET /webhooks/${id}`, `DELETE /webhooks/${id}`])
    expectStatus(await ask(request, undefined, account), 404);
  expectStatus(await ask(`PUT /webhooks/${id}`, webhookFields, account), 404);
  expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`, {}, account), 404);
  expectStatus(await ask(`POST /webhooks/${id}/test`, { event_type: 'engagement.start' }, account), 404);
  assert.deepEqual((await ask('GET /webhooks', undefined, account)).body.webhooks, [apnsShown]);
});

test('all fields of a webhook are stored as given', async () => {
  const account = await makeAccount(server);
  const other = await makeSite(server, account);
  const fields = {
    url: 'https://hooks.example.invalid:8443/a?b=c#d',
    method: 'DELETE',
    headers: { Authorization: 'Bearer abc', 'X-Odd': '\tü ' },
    events: ['engagement.end', 'engagement.chat.message.status'],
    site_ids: [other, account.siteId],
    description: 'For the warehouse',
    ordering: 'none',
    enabled: false,
    filter: { field: 'engagement.visitor_id', not_in: ['x'] },
  };
  const given = {
    ...fields,
    events: [...fields.events, 'engagement.end'],
    site_ids: [...fields.site_ids, other.toUpperCase()],
  };
  const secret = newSecret();
  const made = await makeWebhook(server, account, { ...given, secret });
  const { id, created_at, updated_at, disabled_at, failing_since, disabled_because, secret: shown, ...rest } = made;
  const covered_site_ids = [account.siteId, other].toSorted();
  assert.deepEqual(rest, { ...fields, registered_by: account.adminId, covered_site_ids });
  assert.deepEqual([shown, failing_since, disabled_because], [secret, null, 'asked']);
  assert.ok(Math.abs(Date.parse(disabled_at) - Date.now()) < 60_000);
  assert.ok(created_at <= updated_at);
  assert.deepEqual((await webhookRow(server, id)).hears, ['engagement.end', 'engagement.chat.message_status']);
  assert.equal(await openSecret(server, id, 'secret'), secret);
});

test('a PUT keeps omitted fields, resets fields that are null, and accepts the body of a GET', async () => {
  const account = await makeAccount(server);
  const site_ids = [account.siteId];
  const full = { headers: { 'x-a': 'b' }, site_ids, description: 'Described', ordering: 'none', enabled: false };
  const { id, secret, ...made } = await makeWebhook(server, account, full);
  const { updated_at, ...kept } = made;
  const put = async (fields: Json): Promise<Json> =>
    expectStatus(await ask(`PUT /webhooks/${id}`, fields, account), 200).body;
  const { id: _, updated_at: later, ...after } = await put(webhookFields);
  assert.deepEqual(after, kept);
  assert.ok(later > updated_at);
  assert.equal(await openSecret(server, id, 'secret'), secret);

  const whole = await read(id, account);
  assert.deepEqual({ ...(await put(whole)), updated_at: null }, { ...whole, updated_at: null });
  const nulls = { headers: null, site_ids: null, description: null, ordering: null, enabled: null };
  const cleared = await put({ ...webhookFields, ...nulls });
  assert.deepEqual(cleared, { ...whole, ...unset, updated_at: cleared.updated_at });

  const apns = await makeWebhook(server, account, { ...apnsFields, method: null });
  const wholeApns = await read(apns.id, account);
  const again = expectStatus(await ask(`PUT /webhooks/${apns.id}`, wholeApns, account), 200).body;
  assert.deepEqual(again, { ...wholeApns, updated_at: again.updated_at });

  for (const [fields, attributes] of [
    [{}, ['/url', '/events']],
    [{ url: webhookFields.url, events: webhookFields.events }, ['/method']],
    [{ ...webhookFields, secret: newSecret() }, ['/secret']],
    [{ ...webhookFields, messages: 'all' }, ['/messages']],
    [{ ...webhookFields, method: null }, ['/method']],
    [{ ...webhookFields, enabled: 'yes', ordering: 'some', site_ids: [] }, ['/site_ids', '/ordering', '/enabled']],
  ] as const) {
    const { details } = expectStatus(await ask(`PUT /webhooks/${id}`, fields, account), 422).body;
    assert.deepEqual(new Set(details.map(({ attribute }: Json) => attribute)), new Set(attributes));
  }
  assert.deepEqual(await read(id, account), cleared);
});

test('a webhook may change between HTTP and APNs, and loses its headers and secrets with HTTP', async () => {
  const { id } = await makeWebhook(server, own, { headers: { 'x-a': 'b' } });
  expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`), 200);
  const apns = expectStatus(await ask(`PUT /webhooks/${id}`, apnsFields), 200).body;
  assert.deepEqual([apns.method, apns.headers, apns.url], [null, null, apnsFields.url]);
  const { secret, old_secret, old_secret_until, headers, destination_id } = await webhookRow(server, id);
  assert.deepEqual([secret, old_secret, old_secret_until, headers], [null, null, null, {}]);
  assert.equal(await originOf(server, destination_id), 'apns://sandbox');
  const http = expectStatus(await ask(`PUT /webhooks/${id}`, webhookFields), 200).body;
  assert.deepEqual([http.method, http.headers], ['POST', {}]);
  assert.equal((await webhookRow(server, id)).secret, null);
  const first = expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`), 200).body;
  assert.equal(first.old_secret_until, null);
  assert.equal(await openSecret(server, id, 'secret'), first.secret);
  assert.equal((await webhookRow(server, id)).old_secret, null);
  expectStatus(await ask(`DELETE /webhooks/${id}`), 204);
});

test('an outdated ETag changes and deletes nothing, and one of several concurrent writers succeeds', async () => {
  const { id } = await makeWebhook(server, own);
  const put = async (tag: string, description: string): Promise<Answer> =>
    call(server, `PUT /webhooks/${id}`, {
      token: own.admin,
      body: { ...webhookFields, description },
      headers: { 'if-match': tag },
    });
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map(async (text) => put('"1"', text)));
  assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['200', '412', '412', '412']);
  const won = answers.find(({ status }) => status === 200)?.body;
  const lost = answers.find(({ status }) => status === 412);
  assert.deepEqual([lost?.body.error, lost?.headers.get('etag')], ['precondition_failed', '"2"']);
  assert.deepEqual(await read(id), won);
  expectStatus(await put('nonsense', 'x'), 400);
  expectStatus(await put('"2", "9"', 'e'), 200);
  const remove = async (tag: string): Promise<Answer> =>
    call(server, `DELETE /webhooks/${id}`, { token: own.admin, headers: { 'if-match': tag } });
  expectStatus(await remove('"2"'), 412);
  assert.equal((await read(id)).description, 'e');
  const removed = await Promise.all([remove('"3"'), remove('*'), remove('"3"')]);
  assert.deepEqual(removed.map(({ status }) => String(status)).toSorted(), ['204', '404', '404']);
});

test('thirty concurrent registrations in two processes create ten webhooks, and a deleted one makes room', async () => {
  await using cluster = await startCluster(2, { USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' });
  const nodes = cluster.nodes.map((node) => cluster.reach(node));
  const [first] = nodes;
  assert.ok(first);
  const account = await makeAccount(first);
  const stranger = await makeAccount(first);
  const register = async (index: number, who = account): Promise<Answer> =>
    call(nodes[index % 2] ?? first, 'POST /webhooks', {
      token: who.admin,
      body: index % 3 === 0 ? apnsFields : { ...webhookFields, url: `http://127.0.0.1:${9 + (index % 4)}/` },
    });
  const answers = await Promise.all(Array.from({ length: 30 }, async (_, index) => register(index)));
  const made = answers.filter(({ status }) => status === 201);
  assert.equal(made.length, 10);
  for (const { status, body } of answers)
    if (status !== 201) assert.deepEqual([status, body.error], [409, 'webhook_limit']);
  const listed = await call(first, 'GET /webhooks', { token: account.admin });
  assert.deepEqual(
    listed.body.webhooks.map(({ id }: Json) => id).toSorted(),
    made.map(({ body }) => body.id as string).toSorted(),
  );
  expectStatus(await register(0, stranger), 201);

  // A deletion in one process makes room in the other.
  for (let round = 0; round < 5; round += 1) {
    const id = listed.body.webhooks[round].id;
    expectStatus(await call(nodes[round % 2] ?? first, `DELETE /webhooks/${id}`, { token: account.admin }), 204);
    const again = await Promise.all([register(round), register(round + 1), register(round + 2)]);
    assert.deepEqual(again.map(({ status }) => String(status)).toSorted(), ['201', '409', '409']);
  }
});

test('webhooks attached to tickets are not registrations: they are not counted, listed or found', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const webhooks = Array.from({ length: 10 }, (_, n) => ({ ...webhookFields, url: `http://127.0.0.1:9/${n}` }));
  expectStatus(await requestTicket(server, account, { queue_id: queue, webhooks }), 201);
  const attached = await server.database.sql`
    SELECT id FROM webhooks WHERE account_id = (SELECT account_id FROM operators WHERE id = ${account.adminId})`;
  assert.equal(attached.length, 10);
  expectStatus(await ask(`GET /webhooks/${attached[0]?.['id']}`, undefined, account), 404);
  expectStatus(await ask(`DELETE /webhooks/${attached[0]?.['id']}`, undefined, account), 404);
  assert.deepEqual((await ask('GET /webhooks', undefined, account)).body.webhooks, []);
  await makeWebhook(server, account);
});

test('only a super_manager of every site that a webhook covers can register, read or change it', async () => {
  const account = await makeAccount(server);
  const second = await makeSite(server, account);
  const staffOf = async (roles: Readonly<Record<string, string>>): Promise<{ admin: string }> => {
    const assignments = Object.entries(roles).map(([site_id, role]) => ({ site_id, role }));
    return { admin: (await makeOperator(server, account, assignments)).token };
  };
  const first = account.siteId;
  const onFirst = await staffOf({ [first]: 'super_manager' });
  const onSecond = await staffOf({ [second]: 'super_manager' });
  const manager = await staffOf({ [first]: 'manager', [second]: 'super_manager' });
  const stranger = await makeAccount(server);
  const strangersSite = stranger.siteId;

  const post = async (who: { admin: string }, site_ids: Json): Promise<Answer> =>
    ask('POST /webhooks', { ...webhookFields, site_ids }, who);
  const tooLow = expectStatus(await post(manager, [second, first]), 403).body;
  assert.match(tooLow.detail, new RegExp(`the caller is manager on ${first}\\. Leave this site out`));
  for (const unknown of [randomUUID(), strangersSite, second]) {
    const { details } = expectStatus(await post(onFirst, [first, first, unknown]), 422).body;
    assert.deepEqual(
      details.map(({ attribute }: Json) => attribute),
      ['/site_ids/2'],
    );
  }
  const ofFirst = expectStatus(await post(onFirst, [first]), 201).body.id;
  const ofSecond = expectStatus(await post(manager, [second]), 201).body.id;
  const ofBoth = expectStatus(await post(account, [second, first]), 201).body.id;
  const ofAll = expectStatus(await post(account, null), 201).body.id;

  const sees: readonly (readonly [{ admin: string }, readonly string[]])[] = [
    [account, [ofFirst, ofSecond, ofBoth, ofAll]],
    [onFirst, [ofFirst]],
    [onSecond, [ofSecond]],
    [manager, [ofSecond]],
    [stranger, []],
  ];
  const event_type = 'engagement.start';
  for (const [who, seen] of sees) {
    const { webhooks } = expectStatus(await ask('GET /webhooks', undefined, who), 200).body;
    assert.deepEqual(
      webhooks.map(({ id }: Json) => id),
      seen,
    );
    for (const id of [ofFirst, ofSecond, ofBoth, ofAll].filter((each) => !seen.includes(each))) {
      expectStatus(await ask(`GET /webhooks/${id}`, undefined, who), 404);
      expectStatus(await ask(`PUT /webhooks/${id}`, webhookFields, who), 404);
      expectStatus(await ask(`DELETE /webhooks/${id}`, undefined, who), 404);
      expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`, {}, who), 404);
      expectStatus(await ask(`POST /webhooks/${id}/test`, { event_type }, who), 404);
    }
    for (const id of seen) expectStatus(await ask(`GET /webhooks/${id}`, undefined, who), 200);
  }

  // The caller needs the role on the old and the new sites. Omitted site_ids keep the sites.
  expectStatus(await ask(`PUT /webhooks/${ofFirst}`, { ...webhookFields, site_ids: [second] }, onFirst), 422);
  expectStatus(await ask(`PUT /webhooks/${ofSecond}`, { ...webhookFields, site_ids: [first] }, manager), 403);
  assert.deepEqual(expectStatus(await ask(`PUT /webhooks/${ofFirst}`, webhookFields, onFirst), 200).body.site_ids, [
    first,
  ]);
  expectStatus(await ask(`PUT /webhooks/${ofBoth}`, { ...webhookFields, site_ids: [first] }, account), 200);
  // Its log still contains events of the second site.
  expectStatus(await ask(`GET /webhooks/${ofBoth}`, undefined, onFirst), 404);

  // A caller without the role on any site, and a token limited to one site.
  const lowRoles = await staffOf({ [first]: 'manager', [second]: 'operator' });
  for (const request of ['GET /webhooks', `GET /webhooks/${ofFirst}`, `DELETE /webhooks/${ofFirst}`])
    expectStatus(await ask(request, undefined, lowRoles), 403);
  const limited = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: account.key.id, api_key_secret: account.key.secret, site_ids: [first] },
  });
  const narrow = { admin: expectStatus(limited, 200).body.token as string };
  expectStatus(await ask(`GET /webhooks/${ofAll}`, undefined, narrow), 404);
  expectStatus(await ask(`GET /webhooks/${ofFirst}`, undefined, narrow), 200);

  // A site made by another operator does not hide webhooks from the admin.
  const third = await makeSite(server, { ...account, admin: onSecond.admin });
  expectStatus(await ask(`GET /webhooks/${ofAll}`, undefined, account), 200);
  expectStatus(await ask(`GET /webhooks/${ofFirst}`, undefined, account), 200);
  expectStatus(await post(account, [third]), 422);
});
