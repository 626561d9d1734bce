import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { comesTrue, openBrowser, type TestPage } from '../support/browser/browser.ts';
import { barriersOf, looks, openConsole } from '../support/browser/console.ts';
import { say, type Engaged } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makePolicy,
  makeAvailableOperator,
  makeQueue,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

const hostile = '<img src=x onerror=alert(1)> مرحبا بالعالم 🦊 ' + 'long '.repeat(30);

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface BoardAccount {
  readonly own: TestAccount;
  readonly queues: Readonly<Record<'sales' | 'night' | 'closed' | 'small', string>>;
  readonly operator: TestOperator;
  readonly chat: Engaged;
}

async function rename(own: TestAccount, operator: string, name: string): Promise<void> {
  expectStatus(await call(server, `PATCH /operators/${operator}`, { token: own.admin, body: { name } }), 200);
}

/** A waiting visitor with a name. */
async function wait(own: TestAccount, queue: string, name: string): Promise<{ id: string; visitor: Json }> {
  const made = await call(server, 'POST /visitors', { token: own.admin, body: { site_id: own.siteId, name } });
  const { id, access_token: token } = expectStatus(made, 200).body;
  return enqueue(server, own, queue, { id, token });
}

/** Queues in every state, with an engaged and a waiting visitor. */
async function open(): Promise<BoardAccount> {
  const own = await makeAccount(server);
  const night = await makeQueue(server, own, { name: 'Night desk', when_unstaffed: 'accept' });
  // Hours that open for one hour in three days.
  const later = days[(new Date().getUTCDay() + 3) % 7] ?? 'mon';
  const hours = [{ opens_at: '09:00', closes_at: '10:00', days_of_week: [later] }];
  const never = await makePolicy(server, own, { timezone: 'UTC', business_hours: hours });
  const closed = await makeQueue(server, own, {
    name: 'Claims',
    scheduling_policy_id: never,
    fallback_queue_id: night,
  });
  const small = await makeQueue(server, own, {
    name: hostile.slice(0, 200),
    capacity_policy: { type: 'fixed', capacity: 1 },
    when_unstaffed: 'accept',
    fallback_queue_id: closed,
    routing_policy: { media: ['text'] },
  });
  const sales = await makeQueue(server, own, { name: 'Sales' });
  const operator = await makeAvailableOperator(server, own, { media: ['text'] });
  await rename(own, operator.id, 'Olga Operator');
  const { visitor } = await wait(own, sales, 'Vera Visitor');
  const id = await acceptOffer(server, operator);
  await wait(own, sales, 'Walter Waiting');
  return {
    own,
    queues: { sales, night, closed, small },
    operator,
    chat: { server, own, operator, visitor, id, queue: sales },
  };
}

const patienceMs = 30_000;

/** Waiting, staff and capacity. The wait times are left out, because they run. */
async function cellsOf(found: Locator): Promise<string[]> {
  const texts = await found.getByRole('cell').allInnerTexts();
  return [texts[1], texts[4], texts[5]].map((text = '') => text.replaceAll(/\s+/g, ' ').trim());
}

/** Nothing overflows the page. */
const narrow = 'document.documentElement.scrollWidth <= innerWidth';

interface Axis {
  readonly texts: string[];
  /** Whether the box of a tick overlaps the next one. */
  readonly overlaps: boolean;
}

/** The ticks of every axis on the page. */
async function ticksOf(page: Page): Promise<Axis[]> {
  return page.evaluate(`[...document.querySelectorAll('.recharts-cartesian-axis-tick-labels')].map((axis) => {
    const ticks = [...axis.querySelectorAll('.recharts-cartesian-axis-tick-value')];
    const boxes = ticks.map((tick) => tick.getBoundingClientRect());
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return {
      texts: ticks.map((tick) => tick.textContent.replaceAll(/\\s/g, ' ')),
      overlaps: boxes.some((box, index) => index > 0 && over(box, boxes[index - 1])),
    };
  })`);
}

/** Every tick is unique, and no ticks overlap. */
function isReadable(axes: readonly Axis[]): boolean {
  return axes.length === 8 && axes.every(({ texts, overlaps }) => texts.length > 1 && !overlaps && new Set(texts).size === texts.length); // prettier-ignore
}

const row = (page: Page, table: string, name: string) =>
  page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name });

const openBoard = async (own: TestAccount, options: BrowserContextOptions = {}, path = '/board'): Promise<TestPage> => {
  const opened = await openConsole({ browser, server, key: own.key, path, options });
  opened.page.setDefaultTimeout(patienceMs);
  return opened;
};

test('the board shows status and reason of queues and the people, live without a reload', async () => {
  const { own, queues, operator } = await open();
  const { page, complaints } = await openBoard(own);
  const sales = row(page, 'Queues', 'Sales');
  await sales.getByText('All operators busy').waitFor();
  assert.deepEqual(await cellsOf(sales), ['1', '1 all busy', '1 / 10']);
  const claims = row(page, 'Queues', 'Outside opening hours');
  assert.match(await claims.innerText(), /Closed\s+Outside opening hours[\s\S]*overflows to Night desk/);
  // The fallback chain of the small queue leads over Claims to the night desk.
  assert.match(await row(page, 'Queues', '<img').innerText(), /falls back to[\s\S]*Claims[\s\S]*Night desk/);
  await row(page, 'Waiting visitors', 'Walter Waiting').getByText('Chat · Sales').waitFor();

  const third = await wait(own, queues.sales, 'Tina Third');
  await row(page, 'Waiting visitors', 'Tina Third').getByRole('cell').first().getByText('2').waitFor();
  await sales.getByText('2 / 10').waitFor();
  await wait(own, queues.small, 'Sam Small');
  await row(page, 'Queues', '<img').getByText('At capacity').waitFor();
  const cancel = { token: own.admin, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${third.id}`, cancel), 200);
  await row(page, 'Waiting visitors', 'Tina Third').waitFor({ state: 'detached' });
  await makeQueue(server, own, { name: 'Made meanwhile' });
  await row(page, 'Queues', 'Made meanwhile').waitFor();
  const renamed = { name: 'Renamed', capacity_policy: { type: 'fixed', capacity: 3 }, routing_policy: {} };
  expectStatus(await call(server, `PUT /queues/${queues.night}`, { token: own.admin, body: renamed }), 200);
  await claims.getByText('Renamed', { exact: true }).waitFor();

  await page.getByRole('tab', { name: 'Operators' }).click();
  await row(page, 'Operators', 'Olga Operator').getByText('Busy 1 of 1').waitFor();
  await page.getByRole('button', { name: 'Set Olga Operator away' }).click();
  await row(page, 'Operators', 'Olga Operator').getByText('Away, 1 conversation').waitFor();
  await sales.getByText('No operators online').first().waitFor();
  const { body } = await call(server, `GET /operators/${operator.id}`, { token: own.admin });
  assert.deepEqual([body.available, body.media], [false, ['text']]);
  await page.getByRole('button', { name: 'Set Olga Operator available' }).press('Enter');
  await row(page, 'Operators', 'Olga Operator').getByText('Busy 1 of 1').waitFor();
  assert.deepEqual(complaints, []);
});

test('a queue is chosen by keyboard and stays chosen after a reload, and a waiting visitor is removed', async () => {
  const { own, queues } = await open();
  await wait(own, queues.small, 'Sam Small');
  const { page, complaints } = await openBoard(own);
  await row(page, 'Waiting visitors', 'Sam Small').waitFor();
  await row(page, 'Queues', 'Sales').getByRole('button', { name: 'Sales' }).press('Enter');
  await row(page, 'Waiting visitors', 'Sam Small').waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('button', { name: 'Showing Sales only. Show all queues' }).waitFor();
  await row(page, 'Waiting visitors', 'Walter Waiting').waitFor();
  assert.equal(await row(page, 'Waiting visitors', 'Sam Small').count(), 0);
  // The button asks for confirmation, and Escape cancels it.
  await page.getByRole('button', { name: 'Remove Walter Waiting' }).press('Enter');
  await page.getByRole('button', { name: 'Remove Walter Waiting from queue?' }).press('Escape');
  await page.getByRole('button', { name: 'Remove Walter Waiting' }).press('Enter');
  await page.getByRole('button', { name: 'Remove Walter Waiting from queue?' }).press('Enter');
  await page.getByText('No one is waiting in this queue').waitFor();
  await page.getByRole('button', { name: 'Show all queues', exact: true }).click();
  await row(page, 'Waiting visitors', 'Sam Small').waitFor();
  await page.getByRole('link', { name: 'Open queue Sales' }).click();
  await page.waitForURL(`**/console/queues/${queues.sales}`);
  assert.deepEqual(complaints, []);
});

test('a supervisor reads a chat while it is active', proof, async () => {
  const { own, chat, operator } = await open();
  expectStatus(await say(chat, chat.visitor, 'Hello there'), 200);
  const { page, complaints } = await openBoard(own);
  await page.getByRole('tab', { name: 'Conversations' }).click();
  await page.getByRole('button', { name: 'View conversation of Vera Visitor with Olga Operator' }).click();
  const messages = page.getByRole('log', { name: 'Messages' });
  await messages.getByText('Hello there').waitFor();
  expectStatus(await say(chat, operator, hostile), 200);
  await messages.getByText('<img src=x onerror=alert(1)>').waitFor();
  assert.equal(await messages.locator('img').count(), 0);
  assert.deepEqual(await barriersOf(page), []);
  await page.keyboard.press('Escape');
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${chat.id}`, { token: operator.token, body }), 200);
  await page.getByText('No active conversations').waitFor();
  assert.deepEqual(complaints, []);
});

test('changes during a lost connection are shown after the reconnect', async () => {
  const { own, queues } = await open();
  const { page, context, complaints } = await openBoard(own);
  await row(page, 'Waiting visitors', 'Walter Waiting').waitFor();
  await context.setOffline(true);
  server.app.server.closeAllConnections();
  await page.getByText('Reconnecting', { exact: true }).waitFor();
  await wait(own, queues.sales, 'Tina Third');
  await context.setOffline(false);
  await row(page, 'Waiting visitors', 'Tina Third').waitFor();
  await row(page, 'Queues', 'Sales').getByText('2 / 10').waitFor();
  assert.deepEqual(complaints, []);
});

test('the day is shown as charts and as a table', async () => {
  const { own, queues, chat } = await open();
  const gone = await wait(own, queues.sales, 'Gone');
  const cancel = { token: own.admin, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${gone.id}`, cancel), 200);
  const { page, complaints } = await openBoard(own, { colorScheme: 'dark' }, '/board/day');
  const figures = page.getByLabel('Totals of the day', { exact: true });
  await figures.getByText('Abandoned').waitFor();
  assert.match((await figures.innerText()).replaceAll(/\s+/g, ' '), /3 Offered 1 Answered 1 Abandoned|Offered 3/);
  await page.locator('.recharts-bar-rectangle path').first().waitFor();
  // Ticks are full hours, counts, percentages and durations only.
  const texts = (await ticksOf(page)).map((axis) => axis.texts);
  assert.equal(texts.length, 8);
  for (const text of texts.flat()) assert.match(text, /^(\d+:00 [AP]M|\d+( %)?|\d+:\d\d)$/);
  await page.getByText('The day as a table').click();
  await page.getByRole('columnheader', { name: 'Still waiting' }).waitFor();
  assert.deepEqual(await barriersOf(page), []);
  await page.setViewportSize({ width: 320, height: 700 });
  // The charts take a moment to render.
  await comesTrue(page, narrow);
  await until(async () => isReadable(await ticksOf(page)));
  await page.getByRole('combobox', { name: 'Queues' }).or(page.getByLabel('Queues')).first().click();
  await page.getByRole('option', { name: 'Night desk' }).click();
  await page.getByText('No visitors on this day').waitFor();
  assert.ok(chat.id);
  assert.deepEqual(complaints, []);
});

for (const { where, ...options } of looks)
  test(`no accessibility violations ${where}`, async () => {
    const { own } = await open();
    const { page, complaints } = await openBoard(own, options);
    await row(page, 'Queues', 'Sales').waitFor();
    assert.ok(await page.evaluate<boolean>(narrow));
    assert.deepEqual(await barriersOf(page), []);
    if (options.viewport.width === 375) await page.getByRole('tab', { name: 'Waiting' }).click();
    await row(page, 'Waiting visitors', 'Walter Waiting').waitFor();
    assert.deepEqual(complaints, []);
  });

test('an account without queues gets a hint, and an operator without managed sites has no board', proof, async () => {
  const own = await makeAccount(server);
  const { page } = await openBoard(own);
  await page.getByRole('link', { name: 'Create a queue' }).waitFor();
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const theirs = await openConsole({ browser, server, key: operator.key, path: '/board' });
  await theirs.page.waitForURL('**/console/desk');
});
