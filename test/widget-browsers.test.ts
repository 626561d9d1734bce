import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from './support/browser.ts';
import { call, startTestServer, until, type TestServer } from './support/server.ts';
import { askToTalk, openShop, say, takeVisitor, visit, write } from './support/widget.ts';
import { expectStatus } from './support/world.ts';

let server: TestServer;
let browser: TestBrowser;
before(async () => {
  server = await startTestServer();
  browser = await openBrowser();
});
after(async () => {
  await browser[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** A phone, and a desktop at 400 % zoom: the panel takes the whole screen. */
const small = { viewport: { width: 320, height: 400 } };

/** What has the focus inside the widget, by its name; '': nothing has. */
async function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const active = document.querySelector('usher-widget')?.shadowRoot?.activeElement;
    return active?.getAttribute('aria-label') ?? active?.textContent ?? '';
  })()`);
}

/** The names of what Tab reaches, until it is back where it began. */
async function reachedByTab(page: Page, key = 'Tab'): Promise<string[]> {
  const names: string[] = [];
  for (let step = 0; step < 20; step += 1) {
    await page.keyboard.press(key);
    const name = await focused(page);
    if (names.includes(name)) break;
    names.push(name);
  }
  return names;
}

test('in the full-screen panel Tab reaches everything in a conversation, in both directions', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop, small);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  for (let line = 0; line < 12; line += 1) await say(server, shop, engagement, `Line ${line}\nand more`);
  await page.getByText('Line 11').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('draft');
  const wanted = ['Message', 'Send a file', 'Send', 'Hide this window', 'Conversation'];
  for (const key of ['Tab', 'Shift+Tab']) {
    const reached = await reachedByTab(page, key);
    for (const name of wanted) assert.ok(reached.includes(name), `${key} reaches ${reached.join(', ')}`);
  }
});

test('the focus stays in the panel when the phase changes, and Escape closes it', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop);
  await page.getByRole('button', { name: 'Chat with us' }).click();
  await page.getByRole('button', { name: 'Chat', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop waiting' }).waitFor();
  await until(async () => (await focused(page)) !== '');
  await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await until(async () => (await focused(page)) === 'Message');
  await page.getByRole('button', { name: 'End chat' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'End chat' }).click();
  await page.getByRole('button', { name: 'Start again' }).waitFor();
  await until(async () => (await focused(page)) !== '');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Chat with us' }).waitFor();
});

test('who writes in a field of the page keeps the focus there when the conversation begins', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  await page.evaluate(`(() => {
    const field = document.createElement('input');
    field.id = 'of-the-page';
    for (const element of [field, document.body])
      element.style.cssText = 'display: block !important; visibility: visible !important';
    document.body.append(field);
    field.focus();
  })()`);
  assert.equal(await page.evaluate('document.activeElement?.id'), 'of-the-page');
  await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  assert.equal(await page.evaluate('document.activeElement?.id'), 'of-the-page');
});

test('keys typed in the widget do not reach the page', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await page.evaluate(`(() => {
    globalThis.heard = [];
    for (const type of ['keydown', 'keypress', 'keyup', 'input'])
      document.addEventListener(type, () => globalThis.heard.push(type));
  })()`);
  await page.getByLabel('Message', { exact: true }).pressSequentially('abc');
  assert.deepEqual(await page.evaluate('globalThis.heard'), []);
});

test('a page that replaces functions of the language can be chatted on', async () => {
  await using shop = await openShop(server);
  const { page } = await browser.newPage();
  // As libraries of the past did.
  await page.addInitScript(`
    Array.from = () => [];
    delete Crypto.prototype.randomUUID;
  `);
  await page.goto(shop.url);
  await askToTalk(page);
  await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await write(page, 'Hello');
  await page.getByText('· Sent').waitFor();
});

test('calls are offered only where the browser can make them, and an invitation says why not', async () => {
  await using shop = await openShop(server);
  const { page } = await browser.newPage();
  await page.addInitScript('delete globalThis.RTCPeerConnection');
  await page.goto(shop.url);
  await page.getByRole('button', { name: 'Chat with us' }).click();
  await page.getByRole('button', { name: 'Chat', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: /call/i }).count(), 0);
  await page.getByRole('button', { name: 'Chat', exact: true }).click();
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  assert.equal(await page.getByRole('button', { name: /call/i }).count(), 0);
  const invitation = { token: shop.operator.token, body: { audio: 'two_way', video: null } };
  expectStatus(await call(server, `POST /engagements/${engagement}/media_upgrade_requests`, invitation), 201);
  await page.getByText('This browser cannot make calls here.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Accept' }).count(), 0);
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByText('This browser cannot make calls here.').waitFor({ state: 'detached' });
});

test('ending the chat is confirmed, and a draft does not come back in the next conversation', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('never sent');
  await page.getByRole('button', { name: 'End chat' }).click();
  await page.getByText('End this chat?').waitFor();
  await page.getByRole('button', { name: 'Keep chatting' }).click();
  await page.getByText('End this chat?').waitFor({ state: 'detached' });
  assert.notEqual(await focused(page), '');
  await page.getByText('You ended the conversation.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'End chat' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'End chat' }).click();
  await page.getByText('You ended the conversation.').waitFor();
  await page.getByRole('button', { name: 'Start again' }).click();
  await page.getByRole('button', { name: 'Chat', exact: true }).click();
  await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  assert.equal(await page.getByLabel('Message', { exact: true }).inputValue(), '');
});

test('pages that let in only what agrees to it may load the widget', async () => {
  const response = await fetch(`${server.url}/widget.js`);
  assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin');
  await response.body?.cancel();
});
