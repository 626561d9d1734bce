import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestPage } from '../support/browser/browser.ts';
import { barriersOf, openConsole } from '../support/browser/console.ts';
import { forThisFile } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import { expectStatus, makeAccount, makePolicy, makeQueue, policyFields, type TestAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

const open = async (account: TestAccount, path: string, options = {}): Promise<TestPage> =>
  openConsole({ browser, server, key: account.key, path, options });

const policyOf = async ({ admin }: TestAccount, id: string): Promise<Json> =>
  expectStatus(await call(server, `GET /queues/scheduling_policies/${id}`, { token: admin }), 200).body;

const policiesOf = async ({ admin, siteId }: TestAccount): Promise<Json[]> =>
  expectStatus(await call(server, `GET /queues/scheduling_policies?site_ids[]=${siteId}`, { token: admin }), 200).body
    .scheduling_policies;

const block = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });
const strip = (page: Page): Locator => page.getByRole('region', { name: 'Next 14 days' });

/** Drags on the grid from one day and hour to another. */
async function drag(page: Page, from: readonly [number, number], to: readonly [number, number]): Promise<void> {
  const ground = page.getByTestId('week-ground');
  await ground.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const box = await ground.boundingBox();
  assert.ok(box !== null);
  const at = ([day, hour]: readonly [number, number]): [number, number] => [
    box.x + ((day + 0.5) / 7) * box.width,
    box.y + (hour / 24) * box.height,
  ];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(to), { steps: 6 });
  await page.mouse.up();
}

test('a week is drawn, moved, resized and cleared by mouse, and the list follows', async () => {
  const account = await makeAccount(server);
  const { page, complaints } = await open(account, '/hours');
  await page.getByText('No hours yet').waitFor();
  await page.getByRole('link', { name: 'New hours' }).click();
  await page.getByLabel('Name').fill('By hand');
  // Draws Saturday, and overnight hours from Sunday to Monday.
  await drag(page, [5, 10], [5, 14]);
  await block(page, 'Sat 10:00–14:00').waitFor();
  await drag(page, [6, 22], [0, 2]);
  await block(page, 'Sun 22:00–02:00 (next day)').waitFor();
  assert.equal(await page.getByLabel('Closes 3').inputValue(), '02:00');
  await page.getByText('closes the next day').waitFor();
  // Moves Friday alone by an hour, and extends Monday at its lower edge.
  await drag(page, [4, 12], [4, 13]);
  await block(page, 'Fri 10:00–18:00').waitFor();
  await drag(page, [0, 16.97], [0, 19]);
  await block(page, 'Mon 09:00–19:00').waitFor();
  // Blocks that touch are merged.
  await drag(page, [5, 14], [5, 16]);
  await block(page, 'Sat 10:00–16:00').waitFor();
  await block(page, 'Tue 09:00–17:00').click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await block(page, 'Tue 09:00–17:00').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'By hand' }).waitFor();
  const [made] = await policiesOf(account);
  const week = ((made ?? {}).business_hours as Json[]).map(
    ({ opens_at, closes_at, days_of_week }) => `${days_of_week.join(' ')} ${opens_at}–${closes_at}`,
  );
  assert.deepEqual(week.toSorted(), [
    'fri 10:00–18:00',
    'mon 09:00–19:00',
    'sat 10:00–16:00',
    'sun 22:00–02:00',
    'wed thu 09:00–17:00',
  ]);
  await page.reload();
  await block(page, 'Sun 22:00–02:00 (next day)').waitFor();
  assert.deepEqual(complaints, []);
});

test('hours are created by keyboard alone: list, blocks, exception and time zone', async () => {
  const account = await makeAccount(server);
  const policy = await makePolicy(server, account);
  const { page, complaints } = await open(account, `/hours/${policy}`);
  await page.getByLabel('Opens 1').focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('1730');
  await page.keyboard.press('Tab');
  await block(page, 'Wed 09:15–17:30').waitFor();
  await page.getByRole('button', { name: 'Add hours', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('group', { name: 'Hours 2' }).getByLabel('Sat').focus();
  await page.keyboard.press('Space');
  await page.getByLabel('Opens 2').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('22');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('3');
  await page.keyboard.press('Tab');
  await block(page, 'Sat 22:00–03:00 (next day)').focus();
  await page.keyboard.press('ArrowRight');
  await block(page, 'Sun 22:00–03:00 (next day)').focus();
  await page.keyboard.press('Shift+ArrowDown');
  await block(page, 'Sun 22:00–03:15 (next day)').waitFor();
  await block(page, 'Fri 09:15–17:30').focus();
  await page.keyboard.press('Delete');
  const zone = page.getByRole('combobox', { name: 'Time zone' });
  await zone.focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('new york');
  await page.getByRole('option', { name: /^America\/New_York/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const day = page.getByRole('region', { name: 'Exceptions' }).getByRole('button', { name: /: regular hours$/ });
  const chosen = (await day.nth(10).getAttribute('aria-label'))?.split(':')[0] ?? '';
  await day.nth(10).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('radio', { name: 'Regular hours' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('list', { name: 'All exceptions' }).getByText('closed all day').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByLabel('Opens that day 1').focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('list', { name: 'All exceptions' }).getByText('09:45–14:00').waitFor();
  await page.getByRole('button', { name: 'Save' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Hours saved').waitFor();
  const saved = await policyOf(account, policy);
  assert.equal(saved.timezone, 'America/New_York');
  assert.deepEqual(saved.business_hours, [
    { opens_at: '09:15', closes_at: '17:30', days_of_week: ['mon', 'tue', 'wed', 'thu'] },
    { opens_at: '22:00', closes_at: '03:15', days_of_week: ['sun'] },
  ]);
  assert.equal(saved.exceptions.length, 1);
  assert.deepEqual([saved.exceptions[0].opens_at, saved.exceptions[0].closes_at], ['09:45', '14:00']);
  assert.equal(new Date(chosen).getDate(), Number(saved.exceptions[0].date.slice(8)));
  assert.deepEqual(complaints, []);
});

test('the preview shows the real days of a draft, such as 25 hours in Tallinn, and the current state', async () => {
  const account = await makeAccount(server);
  const policy = await makePolicy(server, account, {
    business_hours: [{ opens_at: '00:00', closes_at: '05:00', days_of_week: ['sun'] }],
  });
  const { page, complaints } = await open(account, `/hours/${policy}`);
  await strip(page)
    .getByText(/^(Open|Closed) now$/)
    .waitFor();
  await strip(page)
    // The browser is in another time zone, so the zone is named.
    .getByText(/^(opens|closes) .+ \(Europe\/Tallinn\), in \d+ (d|h|min)/)
    .waitFor();
  // The next two DST changes: one of them repeats an hour.
  const back = strip(page).getByText('DST change: clocks go back 1 h at 04:00, so 03:00–04:00 occurs twice', {
    exact: true,
  });
  const forward = strip(page).getByText('DST change: clocks go forward 1 h at 03:00, so 03:00–04:00 is skipped', {
    exact: true,
  });
  const viewButton = strip(page).getByRole('button', { name: 'View DST change' });
  for (const expected of [back.or(forward), back.or(forward)]) {
    await viewButton.click();
    await expected.waitFor();
    if (await back.isVisible()) break;
    while (!(await viewButton.isVisible())) {
      const before = await strip(page).getByRole('term').first().innerText();
      await strip(page).getByRole('button', { name: 'Later' }).click();
      await strip(page).getByRole('term').first().filter({ hasNotText: before }).waitFor();
    }
  }
  await back.waitFor();
  await strip(page)
    .getByText(/: open 00:00–05:00; 25 hours\. DST change: clocks go back 1 h at 04:00/)
    .waitFor();
  const widths = await strip(page)
    .getByTestId('day')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().width));
  const longest = Math.max(...widths);
  assert.equal(widths.filter((width) => Math.abs(width - longest) < 0.5).length, 1);
  assert.equal(widths.filter((width) => Math.abs(width - (longest * 24) / 25) < 0.5).length, 13);
  // An unsaved change is shown in the preview immediately.
  await page.getByLabel('Closes 1').fill('04:00');
  await strip(page)
    .getByText(/: open 00:00–04:00; 25 hours/)
    .waitFor();
  assert.equal((await policyOf(account, policy)).business_hours[0].closes_at, '05:00');
  assert.deepEqual(complaints, []);
});

test('holidays of an iCalendar file are previewed, and added to the exceptions as closed days', async () => {
  const account = await makeAccount(server);
  const [kept = '', off = '', bridge = ''] = [30, 31, 32].map((days) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
  );
  const times = { opens_at: '10:00', closes_at: '12:00' };
  const id = await makePolicy(server, account, { exceptions: [{ date: kept, ...times }] });
  const { page, complaints } = await open(account, `/hours/${id}`);
  const events = [
    ['Epiphany', kept, ''],
    ['Day <b>off</b>', off, ''],
    ['Bridge day', bridge, ''],
    ['Every month', bridge, 'RRULE:FREQ=MONTHLY\n'],
  ].map(
    ([name, date = '', rule]) =>
      `BEGIN:VEVENT\nSUMMARY:${name}\nDTSTART;VALUE=DATE:${date.replaceAll('-', '')}\n${rule}END:VEVENT\n`,
  );
  const choose = async (content: string): Promise<void> =>
    page
      .getByLabel('iCalendar file')
      .setInputFiles({ name: 'holidays.ics', mimeType: 'text/calendar', buffer: Buffer.from(content) });
  await choose('<html>');
  await page.getByRole('alert').filter({ hasText: 'it must begin with BEGIN:VCALENDAR' }).waitFor();

  await choose(`BEGIN:VCALENDAR\n${events.join('')}END:VCALENDAR\n`);
  const dialog = page.getByRole('dialog', { name: 'Import holidays' });
  assert.equal(await dialog.getByRole('checkbox', { name: /Epiphany/ }).isDisabled(), true);
  await dialog.getByText('Already an exception: 10:00–12:00').waitFor();
  await dialog.getByText('Every month: repeats MONTHLY').waitFor();
  await dialog.getByRole('checkbox', { name: /Bridge day/ }).uncheck();
  assert.deepEqual(await barriersOf(page), []);
  await dialog.getByRole('button', { name: 'Add 1 closed day' }).click();
  await dialog.waitFor({ state: 'hidden' });
  // Nothing is stored until the hours are saved.
  assert.equal((await policyOf(account, id)).exceptions.length, 1);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Hours saved').waitFor();
  assert.deepEqual((await policyOf(account, id)).exceptions, [{ date: kept, ...times }, { date: off }]);
  assert.deepEqual(complaints, []);
});

test('invalid hours are marked at their field with the error of the server', proof, async () => {
  const account = await makeAccount(server);
  const policy = await makePolicy(server, account);
  const { page, complaints } = await open(account, `/hours/${policy}`);
  await page.getByLabel('Closes 1').fill('09:00');
  await page
    .getByRole('group', { name: 'Hours 1' })
    .getByText('must not equal opens_at, unless both are 00:00: the whole day')
    .waitFor();
  await strip(page).getByText('Fix the errors to see a preview.').waitFor();
  await page.getByLabel('Closes 1').fill('18:00');
  await strip(page).getByText('Fix the errors to see a preview.').waitFor({ state: 'detached' });
  const zone = page.getByRole('combobox', { name: 'Time zone' });
  await zone.fill('Mars/Olympus');
  await page.getByRole('option', { name: 'Use “Mars/Olympus”' }).click();
  await page.getByText('must be the name of an IANA time zone, such as Europe/Tallinn').waitFor();
  await zone.fill('us/eastern');
  await page.getByRole('option', { name: 'Use “us/eastern”' }).click();
  await strip(page).getByText('Fix the errors to see a preview.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Hours saved').waitFor();
  assert.equal((await policyOf(account, policy)).timezone, 'US/Eastern');
  assert.deepEqual(complaints, []);
});

test('hours in use are not deleted, and the queues that use them are listed', proof, async () => {
  const account = await makeAccount(server);
  const policy = await makePolicy(server, account, { name: 'Kept' });
  const queue = await makeQueue(server, account, { name: 'Keeper', scheduling_policy_id: policy });
  const { page, complaints } = await open(account, `/hours/${policy}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('link', { name: 'Keeper' }).waitFor();
  expectStatus(await call(server, `DELETE /queues/${queue}`, { token: account.admin }), 204);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No hours yet').waitFor();
  assert.deepEqual(await policiesOf(account), []);
  assert.deepEqual(complaints, []);
});

test('when two people edit the same hours, the second chooses field by field', proof, async () => {
  const account = await makeAccount(server);
  const policy = await makePolicy(server, account);
  const { page, complaints } = await open(account, `/hours/${policy}`);
  await page.getByLabel('Name').fill('Mine');
  const theirs = {
    ...policyFields,
    business_hours: [{ opens_at: '08:00', closes_at: '12:00', days_of_week: ['sun'] }],
  };
  const path = `PUT /queues/scheduling_policies/${policy}`;
  expectStatus(await call(server, path, { token: account.admin, body: theirs }), 200);
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Theirs: Sun 08:00–12:00').waitFor();
  await dialog.getByText('Mine: Mon–Fri 09:00–17:00').waitFor();
  assert.deepEqual(await barriersOf(page), []);
  await dialog.getByRole('button', { name: 'Save choices' }).click();
  await dialog.waitFor({ state: 'detached' });
  const saved = await policyOf(account, policy);
  assert.deepEqual([saved.name, saved.business_hours], ['Mine', theirs.business_hours]);
  assert.deepEqual(complaints, []);
});

test('hostile text is shown as text on all screens and colour schemes, without accessibility violations', async () => {
  const account = await makeAccount(server);
  const name = `<img src=x onerror=alert(1)> ‮שלום 👩‍👩‍👧 ${'long'.repeat(50)}`.slice(0, 255);
  await makePolicy(server, account, {
    name,
    description: name,
    business_hours: [
      ...policyFields.business_hours,
      { opens_at: '20:00', closes_at: '02:00', days_of_week: ['fri', 'sun'] },
    ],
    exceptions: [{ date: '2026-12-24' }, { date: '2026-12-31', opens_at: '10:00', closes_at: '14:00' }],
  });
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 320],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page, context, complaints } = await open(account, '/hours', { colorScheme, viewport });
    await page.getByRole('link', { name: '<img src=x' }).waitFor();
    const check = async (what: string): Promise<void> => {
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wide <= 0, `${what} is ${wide} px too wide`);
      assert.deepEqual(await barriersOf(page), []);
    };
    await check('the list');
    await page.getByRole('link', { name: '<img src=x' }).click();
    await strip(page)
      .getByText(/^(Open|Closed) now$/)
      .waitFor();
    await check('the editor');
    assert.equal(await page.locator('img[src=x]').count(), 0);
    assert.deepEqual(complaints, []);
    await context.close();
  }
});
