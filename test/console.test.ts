import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser, type TestBrowser } from './support/browser.ts';
import { barriersOf } from './support/console.ts';
import { startTestServer, type TestServer } from './support/server.ts';
import { makeAccount, type TestAccount } from './support/world.ts';

let server: TestServer;
let browser: TestBrowser;
let account: TestAccount;

before(async () => {
  server = await startTestServer();
  browser = await openBrowser();
  account = await makeAccount(server);
});
after(async () => {
  await browser[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test('signs in with an API key, stays in over a reload, and signs out', async () => {
  const { page, complaints } = await browser.newPage({ colorScheme: 'light' });
  await page.goto(`${server.url}/console/`);
  await page.getByText('API key', { exact: true }).click();
  await page.getByLabel('Key id').fill(account.key.id);
  await page.getByLabel('Key secret').fill(account.key.secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Live', { exact: true }).waitFor();
  assert.deepEqual(await barriersOf(page), []);
  await page.reload();
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.deepEqual(complaints, []);
});
