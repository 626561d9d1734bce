import assert from 'node:assert/strict';
import { test } from 'node:test';
import { said } from '../support/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { assignRoles, engageOn, makeRegistrarScene, payload, registerWebhook } from '../support/registrars.ts';
import { call, startTestServer, type Answer, type Json } from '../support/server.ts';
import { leaseElsewhere } from '../support/webhooks.ts';
import { expectStatus, makeOperator, signIn, type TestAccount } from '../support/world.ts';

/** What somebody who has lost a site can still read, or have sent, of what a webhook was told of it. */
const server = await forThisFile(startTestServer());
// What is to be delivered stays where it can be counted.
await leaseElsewhere(server);

async function ask(who: { readonly token: string }, request: string, body?: Json): Promise<Answer> {
  return call(server, request, { token: who.token, body });
}

async function sayOn(own: TestAccount, siteId: string): Promise<void> {
  const [chat] = await engageOn([server], { own, siteId, count: 1 });
  assert.ok(chat);
  await said(chat, chat.visitor, 'Hello');
}

test('what a lost site was told of is no longer read from the log by the registrar', async () => {
  const { own, admin, first, second, registrar } = await makeRegistrarScene(server);
  const { id } = await registerWebhook(server, registrar);
  for (const site of [first, second]) await sayOn(own, site);
  const { deliveries } = expectStatus(
    await ask(registrar, `GET /webhooks/${id}/deliveries?event_type=engagement.chat.message`),
    200,
  ).body;
  assert.equal(deliveries.length, 2);
  const statuses = async (who: { readonly token: string }): Promise<number[]> =>
    Promise.all(deliveries.map(async (delivery: Json) => (await ask(who, `GET /deliveries/${delivery.id}`)).status));
  assert.deepEqual(await statuses(registrar), [200, 200]);
  await assignRoles(server, { own, operator: registrar, roles: { [first]: 'super_manager' } });
  const after = { token: await signIn(server, registrar.key) };
  // Newest first: the second site's is the first of them.
  assert.deepEqual(
    [await statuses(after), await statuses(admin)],
    [
      [404, 200],
      [200, 200],
    ],
  );
  const listed = async (who: { readonly token: string }): Promise<string[]> => {
    const answer = await ask(who, `GET /webhooks/${id}/deliveries?event_type=engagement.chat.message`);
    return expectStatus(answer, 200).body.deliveries.map((delivery: Json) => delivery.id);
  };
  const [ofSecond, ofFirst] = deliveries.map((delivery: Json) => delivery.id);
  assert.deepEqual([await listed(after), await listed(admin)], [[ofFirst], [ofSecond, ofFirst]]);
  expectStatus(await ask(after, `POST /deliveries/${ofSecond}/replay`, {}), 404);
  const onFirst = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  assert.deepEqual(await statuses(onFirst), [404, 404]);

  // Naming the site that is left opens nothing of the lost one, to the registrar or to others.
  expectStatus(await ask(after, `PUT /webhooks/${id}`, { ...payload, site_ids: [first] }), 200);
  assert.deepEqual([await statuses(after), await listed(after)], [[404, 200], [ofFirst]]);
  assert.deepEqual(await statuses(onFirst), [404, 404]);
  expectStatus(await ask(onFirst, `GET /webhooks/${id}`), 404);
  expectStatus(await ask(after, `POST /deliveries/${ofSecond}/replay`, {}), 404);
  assert.deepEqual(await statuses(admin), [200, 200]);
  // The registrar goes on changing it.
  expectStatus(await ask(after, `PUT /webhooks/${id}`, payload), 200);
});

test('the log of a webhook without a registrar shows each reader the sites they are super_manager of', async () => {
  const { own, admin, first, second } = await makeRegistrarScene(server);
  const { id } = await registerWebhook(server, admin);
  await server.database.sql`
    UPDATE webhooks SET registered_by = NULL, url_set_by = NULL, has_covered = NULL WHERE id = ${id}`;
  for (const site of [first, second]) await sayOn(own, site);
  expectStatus(await ask(admin, `PUT /webhooks/${id}`, { ...payload, site_ids: [first] }), 200);
  const onFirst = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  const counts = await Promise.all(
    [admin, onFirst].map(async (who) => {
      const answer = await ask(who, `GET /webhooks/${id}/deliveries?event_type=engagement.chat.message`);
      return expectStatus(answer, 200).body.deliveries.length;
    }),
  );
  assert.deepEqual(counts, [2, 1]);
});

test('a webhook that never heard of a site is seen by its registrar and by super_managers of every site', async () => {
  const { own, admin, first, registrar } = await makeRegistrarScene(server);
  const { id } = await registerWebhook(server, registrar);
  // As when the registrar loses the role while registering.
  await server.database.sql`UPDATE webhooks SET covers = '{}', has_covered = '{}' WHERE id = ${id}`;
  const onFirst = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  expectStatus(await ask(onFirst, `GET /webhooks/${id}`), 404);
  expectStatus(await ask(onFirst, `GET /webhooks/${id}/deliveries`), 404);
  for (const who of [registrar, admin]) expectStatus(await ask(who, `GET /webhooks/${id}`), 200);
});
