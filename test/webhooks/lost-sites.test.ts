import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendText } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { assignRoles, engageOn, makeRegistrarSetup, webhookBody, registerWebhook } from '../support/api/registrars.ts';
import { call, startTestServer, type Answer, type Json } from '../support/server.ts';
import { leaseElsewhere } from '../support/receivers/webhooks.ts';
import { expectStatus, makeOperator, signIn, type TestAccount } from '../support/world.ts';

/** What an operator who has lost a site can still read of the deliveries of that site. */
const server = await forThisFile(startTestServer());
// Deliveries stay in the table, so that the tests can count them.
await leaseElsewhere(server);

async function ask(who: { readonly token: string }, request: string, body?: Json): Promise<Answer> {
  return call(server, request, { token: who.token, body });
}

async function sayOn(own: TestAccount, siteId: string): Promise<void> {
  const [chat] = await engageOn([server], { own, siteId, count: 1 });
  assert.ok(chat);
  await sendText(chat, chat.visitor, 'Hello');
}

test('a registrar can no longer read the deliveries of a site they have lost', async () => {
  const { own, admin, first, second, registrar } = await makeRegistrarSetup(server);
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
  // Newest first: the first delivery belongs to the second site.
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

  // Limiting the webhook to the remaining site gives no one access to deliveries of the lost one.
  expectStatus(await ask(after, `PUT /webhooks/${id}`, { ...webhookBody, site_ids: [first] }), 200);
  assert.deepEqual([await statuses(after), await listed(after)], [[404, 200], [ofFirst]]);
  assert.deepEqual(await statuses(onFirst), [404, 404]);
  expectStatus(await ask(onFirst, `GET /webhooks/${id}`), 404);
  expectStatus(await ask(after, `POST /deliveries/${ofSecond}/replay`, {}), 404);
  assert.deepEqual(await statuses(admin), [200, 200]);
  // The registrar can still update the webhook.
  expectStatus(await ask(after, `PUT /webhooks/${id}`, webhookBody), 200);
});

test('the log of a webhook without a registrar shows each reader the sites they are super_manager of', async () => {
  const { own, admin, first, second } = await makeRegistrarSetup(server);
  const { id } = await registerWebhook(server, admin);
  await server.database.sql`
    UPDATE webhooks SET registered_by = NULL, url_set_by = NULL, has_covered = NULL WHERE id = ${id}`;
  for (const site of [first, second]) await sayOn(own, site);
  expectStatus(await ask(admin, `PUT /webhooks/${id}`, { ...webhookBody, site_ids: [first] }), 200);
  const onFirst = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  const counts = await Promise.all(
    [admin, onFirst].map(async (who) => {
      const answer = await ask(who, `GET /webhooks/${id}/deliveries?event_type=engagement.chat.message`);
      return expectStatus(answer, 200).body.deliveries.length;
    }),
  );
  assert.deepEqual(counts, [2, 1]);
});

test('a webhook that never covered a site is visible to its registrar and to super_managers of every site', async () => {
  const { own, admin, first, registrar } = await makeRegistrarSetup(server);
  const { id } = await registerWebhook(server, registrar);
  // As if the registrar had lost the role while registering.
  await server.database.sql`UPDATE webhooks SET covers = '{}', has_covered = '{}' WHERE id = ${id}`;
  const onFirst = await makeOperator(server, own, [{ site_id: first, role: 'super_manager' }]);
  expectStatus(await ask(onFirst, `GET /webhooks/${id}`), 404);
  expectStatus(await ask(onFirst, `GET /webhooks/${id}/deliveries`), 404);
  for (const who of [registrar, admin]) expectStatus(await ask(who, `GET /webhooks/${id}`), 200);
});
