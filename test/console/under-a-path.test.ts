import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { freePort } from '../support/network/free-port.ts';
import { startNginx } from '../support/network/reverse-proxies.ts';
import { call } from '../support/server.ts';
import { linkOf } from '../support/people/sign-in.ts';
import { makeApplicationToken, makeAvailableOperator, makeQueue } from '../support/world.ts';

const port = await freePort();
const publicUrl = `https://localhost:${port}/usher`;
const { server, account } = await openWorld({ trustProxy: 1, publicUrl });
await forThisFile(startNginx({ recipe: 'ops/nginx/usher-under-path.conf', usher: server, port }));
const browser = await forThisFile(openBrowser());

/** A new page, and the requests of it that left Usher's path or failed. */
async function openPage() {
  const opened = await browser.newPage({ ignoreHTTPSErrors: true });
  const faults: string[] = [];
  opened.page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${publicUrl}/`) && /^https?:/.test(url)) faults.push(url);
  });
  opened.page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
  });
  return { ...opened, faults };
}

test('the console works under a path: signing in by a link, opening pages, reloading', async () => {
  const { body } = await call(server, 'GET /operators', { token: account.admin });
  const link = await linkOf(server, body.operators[0].id);
  const { page, faults } = await openPage();
  await page.goto(`${publicUrl}/console/sign-in#${link}`);
  await page.getByRole('heading', { level: 1, name: 'Live board' }).waitFor();
  await page.getByRole('link', { name: 'Queues' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor();
  assert.equal(page.url(), `${publicUrl}/console/queues`);
  // The cookie of the session is found again.
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor();
  assert.deepEqual(faults, []);
});

test('the demo page and the widget work under a path', async () => {
  await makeQueue(server, account);
  await makeAvailableOperator(server, account);
  const { header } = await makeApplicationToken(server, account, 'publishable');
  const query = new URLSearchParams({ site: account.siteId, token: header.replace('ApplicationToken ', '') });
  const { page, faults } = await openPage();
  await page.goto(`${publicUrl}/demo?${query.toString()}`);
  assert.match((await page.locator('#tag').textContent()) ?? '', new RegExp(`src="${publicUrl}/widget.js"`));
  await page.getByRole('button', { name: 'Ask us' }).click();
  await page.getByRole('button', { name: 'Chat', exact: true }).click();
  await page.getByRole('button', { name: 'Stop waiting' }).waitFor();
  assert.deepEqual(faults, []);
});
