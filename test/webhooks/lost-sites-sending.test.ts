import assert from 'node:assert/strict';
import { test } from 'node:test';
import { said } from '../support/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receiver.ts';
import {
  assignRoles,
  engageOn,
  makeRegistrarScene,
  payload,
  registerWebhook,
  type RegistrarScene,
} from '../support/registrars.ts';
import { call, startTestServer, until, type Answer, type Json } from '../support/server.ts';
import { expectStatus, signIn, type TestAccount } from '../support/world.ts';

/** What is still sent of a site after the registrar of the webhook has lost it. */
const server = await forThisFile(startTestServer());
const receiver = await forThisFile(startReceiver());

interface Caller {
  readonly token: string;
}

async function ask(who: Caller, request: string, body?: Json): Promise<Answer> {
  return call(server, request, { token: who.token, body });
}

const messages = { ...payload, events: ['engagement.chat.message'] };

async function sayOn(own: TestAccount, siteId: string, content: string): Promise<void> {
  const [chat] = await engageOn([server], { own, siteId, count: 1 });
  assert.ok(chat);
  await said(chat, chat.visitor, content);
}

async function loseSecond({ own, first, registrar }: RegistrarScene): Promise<Caller> {
  await assignRoles(server, { own, operator: registrar, roles: { [first]: 'super_manager' } });
  return { token: await signIn(server, registrar.key) };
}

async function deliveriesOf(who: Caller, id: string): Promise<Json[]> {
  return expectStatus(await ask(who, `GET /webhooks/${id}/deliveries`), 200).body.deliveries;
}

function arrivedAt(path: string): string[] {
  const there = receiver.arrived.filter((arrived) => arrived.path === path);
  return [...new Set(there.map(({ event }) => event.message.content as string))];
}

const urlOf = (path: string): string => receiver.url.replace('/hook', path);

test('what waits is not sent to a new URL of a webhook that no longer hears of the site', async () => {
  // On the same origin, where nothing has to be moved, and on another.
  const other = await startReceiver();
  try {
    for (const [old, next] of [
      [urlOf('/failing-1'), urlOf('/next')],
      [urlOf('/failing-2'), other.url],
    ] as const) {
      receiver.answer = ({ path }) => (path.startsWith('/failing') ? 500 : 200);
      const stage = await makeRegistrarScene(server);
      const { own, admin, first, second, registrar } = stage;
      const { id } = await registerWebhook(server, registrar, { ...messages, url: old });
      await sayOn(own, first, 'first');
      await sayOn(own, second, 'second');
      await until(async () => (await deliveriesOf(admin, id)).every(({ state }) => state === 'retrying'));
      const former = await loseSecond(stage);
      expectStatus(await ask(former, `PUT /webhooks/${id}`, { ...messages, url: next }), 200);
      await until(async () => (await deliveriesOf(admin, id)).every(({ finished_at: at }) => at !== null), 20_000);
      const ends = (await deliveriesOf(admin, id)).map(({ state, last_error: error }) => [state, error]);
      assert.deepEqual(ends, [
        ['discarded', 'the webhook was changed and no longer hears of the site'],
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

test('what waited when the role was taken away is still sent to the URL it had', async () => {
  receiver.answer = () => 500;
  const stage = await makeRegistrarScene(server);
  const { own, admin, second, registrar } = stage;
  const { id } = await registerWebhook(server, registrar, { ...messages, url: urlOf('/same') });
  await sayOn(own, second, 'second');
  await until(async () => (await deliveriesOf(admin, id)).some(({ state }) => state === 'retrying'));
  await loseSecond(stage);
  receiver.answer = () => 200;
  await until(async () => (await deliveriesOf(admin, id)).every(({ state }) => state === 'delivered'), 20_000);
});

test('neither a recovery nor a replay sends what happened on a site that the webhook no longer hears of', async () => {
  receiver.answer = () => 200;
  const stage = await makeRegistrarScene(server);
  const { own, admin, first, second, registrar } = stage;
  const url = urlOf('/recovered');
  const { id } = await registerWebhook(server, registrar, { ...messages, url, enabled: false });
  await sayOn(own, first, 'first');
  await sayOn(own, second, 'second');
  const held = await deliveriesOf(admin, id);
  assert.deepEqual(
    held.map(({ state }) => state),
    ['held', 'held'],
  );
  const former = await loseSecond(stage);
  expectStatus(await ask(former, `PUT /webhooks/${id}`, { ...messages, url, enabled: true }), 200);
  const recover = async (who: Caller): Promise<number> => {
    const asked = await ask(who, `POST /webhooks/${id}/recover`, { since: new Date(0).toISOString() });
    const path = `GET /webhooks/${id}/recoveries/${expectStatus(asked, 202).body.id}`;
    await until(async () => (await ask(who, path)).body.state === 'finished');
    return (await ask(who, path)).body.recovered;
  };
  assert.equal(await recover(former), 1);
  // Whoever asks: it is sent to whoever has the URL.
  assert.equal(await recover(admin), 0);
  expectStatus(await ask(admin, `POST /deliveries/${held[0]?.id}/replay`, {}), 403);
  await until(() => arrivedAt('/recovered').length > 0);
  assert.deepEqual(arrivedAt('/recovered'), ['first']);
  // What was held is there when the role is.
  const roles = { [first]: 'super_manager', [second]: 'super_manager' };
  await assignRoles(server, { own, operator: registrar, roles });
  assert.equal(await recover(admin), 1);
  await until(() => arrivedAt('/recovered').length === 2);
});
