import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { comesTrue, openBrowser } from '../support/browser/browser.ts';
import { barriersOf, openConsole } from '../support/browser/console.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { startProxy } from '../support/network/proxy.ts';
import { call } from '../support/server.ts';
import { invite, linkOf } from '../support/people/sign-in.ts';
import { expectStatus, makeOperator } from '../support/world.ts';

const password = 'a lamp by the river';

const { server, account } = await openWorld();
const browser = await forThisFile(openBrowser());

async function isLive(page: Page): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
}

async function fillKey(page: Page): Promise<void> {
  await page.getByText('API key', { exact: true }).click();
  await page.getByLabel('Key ID').fill(account.key.id);
  await page.getByLabel('Key secret').fill(account.key.secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

test('an operator signs in with an API key, stays signed in after a reload, and signs out', async () => {
  const { page, context, complaints } = await browser.newPage();
  await page.goto(`${server.url}/console/`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await comesTrue(page, `document.activeElement?.type === 'email'`);
  assert.deepEqual(await barriersOf(page), []);
  await fillKey(page);
  await isLive(page);
  await page.evaluate('document.activeElement?.blur()');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  const isInView = async (): Promise<boolean> => ((await skip.boundingBox())?.y ?? -1) >= 0;
  assert.equal(await isInView(), false);
  await page.keyboard.press('Tab');
  assert.ok(await skip.evaluate((element) => element.matches(':focus')));
  assert.equal(await isInView(), true);
  await page.keyboard.press('Enter');
  await comesTrue(page, `document.activeElement?.tagName === 'MAIN'`);
  assert.deepEqual(await barriersOf(page), []);
  const cookies = await context.cookies();
  assert.deepEqual(cookies.map(({ name, httpOnly, sameSite }) => `${name} ${httpOnly} ${sameSite}`).toSorted(), [
    'usher_device true Strict',
    'usher_session true Strict',
  ]);
  assert.equal(await page.evaluate('document.cookie + JSON.stringify(sessionStorage)'), '{}');
  await page.reload();
  await isLive(page);
  await choose(page, 'Sign out');
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  // The device cookie stays; it signs nobody in.
  assert.deepEqual(
    (await context.cookies()).map(({ name }) => name),
    ['usher_device'],
  );
  await page.reload();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('a wrong key shows an error and keeps the typed text', async () => {
  const { page } = await browser.newPage();
  await page.goto(`${server.url}/console/board`);
  await page.getByRole('textbox', { name: 'E-mail' }).fill('nobody@test.example');
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /Incorrect email or password/);
  assert.equal(await page.getByRole('textbox', { name: 'E-mail' }).inputValue(), 'nobody@test.example');
});

test('the printed link signs in once and leaves no secret in the URL', async () => {
  const link = await linkOf(server, account.adminId);
  const first = await browser.newPage();
  await first.page.goto(`${server.url}/console/sign-in#${link}`);
  await isLive(first.page);
  assert.equal(new URL(first.page.url()).hash, '');
  const second = await browser.newPage();
  await second.page.goto(`${server.url}/console/sign-in#${link}`);
  await second.page.getByRole('alert').waitFor();
  await fillKey(second.page);
  await isLive(second.page);
  assert.deepEqual([...first.complaints, ...second.complaints], []);
});

test('an invited operator sets a password and signs in with it', async () => {
  const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const invitation = await invite(server, account, id);
  const { page, complaints } = await browser.newPage();
  await page.goto(`${server.url}/console/invitation#${invitation}`);
  await page.getByText('Hi Somebody, you will sign in as').waitFor();
  await comesTrue(page, `document.activeElement?.type === 'password'`);
  assert.deepEqual(await barriersOf(page), []);
  await page.getByLabel('Choose a password').fill(password);
  await page.keyboard.press('Enter');
  await isLive(page);
  // An operator sees the desk, and no page of managers.
  assert.deepEqual(await page.getByRole('navigation').getByRole('link').allInnerTexts(), ['Desk']);
  const { email } = expectStatus(await call(server, `GET /operators/${id}`, { token: account.admin }), 200).body;
  await choose(page, 'Sign out');
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.keyboard.press('Enter');
  await isLive(page);
  assert.deepEqual(complaints, []);
});

test("signing out everywhere ends the other browser's session, which asks to sign in again and keeps typed text", async () => {
  const { key } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  const first = await openConsole({ browser, server, key, path: '/account' });
  const second = await openConsole({ browser, server, key, path: '/account' });
  await isLive(second.page);
  await second.page.getByLabel('New password').fill('typed but not sent');
  await isLive(first.page);
  await first.page.getByRole('button', { name: /^Sign out (?!everywhere)./ }).waitFor();
  await choose(first.page, 'Sign out everywhere');
  const dialog = second.page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.waitFor();
  await dialog.getByText('API key', { exact: true }).click();
  await dialog.getByLabel('Key ID').fill(key.id);
  await dialog.getByLabel('Key secret').fill(key.secret);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  await isLive(second.page);
  assert.equal(await second.page.getByLabel('New password').inputValue(), 'typed but not sent');
  assert.deepEqual([...first.complaints, ...second.complaints], []);
});

test('the page shows a lost connection and continues when the server is back', async () => {
  await using proxy = await startProxy(server);
  const { page, complaints } = await openConsole({ browser, server: proxy, key: account.key, path: '/account' });
  await isLive(page);
  proxy.shut(true);
  proxy.cut();
  await page.getByText('Reconnecting', { exact: true }).waitFor();
  proxy.shut(false);
  await isLive(page);
  assert.deepEqual(complaints, []);
});

test('a chunk that fails to load leaves the rest of the page usable, and loads when the server is back', async () => {
  await using proxy = await startProxy(server);
  const { page, context, complaints } = await openConsole({
    browser,
    server: proxy,
    key: account.key,
    path: '/account',
  });
  await isLive(page);
  proxy.shut(true);
  await page.getByRole('link', { name: 'Hours' }).click();
  await page.getByRole('alert').getByText('Could not load this page').waitFor();
  await page.getByText('Reconnecting', { exact: true }).waitFor();
  proxy.shut(false);
  await page.getByRole('heading', { name: 'Hours', level: 1 }).waitFor();
  await isLive(page);
  // A secondary part that fails is left out.
  await context.route('**/assets/sample-data-*', async (route) => route.abort());
  await page.reload();
  await page.getByRole('heading', { name: 'Hours', level: 1 }).waitFor();
  assert.deepEqual(complaints, []);
});

test('the console retries until the server answers', async () => {
  const { page, context, complaints } = await openConsole({ browser, server, key: account.key, path: '/account' });
  await isLive(page);
  await context.route('**/sessions/current/token', async (route) => route.abort());
  await page.reload();
  await page.getByText("Can't reach the server").waitFor();
  await context.unroute('**/sessions/current/token');
  await isLive(page);
  assert.deepEqual(complaints, []);
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`the frame has no accessibility violations in ${colorScheme} and fits a phone`, async () => {
    const options = { colorScheme, viewport: { width: 375, height: 700 } };
    const { page, complaints } = await openConsole({ browser, server, key: account.key, path: '/account', options });
    await isLive(page);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Webhooks' }).waitFor();
    assert.deepEqual(await barriersOf(page), []);
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'));
    assert.deepEqual(complaints, []);
  });
