import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { barriersOf } from '../support/browser/console.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer } from '../support/server.ts';
import { expectStatus, makeAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

test('the reference is searched by words, and a link to something hidden shows it', async () => {
  const { page, complaints } = await browser.newPage();
  await page.goto(`${server.url}/docs`);
  const articles = page.locator('main article:visible');
  const all = await articles.count();
  await page.keyboard.press('/');
  await page.keyboard.type('Scheduling_Policies create');
  await page.getByRole('heading', { name: 'POST /queues/scheduling_policies', exact: true }).waitFor();
  const found = await articles.count();
  assert.ok(found > 0 && found < all / 4, `${found} of ${all}`);
  assert.equal(await page.locator('#search output').textContent(), `${found} of ${all}`);
  assert.equal(await page.locator('nav li:visible').filter({ hasText: '/audit_log' }).count(), 0);

  await page.evaluate(`location.hash = '#get-audit-log'`);
  await page.locator('#get-audit-log').waitFor();
  assert.equal(await articles.count(), all);
  assert.deepEqual(complaints, []);
});

test('an operation is tried with the session of the console, with the rights of its operator', async () => {
  const account = await makeAccount(server);
  const { page, context, complaints } = await browser.newPage();
  await page.goto(`${server.url}/docs`);
  await page.getByLabel('Search').fill('/sites/{site_id} get');
  const read = page.locator('#get-sites-site-id .try');
  await read.getByText('Try it').click();
  await read.getByLabel('site_id').fill(account.siteId);
  await read.getByRole('button', { name: 'Send' }).click();
  await read.getByRole('link', { name: 'Sign in to the console' }).waitFor();
  // The browser reports the refused exchange of the session.
  complaints.length = 0;

  const credentials = { api_key_id: account.key.id, api_key_secret: account.key.secret };
  const signIn = await context.request.post(`${server.url}/operator_authentication/sessions`, { data: credentials });
  assert.ok(signIn.ok());
  await read.getByRole('button', { name: 'Send' }).click();
  await read.getByText('200 OK').waitFor();
  assert.match((await read.locator('pre').textContent()) ?? '', new RegExp(`"id": "${account.siteId}"`));
  assert.deepEqual(await barriersOf(page), []);

  await page.getByLabel('Search').fill('/teams');
  const create = page.locator('#post-teams .try');
  await create.getByText('Try it').click();
  await create.getByLabel('body').fill(JSON.stringify({ name: '<b>Night</b>', site_id: account.siteId }));
  await create.getByText('This changes the data of your account.').waitFor();
  await create.getByRole('button', { name: 'Send' }).click();
  await create.getByText('201 Created').waitFor();
  assert.match((await create.locator('pre').textContent()) ?? '', /"name": "<b>Night<\/b>"/);
  const { body } = expectStatus(await call(server, 'GET /teams', { token: account.admin }), 200);
  assert.ok(JSON.stringify(body).includes('<b>Night</b>'));
  assert.deepEqual(complaints, []);
});
