import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventTypes, type EventType } from '../../packages/server/src/events/catalogue.ts';
import { makeEvent } from '../../packages/server/src/events/make-event.ts';
import { newSecret } from '../../packages/server/src/channels/webhook-secret.ts';
import { openWorld } from '../support/fixture.ts';
import { call, type Answer, type Json } from '../support/server.ts';
import {
  apnsFields,
  leaseElsewhere,
  makeWebhook,
  openSecret,
  webhookRow,
  waitingRows,
  webhookFields,
} from '../support/receivers/webhooks.ts';
import { expectStatus, makeAccount, makeOperator } from '../support/world.ts';

const { server, account: own } = await openWorld();
await leaseElsewhere(server);

async function ask(request: string, body?: unknown, who: { admin: string } = own): Promise<Answer> {
  return call(server, request, { token: who.admin, body });
}

test('secrets are shown only when they are created, stored encrypted, and never logged', async () => {
  const account = await makeAccount(server);
  const secret = newSecret();
  const key = { 'idempotency-key': randomUUID() };
  const post = async (): Promise<Answer> =>
    call(server, 'POST /webhooks', { token: account.admin, body: { ...webhookFields, secret }, headers: key });
  const [one, two] = [expectStatus(await post(), 201), expectStatus(await post(), 201)];
  assert.equal(two.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(one.body, two.body);
  assert.equal(one.body.secret, secret);
  const { id } = one.body;

  const before = Date.now();
  const rotated = expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`, undefined, account), 200).body;
  assert.deepEqual(Object.keys(rotated), ['secret', 'old_secret_until']);
  assert.notEqual(rotated.secret, secret);
  const lasts = Date.parse(rotated.old_secret_until) - before;
  assert.ok(Math.abs(lasts - 24 * 3_600_000) < 60_000, String(lasts));
  assert.equal((await webhookRow(server, id)).old_secret_until.toISOString(), rotated.old_secret_until);
  assert.deepEqual(
    [await openSecret(server, id, 'secret'), await openSecret(server, id, 'old_secret')],
    [rotated.secret, secret],
  );

  // A chosen secret; and the same request again, as if the answer had been lost.
  const chosen = newSecret();
  const chose = expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`, { secret: chosen }, account), 200).body;
  const repeated = expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`, { secret: chosen }, account), 200).body;
  assert.deepEqual(repeated, chose);
  assert.deepEqual(
    [await openSecret(server, id, 'secret'), await openSecret(server, id, 'old_secret')],
    [chosen, rotated.secret],
  );

  for (const wrong of ['', 'secret', 'whsec_', `whsec_${'A'.repeat(28)}`, `whsec_${'!'.repeat(32)}`, null, 5]) {
    const { details } = expectStatus(
      await ask(`POST /webhooks/${id}/rotate_secret`, { secret: wrong }, account),
      422,
    ).body;
    assert.equal(details[0].attribute, '/secret');
  }
  expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`, { other: 1 }, account), 422);
  const apns = await makeWebhook(server, account, { ...apnsFields, method: undefined });
  assert.equal(
    expectStatus(await ask(`POST /webhooks/${apns.id}/rotate_secret`, {}, account), 409).body.error,
    'webhook_unsigned',
  );

  const answers = [
    await ask('GET /webhooks', undefined, account),
    await ask(`GET /webhooks/${id}`, undefined, account),
    await ask(`PUT /webhooks/${id}`, webhookFields, account),
  ];
  const everything = JSON.stringify(answers.map(({ body }) => body)) + server.logged.join('\n');
  for (const text of [secret, rotated.secret, chosen]) assert.ok(!everything.includes(text.slice(6, 26)));
  const stored = await server.database.sql<
    { text: string }[]
  >`SELECT webhooks::text AS text FROM webhooks WHERE id = ${id}`;
  for (const text of [secret, rotated.secret, chosen]) {
    assert.ok(!stored[0]?.text.includes(text.slice(6, 26)));
    assert.ok(!stored[0]?.text.includes(Buffer.from(text).toString('hex')));
  }

  expectStatus(await ask(`DELETE /webhooks/${id}`, undefined, account), 204);
  const row = await webhookRow(server, id);
  assert.deepEqual([row.secret, row.old_secret, row.old_secret_until], [null, null, null]);
  assert.ok(row.deleted_at instanceof Date);
});

test('concurrent rotations are applied one after the other', async () => {
  const { id, secret } = await makeWebhook(server, own);
  const rotate = async (): Promise<string> =>
    expectStatus(await ask(`POST /webhooks/${id}/rotate_secret`), 200).body.secret;
  const made = await Promise.all([rotate(), rotate(), rotate()]);
  const [now, former] = [await openSecret(server, id, 'secret'), await openSecret(server, id, 'old_secret')];
  assert.equal(new Set([secret, ...made]).size, 4);
  assert.ok(made.includes(now ?? '') && made.includes(former ?? '') && now !== former);
  expectStatus(await ask(`DELETE /webhooks/${id}`), 204);
});

test('D8.17 a test delivers a sample event to that webhook only, subscribed or not', async () => {
  const account = await makeAccount(server);
  const { id } = await makeWebhook(server, account);
  await makeWebhook(server, account, { events: eventTypes });
  for (const event_type of eventTypes) {
    const sent = expectStatus(await ask(`POST /webhooks/${id}/test`, { event_type }, account), 202).body;
    assert.deepEqual(Object.keys(sent), ['delivery_id', 'event_id']);
    const [row] = await server.database.sql`SELECT * FROM deliveries WHERE id = ${sent.delivery_id}`;
    assert.ok(row);
    const webhook = await webhookRow(server, id);
    assert.deepEqual(
      [row['webhook_id'], row['account_id'], row['destination_id'], row['event_id'], row['event_type']],
      [id, webhook.account_id, webhook.destination_id, sent.event_id, event_type],
    );
    assert.deepEqual([row['state'], row['parked'], row['attempts'], row['engagement_id']], ['pending', true, 0, null]);
    assert.ok(row['due_at'] <= new Date());
    assert.equal(row['body'].event_type, event_type);
    assert.equal(row['body'].event_id, sent.event_id);
    assert.equal(row['body'].dispatched_at, row['occurred_at'].toISOString());
    assert.ok(Object.keys(row['body']).length > 3);
  }
  const [{ count }] = await server.database.sql<[{ count: number }]>`
    SELECT count(*)::integer AS count FROM deliveries
     WHERE account_id = (SELECT account_id FROM operators WHERE id = ${account.adminId})`;
  assert.equal(count, eventTypes.length);
  const [{ seqs }] = await server.database.sql<[{ seqs: number }]>`
    SELECT count(DISTINCT event_seq)::integer AS seqs FROM deliveries WHERE webhook_id = ${id}`;
  assert.equal(seqs, eventTypes.length);
  const logged = await server.database.sql`
    SELECT 1 FROM events WHERE account_id = (SELECT account_id FROM operators WHERE id = ${account.adminId})`;
  assert.equal(logged.length, 0);

  for (const wrong of [
    {},
    { event_type: 'engagement.stop' },
    { event_type: null },
    { event_type: ['engagement.start'] },
  ])
    assert.equal(
      expectStatus(await ask(`POST /webhooks/${id}/test`, wrong, account), 422).body.details[0].attribute,
      '/event_type',
    );
  expectStatus(await ask(`PUT /webhooks/${id}`, { ...webhookFields, enabled: false }, account), 200);
  const disabled = await ask(`POST /webhooks/${id}/test`, { event_type: 'engagement.start' }, account);
  assert.equal(expectStatus(disabled, 409).body.error, 'webhook_disabled');
});

test('each webhook has its own limit of sixty tests per minute', async () => {
  const account = await makeAccount(server);
  const [one, other] = [await makeWebhook(server, account), await makeWebhook(server, account)];
  const body = { event_type: 'engagement.start' };
  const answers = await Promise.all(
    Array.from({ length: 63 }, async () => ask(`POST /webhooks/${one.id}/test`, body, account)),
  );
  assert.equal(answers.filter(({ status }) => status === 202).length, 60);
  const refused = answers.filter(({ status }) => status !== 202);
  for (const { status, body: problem, headers } of refused) {
    assert.deepEqual([status, problem.error], [429, 'rate_limited']);
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  assert.equal((await waitingRows(server, one.id)).length, 60);
  expectStatus(await ask(`POST /webhooks/${other.id}/test`, body, account), 202);
});

test('every event type is listed with the schema in openapi.json and a valid sample', async () => {
  const { token } = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const listed = expectStatus(await call(server, 'GET /event_types', { token }), 200).body.event_types;
  assert.deepEqual(
    listed.map(({ event_type }: Json) => event_type),
    eventTypes,
  );
  const document = JSON.parse(readFileSync('openapi.json', 'utf8'));
  // A schema of its own has no names for the members of a union, and so no discriminator.
  const resolved = (node: Json): Json => {
    if (Array.isArray(node)) return node.map(resolved);
    if (typeof node !== 'object' || node === null) return node;
    if (node.discriminator !== undefined) {
      const { oneOf, discriminator: _, ...rest } = node;
      return resolved({ ...rest, anyOf: oneOf });
    }
    const [union, none] = node.anyOf ?? [];
    if (none?.type === 'null' && union?.discriminator !== undefined)
      return resolved({ ...node, anyOf: [...union.oneOf, none] });
    if (typeof node.$ref === 'string') {
      const title = node.$ref.split('/').at(-1);
      return { ...resolved(document.components.schemas[title]), title };
    }
    return Object.fromEntries(Object.entries(node).map(([name, field]) => [name, resolved(field)]));
  };
  for (const { event_type, description, schema, sample, ...more } of listed) {
    assert.deepEqual(more, {});
    const { post } = document.webhooks[event_type];
    assert.equal(description, post.summary);
    assert.deepEqual(schema, resolved(post.requestBody.content['application/json'].schema));
    assert.equal(sample.event_type, event_type);
    const { event_type: _, event_id: id, dispatched_at, ...fields } = sample;
    const made = makeEvent(event_type as EventType, { id, at: new Date(dispatched_at) }, fields);
    assert.equal(JSON.stringify(sample), JSON.stringify(made));
  }
});
