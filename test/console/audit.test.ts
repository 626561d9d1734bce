import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openBrowser, type TestPage } from '../support/browser/browser.ts';
import { barriersOf, looks, openConsole, tooWideOn } from '../support/browser/console.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { call } from '../support/server.ts';
import { expectStatus, makeOperator, makeQueue, makeSite, makeTeam } from '../support/world.ts';

const hostile = '<img src=x onerror="globalThis.pwned=1">';
const backwards = 'שלום עולם 👩‍🚒';

const { server, account } = await openWorld();
const browser = await forThisFile(openBrowser());
await makeQueue(server, account, { name: 'First queue' });

async function rename(team: string, name: string): Promise<void> {
  expectStatus(await call(server, `PATCH /teams/${team}`, { token: account.admin, body: { name } }), 200);
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

test('a change appears in the log with its values before and after and a link to the resource', async (t) => {
  const { page, complaints } = await open(t, { key: account.key, path: '/audit' });
  await page.getByRole('listitem').filter({ hasText: 'created the queue' }).waitFor();
  const team = await makeTeam(server, account, account.siteId);
  const made = page.getByRole('listitem').filter({ hasText: 'created the team' });
  await made.waitFor();
  await rename(team, `Sales ${hostile} ${backwards}`);
  const changed = page.getByRole('listitem').filter({ hasText: 'changed the team' });
  await changed.waitFor();
  // The newest entry comes first.
  assert.match(await page.getByRole('listitem').first().innerText(), /changed the team/);
  assert.match(await changed.innerText(), /before:\s*Team\s*→\s*after:\s*Sales </);
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  await changed.getByRole('button', { name: /^(Show more|\d+ more fields?):/ }).click();
  await changed.getByText('Sites: First site.').waitFor();
  await changed.getByRole('link', { name: 'View history' }).click();
  await page.getByRole('listitem').filter({ hasText: 'created the queue' }).waitFor({ state: 'detached' });
  await changed.waitFor();
  assert.equal(await page.getByRole('listitem').count(), 2);
  await changed.getByRole('link', { name: `Sales ${hostile}` }).click();
  await page.getByRole('row', { name: /Sales/ }).waitFor();
  assert.deepEqual(complaints, []);
});

test('filters by person, resource, action and time are stored in the URL and survive a reload', proof, async (t) => {
  const other = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  const body = { name: 'Olga', max_engagement_count: 7 };
  expectStatus(await call(server, `PATCH /operators/${other.id}`, { token: account.admin, body }), 200);
  const team = { site_id: account.siteId, name: 'Of Olga' };
  expectStatus(await call(server, 'POST /teams', { token: other.token, body: team }), 201);
  const { page, complaints } = await open(t, { key: account.key, path: '/audit' });
  const items = page.getByRole('listitem');
  const choose = async (label: string, option: RegExp): Promise<void> => {
    await page.getByRole('combobox', { name: label }).click();
    await page.getByRole('option', { name: option }).click();
  };
  await choose('Person', /^Olga/);
  await page.getByRole('listitem').filter({ hasText: 'created the queue' }).waitFor({ state: 'detached' });
  await items.getByText('Of Olga').first().waitFor();
  assert.equal(await items.count(), 1);
  await page.reload();
  await items.getByText('Of Olga').first().waitFor();
  assert.equal(await items.count(), 1);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('listitem').filter({ hasText: 'created the queue' }).waitFor();
  await choose('Resource', /^operator$/);
  await choose('Action', /^changed the operator$/);
  await page.getByRole('listitem').filter({ hasText: 'added the operator' }).first().waitFor({ state: 'detached' });
  const entry = items.filter({ hasText: 'Olga' });
  assert.match(await entry.innerText(), /max engagement count\s+before:\s*1\s*→\s*after:\s*7/);
  await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
  await page.getByText('No matching entries').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await page.getByRole('listitem').filter({ hasText: 'created the queue' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('a changed secret is shown as changed, without its value', proof, async (t) => {
  const provider = { name: 'Login', type: 'openid_connect', issuer: 'http://127.0.0.1:9', client_id: 'usher' };
  const visitor = expectStatus(
    await call(server, 'POST /visitors', { token: account.admin, body: { site_id: account.siteId } }),
    200,
  ).body;
  const path = `/sites/${account.siteId}/visitors/${visitor.id}`;
  const note = { note: 'owes us money' };
  expectStatus(await call(server, `PATCH ${path}`, { token: account.admin, body: note }), 200);
  const body = { ...provider, client_secret: 'very secret indeed' };
  const at = `POST /sites/${account.siteId}/visitor_authentication_providers`;
  expectStatus(await call(server, at, { token: account.admin, body }), 201);
  const { page, complaints } = await open(t, { key: account.key, path: '/audit' });
  const changed = page.getByRole('listitem').filter({ hasText: 'changed a visitor' });
  await changed.getByText('changed (value hidden)').waitFor();
  const content = await page.content();
  assert.ok(!content.includes('owes us money') && !content.includes('very secret indeed'));
  assert.deepEqual(complaints, []);
});

test('older entries are loaded by scrolling', proof, async (t) => {
  const site = await makeSite(server, account, 'Busy');
  const team = await makeTeam(server, account, site);
  for (let index = 0; index < 120; index += 1) await rename(team, `Name ${index}`);
  const { page, complaints } = await open(t, { key: account.key, path: `/audit?target=${team}` });
  await page.getByText('Name 119').first().waitFor();
  assert.equal(await page.getByRole('listitem').count(), 50);
  const oldest = page.getByRole('listitem').filter({ hasText: 'created the team' });
  for (const last of [99, 120]) {
    await page.keyboard.press('End');
    await page.getByRole('listitem').nth(last).waitFor();
  }
  await oldest.waitFor();
  // An entry added meanwhile comes first, and no entry is shown twice.
  await rename(team, 'The last name');
  await page.getByText('The last name').first().waitFor();
  assert.match(await page.getByRole('listitem').first().innerText(), /The last name/);
  assert.deepEqual(complaints, []);
});

test('a manager sees no audit log, and a super manager sees the log of their own sites', async (t) => {
  const site = await makeSite(server, account, 'Secret place');
  await makeTeam(server, account, site);
  const { key } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  const theirs = await open(t, { key, path: '/audit' });
  await theirs.page.getByRole('listitem').filter({ hasText: 'created the queue' }).waitFor();
  assert.equal(await theirs.page.getByText('Secret place').count(), 0);
  const manager = await makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);
  const { page, complaints } = await open(t, { key: manager.key, path: '/audit' });
  await page.waitForURL(/\/board$/);
  assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0);
  assert.deepEqual([...complaints, ...theirs.complaints], []);
});

for (const { where, ...options } of looks)
  test(`no accessibility violations ${where}`, async (t) => {
    const { page, complaints } = await open(t, { key: account.key, path: '/audit', options });
    await page.getByRole('listitem').first().waitFor();
    await page
      .getByRole('button', { name: /^(?:Show more|\d+ more fields?): / })
      .first()
      .click();
    assert.deepEqual(await barriersOf(page), []);
    assert.deepEqual(await tooWideOn(page), []);
    assert.deepEqual(complaints, []);
  });
