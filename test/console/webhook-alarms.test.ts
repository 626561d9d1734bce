import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { barriersOf, openConsole } from '../support/browser/console.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, startTestServer } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { expectStatus, makeAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());
const receiver = await forThisFile(startReceiver());

test('a bell on every page counts the webhooks that need attention, and links to them', async () => {
  const account = await makeAccount(server);
  const { page, complaints } = await openConsole({ browser, server, key: account.key, path: '/account' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  const bell = page.getByRole('button', { name: /needs? attention$/ });
  assert.equal(await bell.count(), 0);
  const webhook = await makeWebhook(server, account, { url: receiver.url, description: 'Orders' });
  await makeWebhook(server, account, { url: receiver.url, description: 'Invoices' });
  receiver.answer = () => 410;
  const body = { event_type: 'engagement.end' };
  expectStatus(await call(server, `POST /webhooks/${webhook.id}/test`, { token: account.admin, body }), 202);
  // The live feed reports it, long before the next poll.
  await page.getByRole('button', { name: '1 webhook needs attention' }).waitFor();
  receiver.answer = () => 200;
  assert.deepEqual(await barriersOf(page), []);
  await bell.click();
  await page.getByRole('menuitem', { name: /^Orders.*Disabled: the receiver answered 410 Gone/s }).click();
  await page.waitForURL(`**/webhooks/${webhook.id}`);
  assert.deepEqual(complaints, []);
});
