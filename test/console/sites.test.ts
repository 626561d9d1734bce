import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, type TestPage } from '../support/browser/browser.ts';
import { barriersOf, looks, openConsole, openPath, tooWideOn } from '../support/browser/console.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { call } from '../support/server.ts';
import {
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makeQueue,
  makeSite,
} from '../support/world.ts';

const hostile = '<img src=x onerror="globalThis.pwned=1">';
const backwards = 'שלום עולם 👩‍🚒';

const { server, account } = await openWorld();
const browser = await forThisFile(openBrowser());

async function site(id: string): Promise<Record<string, unknown>> {
  return expectStatus(await call(server, `GET /sites/${id}`, { token: account.admin }), 200).body;
}

/** Types a text into a tags input and presses Enter. */
async function add(page: Page, label: string, text: string): Promise<void> {
  await page
    .getByRole('combobox', { name: label, exact: true })
    .or(page.getByLabel(label, { exact: true }))
    .first()
    .fill(text);
  await page.keyboard.press('Enter');
}

/** The page is closed with its test, so that its polling does not load the next test. */
async function open(
  t: TestContext,
  opening: Omit<Parameters<typeof openConsole>[0], 'browser' | 'server'>,
): Promise<TestPage> {
  const opened = await openConsole({ browser, server, ...opening });
  t.after(async () => opened.context.close());
  return opened;
}

test('an empty account is offered sample data, which can be created, paused, resumed and deleted', async (t) => {
  const { page, complaints } = await open(t, { key: account.key, path: '/people' });
  const offer = page.getByRole('region', { name: 'Try with sample data' });
  await offer.getByRole('button', { name: 'Try with sample data' }).click();
  await offer.waitFor({ state: 'detached' });
  // The page shows the sample site without a reload.
  await page
    .getByRole('row', { name: /sample/ })
    .first()
    .waitFor();
  await page.getByRole('link', { name: 'Sites' }).click();
  const section = page.getByRole('region', { name: 'Sample data' });
  await section.getByRole('button', { name: 'Pause' }).click();
  await section.getByText('Paused. Existing sample data is kept.').waitFor();
  assert.equal(
    expectStatus(await call(server, 'GET /sample_data', { token: account.admin }), 200).body.state,
    'stopped',
  );
  await section.getByRole('button', { name: 'Resume' }).click();
  await section.getByText('Simulated operators are serving simulated visitors').waitFor();
  await section.getByRole('button', { name: 'Delete sample data' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete sample data' }).click();
  await section.getByRole('button', { name: 'Create sample data' }).waitFor();
  await page.getByRole('row', { name: /Sample shop/ }).waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('only super managers of accounts without queues are offered sample data', proof, async (t) => {
  const { key } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);
  const manager = await open(t, { key, path: '/sites' });
  await manager.page.getByRole('row').nth(1).waitFor();
  assert.equal(await manager.page.getByRole('region', { name: /sample data/i }).count(), 0);
  assert.equal(await manager.page.getByRole('link', { name: 'Add site' }).count(), 0);
  await makeQueue(server, account);
  const { page, complaints } = await open(t, { key: account.key, path: '/people' });
  const queues = page.waitForResponse((response) => response.url().includes('/queues?'));
  await page.reload();
  assert.equal(((await (await queues).json()) as { queues: unknown[] }).queues.length, 1);
  await page.getByRole('row').nth(1).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Try with sample data' }).count(), 0);
  assert.deepEqual([...complaints, ...manager.complaints], []);
});

test('a site is created with every setting, and edited', async (t) => {
  const { page, complaints } = await open(t, { key: account.key, path: '/sites' });
  await page.getByRole('link', { name: 'Add site' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(`Shop ${hostile} ${backwards}`);
  await page.getByRole('combobox', { name: 'Time zone' }).fill('tallinn');
  await page.getByRole('option', { name: 'Europe/Tallinn' }).click();
  await add(page, 'Allowed origins', 'https://shop.example/cart?x=1');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: `Shop ${hostile} ${backwards}`, level: 1 }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const made = await site(id);
  assert.deepEqual([made['time_zone'], made['allowed_origins']], ['Europe/Tallinn', ['https://shop.example']]);

  await add(page, 'Allowed origins', 'not an origin');
  await page.getByText('“not an origin” is not an origin').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
  await page.keyboard.press('Backspace');
  await add(page, 'Site URLs', '1, High Street');
  await page.getByRole('textbox', { name: 'Offer timeout' }).fill('45');
  await page.getByRole('textbox', { name: 'Visitor request timeout' }).fill('20');
  await page.getByRole('textbox', { name: 'Max wait' }).fill('600');
  await page.getByRole('switch', { name: 'Set operators away after a missed offer' }).click();
  await page.getByRole('switch', { name: 'Allow calls beside other chats' }).click();
  await page.getByRole('switch', { name: 'Visitors can attach webhooks' }).click();
  await page.getByRole('textbox', { name: 'Concurrent waiting visitors' }).fill('25');
  await page.getByRole('switch', { name: 'Remove absent visitors from the queue' }).click();
  await page.getByRole('checkbox', { name: 'Visitors can send files' }).click();
  await add(page, 'Allowed file types', 'video/*');
  await page.getByRole('combobox', { name: 'Messages sent to attached webhooks' }).click();
  await page.getByRole('option', { name: 'Messages of the other side' }).click();
  await page.getByRole('switch', { name: 'Ignore unknown fields and query parameters' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Site saved').waitFor();
  const saved = await site(id);
  assert.deepEqual(
    [
      saved['addresses'],
      saved['reactive_call_timeout'],
      saved['proactive_call_timeout'],
      saved['queue_ticket_timeout_sec'],
    ],
    [['1, High Street'], 45, 20, 600],
  );
  assert.deepEqual(
    [saved['missed_call_unavailability_enabled'], saved['allowed_file_senders'], saved['allowed_origins']],
    [false, { operator: true, visitor: false }, ['https://shop.example']],
  );
  assert.deepEqual([saved['calls_beside_chats'], saved['visitor_webhooks']], [false, false]);
  assert.deepEqual(
    [saved['visitor_limits'], saved['ticket_needs_presence']],
    [{ new_visitors_per_minute: 60, open_tickets_per_address: 25, open_feeds_per_address: 100 }, true],
  );
  assert.deepEqual([saved['attached_webhook_messages'], saved['lenient_requests']], ['other', true]);
  assert.ok((saved['allowed_file_content_types'] as string[]).includes('video/*'));
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  assert.deepEqual(complaints, []);
});

test('the notification of a saved site covers no button', async (t) => {
  const own = await makeAccount(server);
  const { page } = await open(t, { key: own.key, path: `/sites/${own.siteId}` });
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('First');
  await page.getByRole('button', { name: 'Save' }).click();
  const news = page.getByText('Site saved');
  await news.waitFor();
  await name.fill('Second');
  const save = await page.getByRole('button', { name: 'Save' }).boundingBox();
  const over = await page.locator('.mantine-Notification-root').boundingBox();
  assert.ok(save !== null && over !== null);
  const isApart = save.y > over.y + over.height || save.x > over.x + over.width;
  assert.ok(isApart, JSON.stringify({ save, over }));
  // The notification lets clicks pass through.
  const under = `document.elementFromPoint(${over.x + over.width / 2}, ${over.y + over.height / 2})`;
  assert.equal(await page.evaluate(`${under}.closest('.mantine-Notification-root')`), null);
});

test(
  'when two people edit one site, fields changed by both are chosen and other changes are kept',
  proof,
  async (t) => {
    const id = await makeSite(server, account, 'Before');
    const { page, complaints } = await open(t, { key: account.key, path: `/sites/${id}` });
    await page.getByRole('textbox', { name: 'Name' }).fill('Mine');
    const body = { name: 'Theirs', queue_ticket_timeout_sec: 700 };
    expectStatus(await call(server, `PATCH /sites/${id}`, { token: account.admin, body }), 200);
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'This site was changed while you edited' });
    await dialog.getByRole('radio', { name: /Mine/ }).first().check();
    await dialog.getByText('11 min 40 s').waitFor();
    await dialog.getByRole('button', { name: 'Save choices' }).click();
    await page.getByRole('heading', { name: 'Mine', level: 1 }).waitFor();
    const saved = await site(id);
    assert.deepEqual([saved['name'], saved['queue_ticket_timeout_sec']], ['Mine', 700]);
    assert.deepEqual(complaints, []);
  },
);

test('a publishable token and its embed code are shown at any time, a secret token once', async (t) => {
  const id = await makeSite(server, account, 'Tokens');
  const { page, complaints } = await open(t, { key: account.key, path: '/sites' });
  await page
    .getByRole('row', { name: /Tokens/ })
    .getByText(id)
    .waitFor();
  await page.getByRole('button', { name: 'Copy the ID of site Tokens' }).click();
  await page.getByRole('link', { name: 'Tokens', exact: true }).click();
  await page.getByRole('button', { name: 'Copy the ID of this site' }).waitFor();
  await page.getByText(id).waitFor();
  await page.getByRole('tab', { name: 'Widget and tokens' }).click();
  await page.getByText('No tokens yet').waitFor();
  await page.getByRole('button', { name: 'Create publishable token' }).click();
  const publishable = page.getByRole('region', { name: /^Publishable token/ });
  await publishable.waitFor();
  await page.getByRole('button', { name: 'Create secret token' }).click();
  const secret = await page.getByRole('textbox', { name: 'Secret token' }).inputValue();
  assert.match(secret, /^sec_/);
  await page.reload();
  await publishable.waitFor();
  const token = await publishable.getByRole('textbox', { name: 'Publishable token' }).inputValue();
  assert.match(token, /^pub_/);
  assert.equal(
    await publishable.getByRole('textbox', { name: 'Embed code' }).inputValue(),
    `<script src="${server.url}/widget.js" data-site="${id}" data-token="${token}" async></script>`,
  );
  const demo = new URL(
    (await publishable.getByRole('link', { name: 'Try it on the demo page' }).getAttribute('href')) ?? '',
    server.url,
  );
  assert.deepEqual([demo.pathname, Object.fromEntries(demo.searchParams)], ['/demo', { site: id, token }]);
  const visit = async () =>
    fetch(`${server.url}/visitors`, {
      method: 'POST',
      headers: { authorization: `ApplicationToken ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ site_id: id }),
    });
  assert.equal((await visit()).status, 200);
  await page.getByRole('region', { name: /^Secret token/ }).waitFor();
  assert.ok(!(await page.content()).includes(secret));
  // A token from before token texts were stored.
  await server.database.sql`UPDATE application_tokens SET token = NULL WHERE site_id = ${id} AND kind = 'publishable'`;
  await page.reload();
  await publishable.getByText(/can't be shown/).waitFor();
  assert.equal((await visit()).status, 200);
  await publishable.getByRole('button', { name: /^Delete token/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await publishable.waitFor({ state: 'detached' });
  assert.equal((await visit()).status, 401);
  assert.deepEqual(complaints, []);
});

test('an empty site is deleted, and any other site lists its contents and asks for its name', async (t) => {
  const empty = await makeSite(server, account, 'Empty');
  const full = await makeSite(server, account, `Full ${hostile}`);
  await makeQueue(server, { ...account, siteId: full });
  const { page, complaints } = await open(t, { key: account.key, path: `/sites/${empty}` });
  const dialog = page.getByRole('dialog', { name: 'Delete this site?' });
  const remove = dialog.getByRole('button', { name: 'Delete site' });
  await page.getByRole('button', { name: 'Delete site' }).click();
  await remove.click();
  await page.getByText('Site deleted').waitFor();
  await page.getByRole('link', { name: `Full ${hostile}` }).click();
  assert.equal(await page.getByText(empty).count(), 0);
  await page.getByRole('button', { name: 'Delete site' }).click();
  await remove.click();
  const list = dialog.getByRole('list', { name: 'Deleted with the site' });
  await list.getByText('1 queue').waitFor();
  assert.deepEqual(await barriersOf(page), []);
  assert.ok(await remove.isDisabled());
  // The input has the focus.
  await page.keyboard.type(`Full ${hostile}`);
  await remove.click();
  await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
  await page.getByText(full).waitFor({ state: 'detached' });
  expectStatus(await call(server, `GET /sites/${full}`, { token: account.admin }), 404);
  assert.deepEqual(complaints, []);
});

test('identity providers and SIP domains are added, refused with an error text, and deleted', proof, async (t) => {
  const id = await makeSite(server, account, 'Providers');
  const { page, complaints } = await open(t, {
    key: account.key,
    path: `/sites/${id}?tab=providers`,
  });
  await page.getByRole('textbox', { name: 'Name' }).fill(`Login ${hostile}`);
  await page.getByRole('textbox', { name: 'Issuer' }).fill('https://login.example/?x=1');
  await page.getByRole('textbox', { name: 'Client ID' }).fill('usher');
  await page.getByRole('textbox', { name: 'Client secret' }).fill('very secret indeed');
  await page.getByRole('button', { name: 'Add provider' }).click();
  await page.getByText('must be an https URL without query, fragment and user info').waitFor();
  await page.getByRole('textbox', { name: 'Issuer' }).fill('https://login.example');
  await page.getByRole('button', { name: 'Add provider' }).click();
  const row = page.getByRole('row', { name: /login\.example/ });
  await row.getByText('with a secret').waitFor();
  await row.getByText(`Login ${hostile}`).waitFor();
  assert.ok(!(await page.content()).includes('very secret indeed'));
  await row.getByRole('button', { name: /^Delete provider/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });

  await page.getByRole('tab', { name: 'SIP domains' }).click();
  await page.getByRole('textbox', { name: 'SIP domain' }).fill('10.0.0.1');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'SIP domain' }).and(page.locator('[aria-invalid=true]')).waitFor();
  await page.getByRole('textbox', { name: 'SIP domain' }).fill('SIP.Shop.example');
  await page.keyboard.press('Enter');
  const domain = page.getByRole('row', { name: /sip\.shop\.example/ });
  await domain.getByRole('button', { name: 'Delete sip.shop.example' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await domain.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('a manager sees a site without any actions', proof, async (t) => {
  const { key } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);
  const path = `/sites/${account.siteId}?tab=tokens`;
  const { page, complaints } = await open(t, { key, path });
  await page.getByText('Only super managers of this site can change it.').waitFor();
  for (const role of ['tab', 'switch'] as const)
    for (const each of await page.getByRole('main').getByRole(role).all()) assert.ok(await each.isDisabled());
  assert.equal(await page.getByRole('button', { name: /Save|Create|Delete/ }).count(), 0);
  assert.deepEqual(complaints, []);
});

for (const { where, ...options } of looks)
  test(`no accessibility violations ${where}`, async (t) => {
    const id = await makeSite(server, account, `${'long'.repeat(50)} ${backwards}`);
    await makeApplicationToken(server, { ...account, siteId: id }, 'publishable');
    const { page, complaints } = await open(t, { key: account.key, path: '/sites', options });
    const paths = ['/sites', '/sites/new', `/sites/${id}`, `/sites/${id}?tab=tokens`, `/sites/${id}?tab=providers`];
    for (const path of paths) {
      await openPath(page, path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByLabel('Loading').waitFor({ state: 'detached' });
      assert.deepEqual(await barriersOf(page), [], path);
      assert.deepEqual(await tooWideOn(page), [], path);
    }
    assert.deepEqual(complaints, []);
  });
