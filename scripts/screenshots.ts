import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { openBrowser, type TestBrowser } from '../test/support/browser/browser.ts';
import { openConsole } from '../test/support/browser/console.ts';
import { call, startTestServer, type TestServer } from '../test/support/server.ts';
import { makeAccount, type TestAccount } from '../test/support/world.ts';

/**
 * Rewrites docs/images: every page of the console with sample data, and the widget. Run `npm run screenshots` when a page has
 * changed. It takes a few minutes, because it waits for the sample data to become busy.
 */
const folder = 'docs/images';
const size = { width: 1280, height: 800 };
/** Until the sample data has engagements. */
const settleMs = 60_000;
/** Until a sample visitor is offered to this operator; sample operators take most of them. */
const offerMs = 240_000;
/** For the other side to reply. */
const replyMs = 12_000;
/** For charts and fonts to finish rendering. */
const renderMs = 1_500;

const pages = [
  ['board', '/board'],
  ['queues', '/queues'],
  ['hours', '/hours'],
  ['webhooks', '/webhooks'],
  ['people', '/people'],
  ['sites', '/sites'],
  ['audit', '/audit'],
  ['account', '/account'],
] as const;

const schemes = [
  ['light', ''],
  ['dark', '-dark'],
] as const;

interface Scene {
  readonly browser: TestBrowser;
  readonly server: TestServer;
  readonly account: TestAccount;
}

async function shoot(page: Page, name: string): Promise<void> {
  await pause(renderMs);
  await page.screenshot({ path: `${folder}/${name}.png` });
  console.log(name);
}

/** Opens the first entry of a list. */
async function openFirst(page: Page): Promise<void> {
  await page.getByRole('main').getByRole('row').nth(1).getByRole('link').first().click();
}

/** Goes available, accepts an offer for a sample visitor and chats with them. */
async function shootDesk({ browser, server, account }: Scene): Promise<void> {
  const { page, context } = await openConsole({
    browser,
    server,
    key: account.key,
    path: '/desk',
    options: { viewport: size },
  });
  await page.getByRole('switch', { name: 'Available' }).click();
  await page.getByRole('region', { name: 'Offers' }).getByRole('article').first().waitFor({ timeout: offerMs });
  await page.keyboard.press('Alt+A');
  const composer = page.getByRole('textbox', { name: 'Message', exact: true });
  await composer.fill('Good afternoon! How can I help?');
  await page.keyboard.press('Enter');
  await pause(replyMs);
  await composer.fill('Let me look that up for you');
  for (const [colorScheme, suffix] of schemes) {
    await page.emulateMedia({ colorScheme });
    await shoot(page, `desk${suffix}`);
  }
  await page.getByRole('switch', { name: 'Available' }).click();
  await context.close();
}

async function shootWidget({ browser, server, account }: Scene): Promise<void> {
  const token = account.admin;
  const { body: sample } = await call(server, 'GET /sample_data', { token });
  const made = await call(server, `POST /sites/${sample.site_id}/application_tokens`, {
    token,
    body: { kind: 'publishable' },
  });
  for (const [name, viewport] of [
    ['widget', size],
    ['widget-phone', { width: 390, height: 844 }],
  ] as const) {
    const { page, context } = await browser.newPage({ viewport });
    await page.goto(`${server.url}/demo?site=${sample.site_id}&token=${made.body.token}`);
    await page.getByRole('button', { name: 'Ask us' }).click();
    await page.getByRole('button', { name: 'Chat', exact: true }).click();
    await page.getByText('You are connected.').waitFor({ timeout: offerMs });
    await page.getByLabel('Message', { exact: true }).fill('Hello, is the lamp in stock?');
    await page.keyboard.press('Enter');
    await pause(replyMs);
    await shoot(page, name);
    await context.close();
  }
}

async function shootPages({ browser, server, account }: Scene): Promise<void> {
  for (const [colorScheme, suffix] of schemes) {
    const options = { colorScheme, viewport: size };
    const { page, context } = await openConsole({ browser, server, key: account.key, path: '/board', options });
    for (const [name, path] of pages) {
      await page.goto(`${server.url}/console${path}`);
      await page.getByText('Live', { exact: true }).waitFor();
      await shoot(page, `${name}${suffix}`);
      if (!['queues', 'hours', 'webhooks'].includes(name)) continue;
      await openFirst(page);
      await shoot(page, `${name.replace(/s$/, '')}${suffix}`);
    }
    await context.close();
  }
}

mkdirSync(folder, { recursive: true });
await globalSetup();
try {
  await using server = await startTestServer();
  await using browser = await openBrowser();
  const account = await makeAccount(server);
  await call(server, 'POST /sample_data', { token: account.admin });
  await pause(settleMs);
  const scene = { browser, server, account };
  await shootPages(scene);
  await shootDesk(scene);
  await shootWidget(scene);
} finally {
  await globalTeardown();
}
