import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { Caller } from '../support/browser/caller.ts';
import { findFirefox, openFirefox } from '../support/browser/firefox.ts';
import { proof } from '../support/proof.ts';
import type { RemoteBrowser } from '../support/browser/remote-browser.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { openShop, takeVisitor } from '../support/browser/widget.ts';
import { testWidget } from '../support/browser/widget-suite.ts';
import { makeAccount, makeQueue } from '../support/world.ts';

/** In CI a missing browser fails the run earlier: see scripts/install-test-tools.ts. */
const skip = findFirefox() === null ? 'Firefox is not installed' : false;

describe('the widget in Firefox', { skip }, () => {
  let server: TestServer;
  let browser: RemoteBrowser;
  before(async () => {
    server = await startTestServer();
    browser = await openFirefox();
  });
  after(async () => {
    await browser[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  testWidget(() => ({ server, browser }));

  test('a visitor in Firefox and an operator in Chromium hear each other', proof, async () => {
    await using shop = await openShop(server);
    const page = await browser.newPage();
    await page.goto(shop.url);
    await page.click('Chat with us');
    await page.click('Call');
    const engagementId = await takeVisitor(server, shop);
    await using chromium = await openBrowser();
    const media = { audio: 'two_way', video: null };
    const joinOptions = { token: shop.operator.token, engagementId, side: 'operator', media };
    const desk = new Caller((await chromium.newPage()).page, server.url, joinOptions);
    await desk.open();
    await desk.join();
    await desk.untilState('connected');
    await desk.untilMore('energy');
    await page.untilTrue(`all('audio')[0].srcObject?.getAudioTracks().length === 1 && all('audio')[0].currentTime > 0`);
    await page.click('Hang up');
    await desk.untilState('ended');
  });
});

test(
  'the console works in a Firefox that blocks cookies and storage, until it is reloaded',
  { skip: skip || proof.skip },
  async () => {
    await using server = await startTestServer();
    // This is the setting "Block all cookies". Firefox then also blocks storage and channels between tabs.
    await using browser = await openFirefox({ 'network.cookie.cookieBehavior': 2 });
    const own = await makeAccount(server);
    await makeQueue(server, own, { name: 'Invoices' });
    const page = await browser.newPage();
    await page.goto(`${server.url}/console/desk`);
    await page.untilRead('Your browser blocks cookies');
    assert.equal(await page.evaluate('navigator.cookieEnabled'), false);
    await page.click('API key', 'label');
    await page.click('Key ID *', 'input');
    await page.type(own.key.id);
    await page.click('Key secret *', 'input');
    await page.type(own.key.secret);
    await page.press('Enter');
    await page.untilTrue(`find('section', 'Chats')`);
    await page.goto(`${server.url}/console/`);
    await page.untilRead('Your browser blocks cookies');
  },
);
