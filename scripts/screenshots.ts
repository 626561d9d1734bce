import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { openBrowser } from '../test/support/browser.ts';
import { openConsole } from '../test/support/console.ts';
import { call, startTestServer } from '../test/support/server.ts';
import { makeAccount } from '../test/support/world.ts';

/**
 * Writes docs/images anew: every page of the console as it looks with sample data, and the widget. Run it by hand with
 * `npm run screenshots` when a page has changed; it takes two minutes, most of which it waits for something to happen.
 */
const folder = 'docs/images';
const size = { width: 1280, height: 800 };
/** Until the sample's people have met. */
const settleMs = 60_000;
/** For charts and fonts to come to rest. */
const restMs = 1_500;

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

async function shoot(page: Page, name: string): Promise<void> {
  await pause(restMs);
  await page.screenshot({ path: `${folder}/${name}.png` });
  console.log(name);
}

/** The first entry of a list, opened. */
async function openFirst(page: Page): Promise<void> {
  await page.getByRole('main').getByRole('row').nth(1).getByRole('link').first().click();
}

mkdirSync(folder, { recursive: true });
await globalSetup();
try {
  await using server = await startTestServer();
  await using browser = await openBrowser();
  const account = await makeAccount(server);
  await call(server, 'POST /sample_data', { token: account.admin });
  await pause(settleMs);
  for (const colorScheme of ['light', 'dark'] as const) {
    const suffix = colorScheme === 'light' ? '' : '-dark';
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
} finally {
  await globalTeardown();
}
