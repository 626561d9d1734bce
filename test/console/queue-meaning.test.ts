import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser/browser.ts';
import { openConsole } from '../support/browser/console.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer } from '../support/server.ts';
import {
  acceptOffer,
  requestTicket,
  enqueue,
  expectStatus,
  makeAccount,
  makePolicy,
  makeAvailableOperator,
  makeQueue,
  type TestAccount,
} from '../support/world.ts';

/** Open, closed and waiting mean the same on the list, in the editor, on the board and in its totals. */
const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

/** What each page shows of a queue: its status, the reason, the waiting visitors, and where it overflows to. */
const expected: Readonly<Record<string, string>> = {
  'Back office': 'Open, 1 waiting',
  'Closed line': 'Closed, Outside opening hours',
  'Full line': 'Full, At capacity, 1 waiting',
  'Late line': 'Open, No operators online; visitors can still join, 1 waiting',
  'Night desk': 'Open',
  'Overflowing line': 'Closed, Outside opening hours, overflows to Night desk',
  Sales: 'Open, 1 waiting',
  'Unstaffed line': 'Unstaffed, No operators online',
};

async function makeAccountWithQueues(): Promise<TestAccount> {
  const own = await makeAccount(server);
  // An unanswered offer must outlast the test.
  const site = { token: own.admin, body: { reactive_call_timeout: 3_600 } };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, site), 200);
  const later = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][(new Date().getUTCDay() + 3) % 7] ?? 'mon';
  const hours = [{ opens_at: '09:00', closes_at: '10:00', days_of_week: [later] }];
  const never = await makePolicy(server, own, { timezone: 'UTC', business_hours: hours });
  const make = async (name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> =>
    makeQueue(server, own, { name, ...fields });
  // Operators here accept text only, so a queue for video has no operators online.
  const video = { routing_policy: { media: ['video'] } };
  const night = await make('Night desk');
  const sales = await make('Sales');
  const office = await make('Back office');
  await make('Closed line', { scheduling_policy_id: never });
  await make('Overflowing line', { scheduling_policy_id: never, fallback_queue_id: night });
  await make('Unstaffed line', video);
  const late = await make('Late line', { ...video, when_unstaffed: 'accept' });
  const small = { ...video, when_unstaffed: 'accept', capacity_policy: { type: 'fixed', capacity: 1 } };
  const full = await make('Full line', small);
  for (const queue of [late, full])
    expectStatus(await requestTicket(server, own, { queue_ids: [queue], media: 'video' }), 201);
  // One operator is in a conversation and transfers the visitor to the back office; the other one has an offer.
  const talking = await makeAvailableOperator(server, own, { media: ['text'] });
  await enqueue(server, own, sales);
  const engagement_id = await acceptOffer(server, talking);
  await makeAvailableOperator(server, own, { media: ['text'] });
  await enqueue(server, own, sales);
  const transfer = { engagement_id, queue_id: office, media: 'text' };
  expectStatus(await call(server, 'POST /transfer_tickets', { token: talking.token, body: transfer }), 201);
  return own;
}

/** The badge and the text below it, in the list and in the editor. */
const joinTexts = (badge: string, text: string): string =>
  [badge, ...text.split(' · ').filter((part) => part !== 'Empty')].join(', ');

async function onList(page: Page): Promise<Record<string, string>> {
  const descriptions: Record<string, string> = {};
  for (const name of Object.keys(expected)) {
    const cells = await page.getByRole('row').filter({ hasText: name }).first().getByRole('cell').allInnerTexts();
    const [badge = '', text = ''] = (cells[1] ?? '').split(/\n+/);
    descriptions[name] = joinTexts(badge.trim(), text.trim());
    assert.equal(/(\d+) waiting/.exec(text)?.[1] ?? '0', cells[2]?.split(' / ')[0], `the column of ${name}`);
  }
  return descriptions;
}

async function onBoard(page: Page): Promise<Record<string, string>> {
  const descriptions: Record<string, string> = {};
  for (const name of Object.keys(expected)) {
    const found = page.locator('[role=row]', { has: page.getByRole('button', { name, exact: true }) });
    // The row of the queue, not a row that names it as fallback.
    const own = found.filter({ has: page.getByRole('link', { name: `Open queue ${name}` }) });
    const [status = '', ...more] = await own.locator('[class*=situation] > span').allInnerTexts();
    const waiting = /\d+/.exec((await own.getByRole('cell').nth(1).innerText()).trim())?.[0] ?? '';
    const overflow = more.map((text) => /overflows to .*?(?=:)/.exec(text)?.[0] ?? '').join('');
    const reason = more.find((text) => !/overflows to|falls back to|All operators busy/.test(text)) ?? '';
    descriptions[name] = [status, reason, waiting === '0' ? '' : `${waiting} waiting`, overflow]
      .filter((part) => part !== '')
      .join(', ');
  }
  return descriptions;
}

test('open, closed and waiting mean the same on the list, in the editor and on the board with its totals', async () => {
  const own = await makeAccountWithQueues();
  const { page, complaints } = await openConsole({ browser, server, key: own.key, path: '/board' });
  page.setDefaultTimeout(30_000);
  await page.getByText('Transfer · Chat · Back office').waitFor();
  await page.getByText('Ringing', { exact: true }).waitFor();
  assert.deepEqual(await onBoard(page), expected);
  const totals = (await page.getByLabel('Now', { exact: true }).innerText()).replaceAll(/\s+/g, ' ');
  assert.match(totals, /4 Waiting|Waiting [^\d]*4/);
  assert.match(totals, /4 of 8 Queues open|Queues open 4 of 8/);
  assert.equal(await page.getByRole('table', { name: 'Waiting visitors' }).locator('[data-id]').count(), 4);
  // No operator is online for video: this is shown as text at the queue and at the visitors.
  await page.getByRole('table', { name: 'Waiting visitors' }).getByText('No operators online:').nth(1).waitFor();
  const late = page.getByRole('row').filter({ hasText: 'Late line' });
  await late.getByText('No operators online:').first().waitFor({ state: 'attached' });
  // A wait beyond the service level target is marked with a text, too.
  await page.evaluate(`localStorage.setItem('usher-service-level', '0')`);
  await page.reload();
  await late.getByText('Long wait:').first().waitFor({ state: 'attached' });

  await page.goto(`${server.url}/console/queues`);
  await page.getByRole('link', { name: 'Night desk' }).waitFor();
  assert.deepEqual(await onList(page), expected);
  const descriptions: Record<string, string> = {};
  for (const name of Object.keys(expected)) {
    await page.getByRole('link', { name, exact: true }).click();
    const effect = page.getByRole('region', { name: 'Effect' });
    await effect.getByText('Operators online', { exact: true }).waitFor();
    const lines = (await effect.innerText()).split('\n').filter((line) => line.trim() !== '');
    const at = lines.indexOf('Status');
    descriptions[name] = joinTexts(lines[at + 1] ?? '', lines[at + 2] ?? '');
    await page.goBack();
  }
  assert.deepEqual(descriptions, expected);
  assert.deepEqual(complaints, []);
});
