import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser/browser.ts';
import { barriersOf, everyPath, openConsole, openPath, tooWideOn } from '../support/browser/console.ts';
import { offers } from '../support/browser/desk.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { expectStatus, makeAccount, makePolicy, makeQueue, makeVisitor, type TestAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

/** An account whose super_manager has offers of two visitors that outlast the test. */
async function makeAccountWithOffers(): Promise<TestAccount & { readonly details: readonly string[] }> {
  const own = await makeAccount(server);
  const { admin: token, adminId, siteId } = own;
  const hours = await makePolicy(server, own);
  const queue = await makeQueue(server, own, { name: 'Sales', scheduling_policy_id: hours });
  const patience = { reactive_call_timeout: 600 };
  expectStatus(await call(server, `PATCH /sites/${siteId}`, { token, body: patience }), 200);
  const several = { max_engagement_count: 5 };
  expectStatus(await call(server, `PATCH /operators/${adminId}`, { token, body: several }), 200);
  const available = { available: true };
  expectStatus(await call(server, `PUT /operators/${adminId}/presence`, { token, body: available }), 200);
  for (const name of ['Ada', 'A name without any space '.replaceAll(' ', '').repeat(8)]) {
    const visitor = await makeVisitor(server, own);
    const path = `/sites/${siteId}/visitors/${visitor.id}`;
    expectStatus(await call(server, `PATCH ${path}`, { token: visitor.token, body: { name } }), 200);
    const body = { site_id: siteId, operator_id: adminId, media: 'text' };
    expectStatus(await call(server, 'POST /engagement_requests', { token: visitor.token, body }), 201);
  }
  const details = [`/queues/${queue}`, `/hours/${hours}`, `/sites/${siteId}`, `/people/${adminId}`];
  return { ...own, details };
}

/** The controls whose middle is covered by an offer after they were scrolled into view. */
async function coveredOn(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const dock = document.querySelector('[aria-label="Offers"]');
    const all = [...document.querySelectorAll('a[href], button, input, textarea, label, [tabindex="0"]')];
    const seen = all.filter(
      (each) => !dock.contains(each) && each.offsetWidth > 0 && each.checkVisibility({ visibilityProperty: true }),
    );
    if (seen.length < 3) return ['nothing was found on the page'];
    return seen
      .filter((each) => {
        each.scrollIntoView({ block: 'nearest' });
        const { x, y, width, height } = each.getBoundingClientRect();
        return dock.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      })
      .map((each) => each.outerHTML.slice(0, 200));
  })()`);
}

for (const { where, ...options } of [
  { where: 'at a desk', viewport: { width: 1_280, height: 800 } },
  { where: 'at 320 px in forced colours', viewport: { width: 320, height: 568 }, forcedColors: 'active' },
] as const)
  test(`offers cover no control on any page, and setting away is one click, ${where}`, async () => {
    const own = await makeAccountWithOffers();
    const { page, complaints } = await openConsole({ browser, server, key: own.key, path: '/desk', options });
    await until(async () => (await offers(page).getByRole('article').count()) === 2);
    const faults: Record<string, string[]> = {};
    for (const path of [...everyPath, ...own.details]) {
      await openPath(page, path);
      const found = [...(await coveredOn(page)), ...(await tooWideOn(page))];
      // The tests of each page run axe in light and dark.
      if ('forcedColors' in options) found.push(...(await barriersOf(page)));
      if (found.length > 0) faults[path] = found;
    }
    assert.deepEqual(faults, {});
    // A dialog, and a page with a save bar.
    await openPath(page, '/people/teams');
    await page.getByRole('button', { name: 'Add team' }).click();
    await page.getByRole('dialog').waitFor();
    assert.deepEqual(await coveredOn(page), []);
    await page.keyboard.press('Escape');
    await openPath(page, '/queues/new');
    await page.getByRole('textbox', { name: 'Name' }).fill('Complaints');
    await page.getByRole('button', { name: 'Create' }).click({ trial: true });
    assert.deepEqual(await coveredOn(page), []);
    await page.getByRole('switch', { name: 'Available' }).click();
    const { admin: token, adminId } = own;
    await until(async () => !(await call(server, `GET /operators/${adminId}`, { token })).body.available);
    assert.deepEqual(complaints, []);
  });

test('accepting an offer over a form with unsaved changes asks first, and staying there keeps the visitor waiting', async () => {
  const own = await makeAccountWithOffers();
  const { page, complaints } = await openConsole({ browser, server, key: own.key, path: '/queues/new' });
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('Complaints');
  const asked: string[] = [];
  let leaves = false;
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void (leaves ? dialog.accept() : dialog.dismiss());
  });
  const pending = async (): Promise<number> => {
    const { body } = await call(server, 'GET /engagement_requests?state=pending', { token: own.admin });
    return body.engagement_requests.length;
  };
  const accept = offers(page).getByRole('button', { name: 'Accept' }).first();
  await accept.click();
  await until(async () => asked.length === 1);
  assert.deepEqual([await name.inputValue(), await pending()], ['Complaints', 2]);

  // Declining leaves nothing, so it does not ask.
  await offers(page).getByRole('button', { name: 'Decline' }).last().click();
  await until(async () => (await offers(page).getByRole('article').count()) === 1);
  assert.equal(asked.length, 1);

  leaves = true;
  await accept.click();
  await page.getByRole('heading', { name: 'Ada' }).waitFor();
  assert.deepEqual([asked.length, await pending()], [2, 0]);
  assert.deepEqual(complaints, []);
});
