import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser/browser.ts';
import { barriersOf } from '../support/browser/console.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { askToTalk, openShop, say, takeVisitor, visit, write } from '../support/browser/widget.ts';
import { expectStatus, makeApplicationToken, setPresence } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());
// Open pages use processor time, most of all those with a call.
afterEach(async () => {
  for (const context of browser.browser.contexts()) await context.close();
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`the widget is accessible on a phone and by keyboard, ${colorScheme}`, async () => {
    await using shop = await openShop(server, { queueFields: { when_unstaffed: 'accept', welcome_message: 'Hello' } });
    await setPresence(server, shop.operator, { available: false });
    const { page, complaints } = await visit(browser, shop, {
      colorScheme,
      viewport: { width: 375, height: 667 },
      hasTouch: true,
      isMobile: true,
      reducedMotion: 'reduce',
    });
    const assertAccessible = async (): Promise<void> => {
      assert.deepEqual(await barriersOf(page), []);
      assert.ok(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'));
    };
    const button = page.getByRole('button', { name: 'Chat with us' });
    await button.waitFor();
    await assertAccessible();
    await button.focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('dialog', { name: 'Chat with us' });
    await until(async () => {
      const box = await panel.boundingBox();
      return box?.x === 0 && box.y === 0 && box.width === 375 && box.height === 667;
    });
    assert.equal(await panel.getAttribute('aria-modal'), 'true');
    await assertAccessible();
    await page.keyboard.press('Escape');
    await button.waitFor();
    assert.ok(await button.evaluate((element) => element.matches(':focus')));
    await page.keyboard.press('Enter');
    // Tab stays in the panel, which fills the screen.
    for (let count = 0; count < 12; count += 1) {
      await page.keyboard.press('Tab');
      assert.ok(await panel.evaluate((element) => element.matches(':focus-within')));
    }
    await page.getByLabel('Your name').fill('اسم طويل '.repeat(20));
    await page.getByRole('button', { name: 'Chat', exact: true }).press('Enter');
    await page.getByText('You are first in line').waitFor();
    await assertAccessible();
    await setPresence(server, shop.operator);
    const engagement = await takeVisitor(server, shop);
    await page.getByText('Hello').waitFor();
    await say(server, shop, engagement, `${'long'.repeat(100)} مرحبا https://example.com/a?b=1.`);
    await page.getByRole('link', { name: 'https://example.com/a?b=1' }).waitFor();
    await write(page, '🙂 fine');
    await page.getByText('🙂 fine').waitFor();
    await assertAccessible();
    const field = page.getByLabel('Message', { exact: true });
    // Phones zoom into fields with a smaller font.
    assert.equal(
      await field.evaluate((element: Json) => element.ownerDocument.defaultView.getComputedStyle(element).fontSize),
      '16px',
    );
    assert.deepEqual(complaints, []);
  });

test('the demo page asks for a site and a token, and shows the widget', async () => {
  await using shop = await openShop(server);
  const token = (await makeApplicationToken(server, shop.own, 'publishable')).header.replace('ApplicationToken ', '');
  const { page, complaints } = await browser.newPage({ colorScheme: 'dark', viewport: { width: 375, height: 667 } });
  await page.goto(`${server.url}/demo`);
  assert.deepEqual(await barriersOf(page), []);
  await page.getByLabel('Site id').fill(shop.own.siteId);
  await page.getByLabel('Publishable token').fill(token);
  await page.getByRole('button', { name: 'Show the widget' }).click();
  await page.getByRole('button', { name: 'Ask us' }).click();
  await page.getByRole('button', { name: 'Chat', exact: true }).click();
  await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  assert.deepEqual(await barriersOf(page), []);
  assert.ok(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'));
  assert.deepEqual(complaints, []);
});

test('the demo page loads nothing from other servers, and hostile text in its URL stays text', async () => {
  const answer = await fetch(`${server.url}/demo`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  for (const path of ['/demo/index.html', '/demo/none.js', '/demo/..%2fwidget.js', '/demo/../widget.js.gz'])
    assert.equal((await fetch(`${server.url}${path}`)).status, 404, path);
  const { page, complaints } = await browser.newPage();
  const hostile = '"><img src=x onerror=alert(1)>';
  await page.goto(`${server.url}/demo?site=${encodeURIComponent(hostile)}&token=${encodeURIComponent(hostile)}`);
  await page.getByText('onerror=alert(1)').waitFor();
  assert.equal(await page.locator('img[src=x]').count(), 0);
  assert.deepEqual(complaints, []);
});

test('axe finds errors inside the shadow root of the widget', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop);
  const button = page.getByRole('button', { name: 'Chat with us' });
  await button.waitFor();
  await button.evaluate((element: Json) => {
    element.replaceChildren();
  });
  assert.match((await barriersOf(page)).join(), /button-name/);
});

/** The texts in live regions other than the log. Read from the accessibility tree, which leaves out hidden regions. */
async function announced(page: Page): Promise<string[]> {
  const devtools = await page.context().newCDPSession(page);
  const { nodes } = await devtools.send('Accessibility.getFullAXTree');
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const textOf = ({ role, name, childIds = [] }: (typeof nodes)[number]): string =>
    role?.value === 'StaticText'
      ? String(name?.value)
      : childIds
          .map((id) => byId.get(id))
          .flatMap((child) => (child === undefined ? [] : textOf(child)))
          .join('');
  const isPolite = ({ properties = [] }: (typeof nodes)[number]): boolean =>
    properties.some(({ name, value }) => name === 'live' && value.value === 'polite');
  return nodes
    .filter((node) => isPolite(node) && node.role?.value !== 'log')
    .flatMap(({ childIds = [] }) => childIds.flatMap((id) => byId.get(id) ?? []))
    .map((node) => textOf(node))
    .filter((text) => text !== '');
}

test('screen readers announce everything once, also while the panel is closed', async () => {
  await using shop = await openShop(server, { queueFields: { welcome_message: 'Welcome' } });
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('Welcome').waitFor();
  assert.deepEqual(await announced(page), ['We have joined the chat.']);
  await write(page, 'Hello');
  const own = page.getByRole('log').locator('[aria-live=off]');
  await own.getByText('· Sent').waitFor();
  assert.match(await own.innerText(), /Hello/);
  assert.equal(
    await page.getByRole('log').getAttribute('aria-live'),
    null,
    "the log announces the operator's messages",
  );
  assert.deepEqual((await page.getByRole('dialog').ariaSnapshot()).match(/button "[^"]*file[^"]*"/gi), [
    'button "Send a file"',
  ]);

  await page.getByRole('button', { name: 'Minimize chat' }).click();
  await say(server, shop, engagement, 'Are you there?');
  await page.getByText('1 new message').waitFor();
  const { token } = shop.operator;
  const media = { token, body: { audio: 'two_way', video: null } };
  expectStatus(await call(server, `POST /engagements/${engagement}/media_upgrade_requests`, media), 201);
  await until(async () => (await announced(page)).includes('You are invited to a call.'));
  const end = { token, body: { action: 'end' } };
  expectStatus(await call(server, `PATCH /engagements/${engagement}`, end), 200);
  await until(async () => (await announced(page)).includes('The chat has ended.'));
  assert.deepEqual(await announced(page), [
    'We have joined the chat.',
    'New message: Are you there?',
    'You are invited to a call.',
    'The chat has ended.',
  ]);
});
