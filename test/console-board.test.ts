import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from './support/browser.ts';
import { barriersOf, openConsole } from './support/console.ts';
import { say, type Engaged } from './support/chat.ts';
import { call, startTestServer, until, type Json, type TestServer } from './support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makePolicy,
  makePresent,
  makeQueue,
  makeVisitor,
  type TestAccount,
  type TestOperator,
} from './support/world.ts';

let server: TestServer;
let browser: TestBrowser;
before(async () => {
  server = await startTestServer();
  browser = await openBrowser();
});
after(async () => {
  await browser[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const hostile = '<img src=x onerror=alert(1)> مرحبا بالعالم 🦊 ' + 'long '.repeat(30);

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Floor {
  readonly own: TestAccount;
  readonly queues: Readonly<Record<'sales' | 'night' | 'closed' | 'small', string>>;
  readonly operator: TestOperator;
  readonly chat: Engaged;
}

async function rename(own: TestAccount, operator: string, name: string): Promise<void> {
  expectStatus(await call(server, `PATCH /operators/${operator}`, { token: own.admin, body: { name } }), 200);
}

/** A visitor with a name who waits. */
async function wait(own: TestAccount, queue: string, name: string): Promise<{ id: string; visitor: Json }> {
  const made = await call(server, 'POST /visitors', { token: own.admin, body: { site_id: own.siteId, name } });
  const { id, access_token: token } = expectStatus(made, 200).body;
  return enqueue(server, own, queue, { id, token });
}

/** Queues in every state, somebody engaged, somebody waiting. */
async function open(): Promise<Floor> {
  const own = await makeAccount(server);
  const night = await makeQueue(server, own, { name: 'Night desk', when_unstaffed: 'accept' });
  // Open for an hour three days from now.
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
  const operator = await makePresent(server, own, { media: ['text'] });
  await rename(own, operator.id, 'Olga Operator');
  const { visitor } = await wait(own, sales, 'Vera Visitor');
  const id = await acceptOffer(server, operator);
  await wait(own, sales, 'Walter Waiting');
  return { own, queues: { sales, night, closed, small }, operator, chat: { server, own, operator, visitor, id, queue: sales } };
}

const row = (page: Page, table: string, name: string) =>
  page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name });

test('shots', async () => {
  const { own } = await open();
  const { page, complaints } = await openConsole({ browser, server, key: own.key, path: '/board' });
  await row(page, 'Queues', 'Sales').waitFor();
  await row(page, 'Who waits', 'Walter Waiting').waitFor();
  await page.screenshot({ path: '/tmp/shots-board/wide.png' });
  console.log(await barriersOf(page));
  console.log(complaints);
  await page.setViewportSize({ width: 375, height: 700 });
  await page.screenshot({ path: '/tmp/shots-board/phone.png' });
  console.log(await page.evaluate(() => document.documentElement.scrollWidth));
  assert.ok(makeOperator && makeVisitor && until && say);
});
