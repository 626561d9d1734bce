import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { openBrowser } from '../support/browser/browser.ts';
import { barriersOf, differenceOf, openConsole, openPath } from '../support/browser/console.ts';
import { openDesk, acceptVisitor } from '../support/browser/desk.ts';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer, until, type Json } from '../support/server.ts';
import { askToTalk, openShop, say, takeVisitor, visit } from '../support/browser/widget.ts';
import { makeAccount, makePolicy } from '../support/world.ts';

/** In forced colours the browser uses a few colours of the user, so shades alone convey nothing. */
const forced = { forcedColors: 'active', viewport: { width: 1_280, height: 1_600 } } as const;

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

/** The share of the element that looks different after an action. Pointer and focus are elsewhere both times. */
async function changeOf(element: Locator, act: () => Promise<void>): Promise<number> {
  const page = element.page();
  const draw = async (): Promise<Buffer> => {
    await page.mouse.move(640, 0);
    await page.evaluate('document.activeElement?.blur()');
    return element.screenshot();
  };
  const one = await draw();
  await act();
  return differenceOf(page.context(), one, await draw());
}

test('in forced colours every choice shows whether it is selected', async () => {
  const own = await makeAccount(server);
  const hours = await makePolicy(server, own);
  const { page, complaints } = await openConsole({
    browser,
    server,
    key: own.key,
    path: '/queues/new',
    options: forced,
  });
  const shares: Record<string, number> = {};
  const box = page.getByRole('checkbox', { name: 'Text' });
  shares['checkbox'] = await changeOf(box, async () => box.check());
  const staff = page.locator('.mantine-SegmentedControl-label').nth(1);
  shares['segment'] = await changeOf(staff, async () => staff.click());
  const available = page.locator('.mantine-Switch-track').first();
  shares['switch'] = await changeOf(available, async () => {
    await page.getByRole('switch', { name: 'Available' }).click();
    await page.getByRole('switch', { name: 'Available', checked: true }).waitFor();
  });
  await page.getByRole('button', { name: 'Discard' }).click();
  const link = page.getByRole('link', { name: 'Hours', exact: true });
  shares['page'] = await changeOf(link, async () => openPath(page, `/hours/${hours}`));
  // Open on weekdays: ten days of two weeks have hours.
  const days = page.getByTestId('day');
  await until(async () => (await days.count()) >= 14);
  const pictures = await Promise.all((await days.all()).slice(0, 7).map(async (day) => day.screenshot()));
  const [first] = pictures;
  assert.ok(first !== undefined);
  const unlike = await Promise.all(pictures.map(async (each) => differenceOf(page.context(), first, each)));
  shares['day'] = Math.max(...unlike);
  const chip = page.locator('label', { hasText: 'Sat' }).first();
  shares['chip'] = await changeOf(chip, async () => chip.click());
  const tab = page.getByRole('tab').last();
  await page.getByRole('button', { name: 'Discard' }).click();
  await openPath(page, '/board');
  shares['tab'] = await changeOf(tab, async () => tab.click());
  const seen = Object.fromEntries(Object.entries(shares).map(([what, share]) => [what, share > 0.1]));
  const expected = Object.fromEntries(Object.keys(shares).map((what) => [what, true]));
  assert.deepEqual(seen, expected, JSON.stringify(shares));
  assert.deepEqual(complaints, []);
});

test('in forced colours the selected conversation differs from the others', async () => {
  const at = await openDesk({ server, browser }, forced);
  await acceptVisitor(at, 'Ada');
  await acceptVisitor(at, 'Bo');
  const chat = at.page.getByRole('list', { name: 'Conversations' }).getByRole('link', { name: 'Ada' });
  const share = await changeOf(chat, async () => {
    await at.page.keyboard.press('Alt+ArrowUp');
    await at.page.getByRole('heading', { name: 'Ada' }).waitFor();
  });
  assert.ok(share > 0.1, `${share}`);
});

test('in forced colours the widget shows the chosen option of a card, without accessibility violations', async () => {
  await using shop = await openShop(server);
  const { page, complaints } = await visit(browser, shop, forced);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  const options = ['Basic', 'Plus'].map((text) => ({ text, value: text }));
  await say(server, shop, engagement, { content: 'Which plan?', attachment: { type: 'single_choice', options } });
  await page.getByRole('button', { name: 'Plus' }).click();
  await page.getByRole('button', { name: 'Plus', pressed: true }).waitFor();
  const ground = async (name: string): Promise<string> =>
    page
      .getByRole('button', { name })
      .evaluate((element: Json) => element.ownerDocument.defaultView.getComputedStyle(element).backgroundColor);
  assert.notEqual(await ground('Plus'), await ground('Basic'));
  assert.deepEqual(await barriersOf(page), []);
  assert.deepEqual(complaints, []);
});
