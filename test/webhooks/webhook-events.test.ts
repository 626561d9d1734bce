import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { FailingWebhooks } from '../../packages/server/src/webhooks/failing-webhooks.ts';
import { openFeed, type OpenFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook, waitingRows, webhookRow } from '../support/receivers/webhooks.ts';
import { expectStatus, eventsOf, makeAccount, makeOperator, makeSite, type TestAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const { sql } = server.database;
const ending = await forThisFile(startReceiver());
const healthy = await forThisFile(startReceiver());

const events = ['webhook.failing', 'webhook.disabled', 'webhook.recovered'];
const runs = { succeeded: () => undefined, failed: () => undefined };

function checkerOf(clock = { databaseNow: () => Date.now(), isInDoubt: false }) {
  return new FailingWebhooks({ sql, clock, log: createLog('silent'), runs });
}

/** Every process checks, at the same time. */
async function check(): Promise<void> {
  const checkers = [checkerOf(), checkerOf(), checkerOf()];
  await Promise.all(checkers.map(async (each) => each.check()));
  for (const each of checkers) each.stop();
}

async function failSince(id: string, minutes: number): Promise<void> {
  await sql`UPDATE webhooks SET failing_since = now() - make_interval(mins => ${minutes}) WHERE id = ${id}`;
}

async function sendTest(account: TestAccount, id: string): Promise<void> {
  const body = { event_type: 'engagement.end' };
  expectStatus(await call(server, `POST /webhooks/${id}/test`, { token: account.admin, body }), 202);
}

function typesOf(feed: OpenFeed): string[] {
  return feed.items.map(({ type }) => type).filter((type) => type.startsWith('webhook.'));
}

test('a webhook that fails for an hour, and then works for ten minutes, is reported once each, and never to itself', async () => {
  const account = await makeAccount(server);
  healthy.arrived.length = 0;
  const failing = await makeWebhook(server, account, { url: ending.url, events, description: 'Orders' });
  await makeWebhook(server, account, { url: healthy.url, events });
  await makeWebhook(server, account, { url: `${healthy.url}/uninterested`, events: ['engagement.start'] });
  await using feed = await openFeed(server, { token: account.admin });

  await failSince(failing.id, 59);
  await check();
  assert.equal((await webhookRow(server, failing.id)).alarmed_at, null);
  await failSince(failing.id, 61);
  const doubtful = checkerOf({ databaseNow: () => Date.now(), isInDoubt: true });
  await doubtful.check();
  doubtful.stop();
  assert.equal((await webhookRow(server, failing.id)).alarmed_at, null);
  await check();
  await check();

  const [event] = (await eventsOf(server, account)) as [Json];
  const { failing_since: since, ...webhook } = event.webhook;
  assert.ok(Date.parse(since) < Date.now() - 3_600_000);
  assert.deepEqual(webhook, {
    id: failing.id,
    origin: new URL(ending.url).origin,
    description: 'Orders',
    site_ids: [account.siteId],
    registered_by: account.adminId,
  });
  await until(() => healthy.ofType('webhook.failing').length > 0);
  const shown = await feed.untilType('webhook.failing');
  assert.deepEqual(shown.data, healthy.ofType('webhook.failing')[0]);

  // D8.13: it delivers, fails and delivers again, and nothing is reported.
  const isRecovering = async (): Promise<boolean> => {
    const { succeeded_at: succeeded, failed_at: failed } = await webhookRow(server, failing.id);
    return succeeded !== null && (failed === null || succeeded > failed);
  };
  for (const answer of [200, 500, 200]) {
    ending.answer = () => answer;
    if (answer === 500 || ending.arrived.length === 0) await sendTest(account, failing.id);
    await until(async () => (await isRecovering()) === (answer === 200));
    await check();
    const { failing_since: still, alarmed_at: reported } = await webhookRow(server, failing.id);
    assert.deepEqual([still?.toISOString(), reported === null], [since, false]);
  }
  await sql`
    UPDATE webhooks SET succeeded_at = succeeded_at - interval '11 minutes', failed_at = failed_at - interval '11 minutes'
     WHERE id = ${failing.id}`;
  await check();
  await until(() => healthy.ofType('webhook.recovered').length > 0);
  await sendTest(account, failing.id);
  await until(() => ending.ofType('engagement.end').length === 4);
  const row = await webhookRow(server, failing.id);
  assert.deepEqual([row.failing_since, row.alarmed_at], [null, null]);
  const types = (await eventsOf(server, account)).map(({ event_type }) => event_type);
  assert.deepEqual(types, ['webhook.failing', 'webhook.recovered']);
  assert.deepEqual(healthy.arrived.map(({ path, event: { event_type } }) => [path, event_type]), [
    ['/hook', 'webhook.failing'],
    ['/hook', 'webhook.recovered'],
  ]); // prettier-ignore
  assert.ok(ending.arrived.every(({ event: { event_type } }) => event_type === 'engagement.end'));
  await feed.untilType('webhook.recovered');
});

test('a webhook that is disabled, by its receiver or by a request, is reported with the reason', async () => {
  const account = await makeAccount(server);
  healthy.arrived.length = 0;
  const gone = await makeWebhook(server, account, { url: ending.url, events });
  await makeWebhook(server, account, { url: healthy.url, events });
  ending.answer = () => 410;
  await sendTest(account, gone.id);
  await until(() => healthy.ofType('webhook.disabled').length === 1);
  ending.answer = () => 200;
  const settings = { url: ending.url, method: 'POST', events };
  const put = async (enabled: boolean) =>
    expectStatus(
      await call(server, `PUT /webhooks/${gone.id}`, { token: account.admin, body: { ...settings, enabled } }),
      200,
    );
  await put(true);
  await sendTest(account, gone.id);
  await until(() => healthy.ofType('webhook.recovered').length === 1);
  await put(false);
  await put(false);
  await until(() => healthy.ofType('webhook.disabled').length === 2);
  assert.deepEqual(
    healthy.ofType('webhook.disabled').map(({ webhook }) => webhook.disabled_because),
    ['gone', 'asked'],
  );
  assert.equal((await eventsOf(server, account)).length, 3);
});

test('events about a webhook reach those who may see it: other webhooks, and readers of the feed', async () => {
  const account = await makeAccount(server);
  const otherSite = await makeSite(server, account);
  healthy.arrived.length = 0;
  const assignment = (site: string, role: string) => ({ site_id: site, role });
  const everywhere = await makeOperator(server, account, [
    assignment(account.siteId, 'super_manager'),
    assignment(otherSite, 'super_manager'),
  ]);
  const partly = await makeOperator(server, account, [
    assignment(account.siteId, 'super_manager'),
    assignment(otherSite, 'manager'),
  ]);
  const watched = await makeWebhook(server, account, { url: ending.url, events });
  const own = (token: string): TestAccount => ({ ...account, admin: token });
  await makeWebhook(server, own(everywhere.token), { url: `${healthy.url}/everywhere`, events });
  const hidden = await makeWebhook(server, own(partly.token), { url: `${healthy.url}/partly`, events });
  await using admin = await openFeed(server, { token: account.admin });
  await using colleague = await openFeed(server, { token: everywhere.token });
  await using limited = await openFeed(server, { token: partly.token });
  const [adminId, limitedId] = [admin.lastId(), limited.lastId()];
  await failSince(watched.id, 61);
  await check();
  for (const feed of [admin, colleague]) await feed.untilType('webhook.failing');
  await until(() => healthy.arrived.length > 0);

  assert.deepEqual(await waitingRows(server, hidden.id), []);

  await using resumed = await openFeed(server, { token: account.admin, lastId: adminId });
  await resumed.untilType('webhook.failing');
  await using resumedLimited = await openFeed(server, { token: partly.token, lastId: limitedId });
  // A reader who may not see the webhook gets the next event, but not this one.
  await makeTeamEvent(account);
  for (const feed of [limited, resumedLimited]) {
    await feed.untilType('operator.state');
    assert.deepEqual(typesOf(feed), []);
  }
  assert.deepEqual(healthy.arrived.map(({ path }) => path), ['/hook/everywhere']); // prettier-ignore
});

/** An item for the feeds of all managers of the site. */
async function makeTeamEvent(account: TestAccount): Promise<void> {
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const body = { available: true };
  expectStatus(await call(server, `PUT /operators/${operator.id}/presence`, { token: operator.token, body }), 200);
}
