import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser/browser.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { askToTalk, openShop, say, takeVisitor, visit, write } from '../support/browser/widget.ts';
import { expectStatus } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

/** A phone, or a desktop at 400 % zoom: the panel fills the screen. */
const small = { viewport: { width: 320, height: 400 } };

/** The name of the focused element inside the widget; '': none. */
async function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const active = document.querySelector('usher-widget')?.shadowRoot?.activeElement;
    return active?.getAttribute('aria-label') ?? active?.textContent ?? '';
  })()`);
}

/** The names of the elements that Tab reaches, until it is back at the first. */
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
  const expected = ['Message', 'Send a file', 'Send', 'Minimize chat', 'Conversation'];
  for (const key of ['Tab', 'Shift+Tab']) {
    const reached = await reachedByTab(page, key);
    for (const name of expected) assert.ok(reached.includes(name), `${key} reaches ${reached.join(', ')}`);
  }
});

test('the focus stays in the panel when its content changes, and Escape closes the panel', async () => {
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

test('a visitor who is typing in the page keeps the focus there when the conversation starts', async () => {
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
    globalThis.events = [];
    for (const type of ['keydown', 'keypress', 'keyup', 'input'])
      document.addEventListener(type, () => globalThis.events.push(type));
  })()`);
  await page.getByLabel('Message', { exact: true }).pressSequentially('abc');
  assert.deepEqual(await page.evaluate('globalThis.events'), []);
});

test('chat works on a page that replaces built-in functions', async () => {
  await using shop = await openShop(server);
  const { page } = await browser.newPage();
  // Some old libraries do this.
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

test('calls are offered only if the browser can make them, and an invitation says why it cannot be accepted', async () => {
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
  await page.getByText("We'd like to call you, but this browser can't make calls here.").waitFor();
  assert.equal(await page.getByRole('button', { name: 'Accept' }).count(), 0);
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByText("We'd like to call you, but this browser can't make calls here.").waitFor({ state: 'detached' });
});

test('ending the chat needs a confirmation, and a draft does not appear in the next conversation', async () => {
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

test('a page with Cross-Origin-Embedder-Policy can load the widget', async () => {
  const response = await fetch(`${server.url}/widget.js`);
  assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin');
  await response.body?.cancel();
});

test('on a page that holds responses back until they are complete, the widget polls', async () => {
  await using shop = await openShop(server);
  const { page, context } = await browser.newPage();
  await context.clock.install();
  // Some monitoring and developer tools wrap fetch like this.
  await page.addInitScript(`{
    const original = fetch;
    globalThis.fetch = async (...args) => {
      const response = await original(...args);
      const bytes = await response.arrayBuffer();
      return new Response(response.status === 204 ? null : bytes, response);
    };
  }`);
  await page.goto(shop.url);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  // After 8 s without the feed, polling starts.
  await context.clock.fastForward(9_000);
  await page.getByText('You are connected.').waitFor();
  await say(server, shop, engagement, 'Good morning');
  await context.clock.fastForward(5_000);
  await page.getByText('Good morning').waitFor();
  assert.equal(await page.getByText('Connection lost').count(), 0);
  await page.getByRole('button', { name: 'Minimize chat' }).click();
  await say(server, shop, engagement, 'Are you there?');
  await context.clock.fastForward(5_000);
  await page.getByText('1 new message').waitFor();
});

test('a page with two tags has one widget, which is not printed and not covered', async () => {
  await using shop = await openShop(server, {
    styles: `html { transform: translateX(0); min-height: 3000px }
      div { position: fixed; inset: 0; z-index: 2147483647; background: white }`,
  });
  const { page } = await browser.newPage();
  const warnings: string[] = [];
  page.on('console', (message) => warnings.push(message.text()));
  await page.goto(shop.url);
  await page.getByRole('button', { name: 'Chat with us' }).waitFor();
  await page.evaluate(`(() => {
    const tag = document.querySelector('script');
    const second = document.createElement('script');
    for (const { name, value } of tag.attributes) second.setAttribute(name, value);
    document.head.append(second);
    document.documentElement.append(document.createElement('div'));
  })()`);
  await until(() => warnings.some((text) => text.includes('more than one script tag')));
  assert.equal(await page.locator('usher-widget').count(), 1);
  const button = page.getByRole('button', { name: 'Chat with us' });
  const box = await button.boundingBox();
  assert.ok(box !== null && box.y > 600 && box.y + box.height <= 800, JSON.stringify(box));
  await button.click();
  await page.getByRole('dialog', { name: 'Chat with us' }).waitFor();
  await page.keyboard.press('Escape');
  await button.waitFor();
  await page.emulateMedia({ media: 'print' });
  await button.waitFor({ state: 'hidden' });
});
