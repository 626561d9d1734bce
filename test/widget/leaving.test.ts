import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { forThisFile } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { askToTalk, openShop, takeVisitor, visit } from '../support/browser/widget.ts';
import { enqueue, expectStatus, setPresence } from '../support/world.ts';

const browser = await forThisFile(openBrowser());

/** The 30 s lease that is not renewed, and some time to detect its end. */
const expiryMs = 45_000;

test('a visitor who closes the tab leaves the queue after half a minute; one who reloads or has another tab does not', async () => {
  await using server = await startTestServer();
  await using shop = await openShop(server, { queueFields: { when_unstaffed: 'accept' } });
  await setPresence(server, shop.operator, { available: false });
  const waiting = async (): Promise<Json[]> => {
    const path = `/queues/${shop.queue}/tickets`;
    return expectStatus(await call(server, `GET ${path}`, { token: shop.own.admin }), 200).body.queue_tickets;
  };
  const leaving = await visit(browser, shop);
  await askToTalk(leaving.page);
  await leaving.page.getByText('You are first in line').waitFor();
  const staying = await visit(browser, shop);
  await askToTalk(staying.page);
  await staying.page.getByText('You are number 2 in line').waitFor();
  const tab = await staying.context.newPage();
  await tab.goto(`${shop.url}/other`);
  await tab.getByRole('button', { name: 'You are number 2 in line' }).waitFor();
  const [first, second] = await waiting();

  await leaving.page.close({ runBeforeUnload: true });
  await staying.page.close();
  await tab.reload();
  await until(async () => (await waiting()).length === 1, expiryMs);
  assert.equal((await waiting())[0].id, second.id);
  const left = expectStatus(await call(server, `GET /queue_tickets/${first.id}`, { token: shop.own.admin }), 200).body;
  assert.equal(left.state, 'visitor_left');
  await tab.getByRole('button', { name: 'You are first in line' }).waitFor();
});

test(
  'where tickets need presence, a visitor with the widget keeps their place and a silent client loses it after a minute',
  proof,
  async () => {
    await using server = await startTestServer();
    await using shop = await openShop(server, { queueFields: { when_unstaffed: 'accept' } });
    await setPresence(server, shop.operator, { available: false });
    const { admin, siteId } = shop.own;
    const body = { ticket_needs_presence: true };
    expectStatus(await call(server, `PATCH /sites/${siteId}`, { token: admin, body }), 200);
    const silent = await enqueue(server, shop.own, shop.queue);
    const { page } = await visit(browser, shop);
    await askToTalk(page);
    await page.getByText('You are number 2 in line').waitFor();
    const startedAt = performance.now();
    const read = async (): Promise<Json> =>
      expectStatus(await call(server, `GET /queue_tickets/${silent.id}`, { token: admin }), 200).body;
    await until(async () => (await read()).state === 'visitor_left', 75_000);
    await page.getByText('You are first in line').waitFor();
    // Longer than the minute for which creating a ticket counts as presence.
    await until(() => performance.now() - startedAt > 90_000, 95_000);
    await page.getByText('You are first in line').waitFor();
  },
);

test('a waiting visitor is next in line only while an operator is online', async () => {
  await using server = await startTestServer();
  await using shop = await openShop(server, { queueFields: { when_unstaffed: 'accept' } });
  await enqueue(server, shop.own, shop.queue);
  await takeVisitor(server, shop);
  const { page, context, complaints } = await browser.newPage();
  await context.clock.install();
  await page.goto(shop.url);
  await askToTalk(page);
  await page.getByText('You are next in line').waitFor();
  await setPresence(server, shop.operator, { available: false });
  await context.clock.fastForward(30_000);
  await page.getByText("We're offline right now.").waitFor();
  await page.getByText('You are first in line').waitFor();
  await setPresence(server, shop.operator);
  await context.clock.fastForward(30_000);
  await page.getByText('You are next in line').waitFor();
  assert.deepEqual(complaints, []);
});
