import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { barriersOf, looks, openConsole, tooWideOn } from '../support/browser/console.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { until } from '../support/server.ts';
import { makeAccount, makeOperator, makeAvailableOperator, makeSite, setPresence } from '../support/world.ts';

/** A day in the past, so that nothing depends on the time at which the test runs. */
const day = '2026-06-10';

const { server, account } = await openWorld();
const browser = await forThisFile(openBrowser());

/** An hour of the day in the time zone of the browser, which is that of the machine. */
const at = (hour: number): string => new Date(2026, 5, 10, 0, hour * 60).toISOString();

async function write(operatorId: string, rows: readonly (readonly [from: number, to: number, state: string])[]) {
  const intervals = rows.map(([from, to, state]) => ({
    engaged: state === 'engaged',
    available: state === 'video',
    reason: ['engaged', 'video', 'away'].includes(state) ? null : state,
    started_at: at(from),
    ended_at: at(to),
  }));
  await server.database.sql`
    INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, reason, site_ids, team_ids, started_at, ended_at)
    SELECT o.account_id, o.id, engaged, i.available, '{text,video}', reason, ${[account.siteId]}::uuid[], '{NULL}'::uuid[], started_at, ended_at
      FROM operators o, json_to_recordset(${JSON.stringify(intervals)}::text::json) AS i (
             engaged boolean, available boolean, reason text, started_at timestamptz, ended_at timestamptz)
     WHERE o.id = ${operatorId}`;
}

test('a day has one row per operator with a bar, its text, and the intervals on demand, by keyboard', async (t) => {
  const hostile = '<img src=x onerror="globalThis.pwned=1">';
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const rows = [[8, 9, 'video'], [9, 9.5, 'engaged'], [9.5, 12, 'video'], [12, 13, hostile], [13, 17, 'video'], [30, 31, 'video']] as const; // prettier-ignore
  await write(operator.id, rows);
  for (const { where, ...options } of looks) {
    const { page, context, complaints } = await openConsole({ browser, server, key: account.key, path: `/timeline?day=${day}`, options }); // prettier-ignore
    const row = page.getByRole('row', { name: /Somebody/ });
    await row.waitFor();
    const bar = row.getByRole('img');
    const text = 'In a conversation 30:00, Available 7:30:00, Away 1:00:00';
    assert.equal(await bar.getAttribute('aria-label'), text, where);
    assert.equal((await bar.locator('path[data-kind="available"]').getAttribute('d'))?.split('z').length, 4);
    const button = row.getByRole('button', { name: 'Somebody' });
    await button.focus();
    await page.keyboard.press('Enter');
    const steps = page.getByRole('list', { name: 'Intervals of Somebody' }).getByRole('listitem');
    await steps.first().waitFor();
    assert.equal(await steps.count(), 5);
    assert.match(await steps.nth(3).innerText(), /Away: <img src=x/);
    assert.equal(await page.evaluate('globalThis.pwned'), undefined);
    assert.deepEqual(await barriersOf(page), [], where);
    assert.deepEqual(await tooWideOn(page), [], where);
    if (process.env['SCREENSHOTS'] !== undefined)
      await page.screenshot({ path: `${process.env['SCREENSHOTS']}/timeline-${options.colorScheme}.png` });
    await page.keyboard.press('Enter');
    await steps.first().waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
    await context.close();
  }
  t.diagnostic('a bar, its text and its steps are there');
});

test('days and sites can be chosen, and a day without operators says so', async () => {
  await makeSite(server, account, 'Elsewhere');
  const { page, context, complaints } = await openConsole({ browser, server, key: account.key, path: `/timeline?day=${day}` }); // prettier-ignore
  await page.getByRole('row', { name: /Somebody/ }).waitFor();
  await page.getByRole('button', { name: 'Next day' }).click();
  await page.getByLabel('Day', { exact: true }).and(page.locator('input')).waitFor();
  assert.equal(await page.getByLabel('Day', { exact: true }).inputValue(), '2026-06-11');
  await page.getByRole('button', { name: 'Next day' }).click();
  await page.getByText('No operators were online on this day.').waitFor();
  await page.getByRole('button', { name: 'Previous day' }).click();
  await page.getByRole('row', { name: /Somebody/ }).waitFor();
  await page.getByRole('main').getByRole('combobox', { name: 'Site' }).or(page.getByRole('main').getByLabel('Site')).first().click(); // prettier-ignore
  await page.getByRole('option', { name: 'Elsewhere' }).click();
  await page.getByText('No operators of this site were online on this day.').waitFor();
  await page.getByRole('button', { name: 'Show all sites' }).click();
  await page.getByRole('row', { name: /Somebody/ }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

test("today's timeline is updated while the page is open", async () => {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own);
  const { page, context } = await openConsole({ browser, server, key: own.key, path: '/timeline' });
  const bar = page.getByRole('row', { name: /Somebody/ }).getByRole('img');
  await bar.waitFor();
  const width = async (): Promise<string | null> => bar.locator('path[data-kind="available"]').getAttribute('d');
  const first = await width();
  await until(async () => (await width()) !== first);
  await setPresence(server, operator, { available: false, reason: 'Lunch' });
  await page.getByRole('img', { name: /Away/ }).waitFor();
  await context.close();
});
