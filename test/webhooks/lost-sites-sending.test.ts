import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendText } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import {
  assignRoles,
  engageOn,
  makeRegistrarSetup,
  webhookBody,
  registerWebhook,
  type RegistrarSetup,
} from '../support/api/registrars.ts';
import { call, startTestServer, until, type Answer, type Json } from '../support/server.ts';
import { expectStatus, signIn, type TestAccount } from '../support/world.ts';

/** Which events of a site are still sent after the registrar of the webhook has lost the site. */
const server = await forThisFile(startTestServer());
const receiver = await forThisFile(startReceiver());

interface Caller {
  readonly token: string;
}

async function ask(who: Caller, request: string, body?: Json): Promise<Answer> {
  return call(server, request, { token: who.token, body });
}

const messages = { ...webhookBody, events: ['engagement.chat.message'] };

async function sayOn(own: TestAccount, siteId: string, content: string): Promise<void> {
  const [chat] = await engageOn([server], { own, siteId, count: 1 });
  assert.ok(chat);
  await sendText(chat, chat.visitor, content);
}

async function loseSecond({ own, first, registrar }: RegistrarSetup): Promise<Caller> {
  await assignRoles(server, { own, operator: registrar, roles: { [first]: 'super_manager' } });
  return { token: await signIn(server, registrar.key) };
}

async function deliveriesOf(who: Caller, id: string): Promise<Json[]> {
  return expectStatus(await ask(who, `GET /webhooks/${id}/deliveries`), 200).body.deliveries;
}

function arrivedAt(path: string): string[] {
  const webhooks = receiver.arrived.filter((arrived) => arrived.path === path);
  return [...new Set(webhooks.map(({ event }) => event.message.content as string))];
}

const urlOf = (path: string): string => receiver.url.replace('/hook', path);

test('waiting deliveries of a site are not sent to a new URL if the webhook no longer covers the site', async () => {
  // A new URL on the same origin, where no delivery moves, and one on another origin.
  const other = await startReceiver();
  try {
    for (const [old, next] of [
      [urlOf('/failing-1'), urlOf('/next')],
      [urlOf('/failing-2'), other.url],
    ] as const) {
      receiver.answer = ({ path }) => (path.startsWith('/failing') ? 500 : 200);
      const setup = await makeRegistrarSetup(server);
      const { own, admin, first, second, registrar } = setup;
      const { id } = await registerWebhook(server, registrar, { ...messages, url: old });
      await sayOn(own, first, 'first');
      await sayOn(own, second, 'second');
      await until(async () => (await deliveriesOf(admin, id)).every(({ state }) => state === 'retrying'));
      const former = await loseSecond(setup);
      expectStatus(await ask(former, `PUT /webhooks/${id}`, { ...messages, url: next }), 200);
      await until(async () => (await deliveriesOf(admin, id)).every(({ finished_at: at }) => at !== null), 20_000);
      const ends = (await deliveriesOf(admin, id)).map(({ state, last_error: error }) => [state, error]);
      assert.deepEqual(ends, [
        ['discarded', 'the webhook was changed and no longer covers the site'],
        ['delivered', null],
      ]);
    }
    assert.deepEqual(arrivedAt('/next'), ['first']);
    assert.deepEqual(
      other.arrived.map(({ event }) => event.message.content),
      ['first'],
    );
  } finally {
    await other.close();
  }
});

test('deliveries that waited when the registrar lost the role are still sent to the old URL', async () => {
  receiver.answer = () => 500;
  const setup = await makeRegistrarSetup(server);
  const { own, admin, second, registrar } = setup;
  const { id } = await registerWebhook(server, registrar, { ...messages, url: urlOf('/same') });
  await sayOn(own, second, 'second');
  await until(async () => (await deliveriesOf(admin, id)).some(({ state }) => state === 'retrying'));
  await loseSecond(setup);
  receiver.answer = () => 200;
  await until(async () => (await deliveriesOf(admin, id)).every(({ state }) => state === 'delivered'), 20_000);
});

test('D8.16 neither a recovery nor a replay sends events of a site that the webhook no longer covers', async () => {
  receiver.answer = () => 200;
  const setup = await makeRegistrarSetup(server);
  const { own, admin, first, second, registrar } = setup;
  const url = urlOf('/recovered');
  const { id } = await registerWebhook(server, registrar, { ...messages, url, enabled: false });
  await sayOn(own, first, 'first');
  await sayOn(own, second, 'second');
  const held = await deliveriesOf(admin, id);
  assert.deepEqual(
    held.map(({ state }) => state),
    ['held', 'held'],
  );
  const former = await loseSecond(setup);
  expectStatus(await ask(former, `PUT /webhooks/${id}`, { ...messages, url, enabled: true }), 200);
  const recover = async (who: Caller): Promise<number> => {
    const answer = await ask(who, `POST /webhooks/${id}/recover`, { since: new Date(0).toISOString() });
    const path = `GET /webhooks/${id}/recoveries/${expectStatus(answer, 202).body.id}`;
    await until(async () => (await ask(who, path)).body.state === 'finished');
    return (await ask(who, path)).body.recovered;
  };
  assert.equal(await recover(former), 1);
  // Also not for an admin: the deliveries would go to the URL of the registrar.
  assert.equal(await recover(admin), 0);
  expectStatus(await ask(admin, `POST /deliveries/${held[0]?.id}/replay`, {}), 403);
  await until(() => arrivedAt('/recovered').length > 0);
  assert.deepEqual(arrivedAt('/recovered'), ['first']);
  // The held delivery can be recovered once the registrar has the role again.
  const roles = { [first]: 'super_manager', [second]: 'super_manager' };
  await assignRoles(server, { own, operator: registrar, roles });
  assert.equal(await recover(admin), 1);
  await until(() => arrivedAt('/recovered').length === 2);
});
