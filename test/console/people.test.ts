import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, type TestPage } from '../support/browser/browser.ts';
import { barriersOf, looks, openConsole, openPath, tooWideOn } from '../support/browser/console.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { onePixel } from '../support/people/pictures.ts';
import { proof } from '../support/proof.ts';
import { call, until } from '../support/server.ts';
import { expectStatus, makeAccessToken, makeAccount, makeOperator, makeQueue, makeSite } from '../support/world.ts';

const hostile = '<img src=x onerror="globalThis.pwned=1">';
const backwards = 'שלום עולם 👩‍🚒';
const password = 'a lamp by the river';

const { server, account } = await openWorld();
const browser = await forThisFile(openBrowser());
await makeQueue(server, account);

async function rename(id: string, name: string): Promise<void> {
  expectStatus(await call(server, `PATCH /operators/${id}`, { token: account.admin, body: { name } }), 200);
}

async function read(path: string): Promise<Record<string, unknown>> {
  return expectStatus(await call(server, `GET ${path}`, { token: account.admin }), 200).body;
}

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
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

test('an operator is added, and signs in by an invitation link that is shown once', async (t) => {
  const { page, complaints } = await open(t, { key: account.key, path: '/people' });
  await page.getByRole('link', { name: 'Add operator' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`Ann ${hostile}`);
  await page.getByRole('textbox', { name: 'E-mail' }).fill('ann@shop.example');
  await page.getByRole('textbox', { name: 'Max concurrent chats' }).fill('5');
  await choose(page, 'Role', 'Manager');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: `Ann ${hostile}`, level: 1 }).waitFor();
  await page.getByText('No password yet.').waitFor();
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const link = await page.getByRole('textbox', { name: 'Invitation link' }).inputValue();
  assert.ok(link.startsWith(`${server.url}/console/invitation#`), link);
  // After a renewal, only the new link is shown.
  await page.getByRole('button', { name: 'Renew link' }).click();
  await page.locator(`input[value*="/invitation#"]:not([value="${link}"])`).waitFor();
  const renewed = await page.getByRole('textbox', { name: 'Invitation link' }).inputValue();
  await page.reload();
  await page.getByText('Invitation pending, expires').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Invitation link' }).count(), 0);
  assert.ok(!(await page.content()).includes(renewed.split('#')[1] ?? '#'));

  const ann = await browser.newPage();
  await ann.page.goto(link);
  await ann.page.getByRole('alert').waitFor();
  await ann.page.goto('about:blank');
  await ann.page.goto(renewed);
  await ann.page.getByLabel('Choose a password').fill(password);
  await ann.page.keyboard.press('Enter');
  await ann.page.getByRole('button', { name: `Account of Ann ${hostile}` }).waitFor();
  // The first page is updated without a reload.
  await page.getByText('This operator has a password.').waitFor();
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  assert.deepEqual([...complaints, ...ann.complaints], []);
});

test('a revoked invitation link no longer works', proof, async (t) => {
  const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const { page, complaints } = await open(t, { key: account.key, path: `/people/${id}` });
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const link = await page.getByRole('textbox', { name: 'Invitation link' }).inputValue();
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Invite', exact: true }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Invitation link' }).count(), 0);
  const other = await browser.newPage();
  await other.page.goto(link);
  await other.page.getByRole('alert').waitFor();
  assert.equal(await other.page.getByLabel('Choose a password').count(), 0);
  assert.deepEqual(complaints, []);
});

test('an API key is created, shown once, works, and is deleted', async (t) => {
  const { id, keyId } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const { page, complaints } = await open(t, { key: account.key, path: `/people/${id}` });
  await page.getByRole('button', { name: 'Create key' }).click();
  const secret = await page.getByRole('textbox', { name: 'Key secret' }).inputValue();
  const key = await page.getByRole('textbox', { name: 'Key ID' }).inputValue();
  const body = { api_key_id: key, api_key_secret: secret };
  expectStatus(await call(server, 'POST /operator_authentication/tokens', { body }), 200);
  await page.reload();
  await page.getByRole('button', { name: `Delete key ${key}` }).click();
  assert.equal(await page.getByRole('textbox', { name: 'Key secret' }).count(), 0);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: `Delete key ${key}` }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: `Delete key ${keyId}` }).waitFor();
  expectStatus(await call(server, 'POST /operator_authentication/tokens', { body }), 401);
  assert.deepEqual(complaints, []);
});

test('an access token is created, shown once, works, and is deleted', async (t) => {
  const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const { page, complaints } = await open(t, { key: account.key, path: `/people/${id}` });
  const section = page.getByRole('region', { name: 'Access tokens' });
  await section.getByText('No access tokens').waitFor();
  await section.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'New access token' });
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(`Bridge ${hostile}`);
  await choose(page, 'Expires', 'In 90 days');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const token = await section.getByRole('textbox', { name: 'Token' }).inputValue();
  expectStatus(await call(server, 'GET /operator_authentication/sessions/current', { token }), 200);
  const listed = (await read(`/operators/${id}/access_tokens`)) as { access_tokens: { expires_at: string }[] };
  const days = (Date.parse(listed.access_tokens[0]?.expires_at ?? '') - Date.now()) / 86_400_000;
  assert.ok(days > 89.9 && days <= 90, String(days));
  await page.reload();
  await section.getByText(/never used/).waitFor();
  assert.ok(!(await page.content()).includes(token));
  await section.getByRole('button', { name: `Delete token Bridge ${hostile}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await section.getByText('No access tokens').waitFor();
  expectStatus(await call(server, 'GET /operator_authentication/sessions/current', { token }), 401);
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  assert.deepEqual(complaints, []);
});

test('role and teams on each site are edited, and an error is shown at its field', proof, async (t) => {
  const other = await makeSite(server, account, `Bank ${backwards}`);
  const team = { site_id: other, name: 'Loans' };
  const { id: teamId } = expectStatus(
    await call(server, 'POST /teams', { token: account.admin, body: team }),
    201,
  ).body;
  const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await rename(id, 'Bert');
  const { page, complaints } = await open(t, { key: account.key, path: `/people/${id}` });
  await choose(page, 'Add to a site', `Bank ${backwards}`);
  const bank = page.getByRole('group', { name: `Bank ${backwards}` });
  await bank.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'Super manager' }).click();
  await bank.getByRole('combobox', { name: 'Teams' }).click();
  await page.getByRole('option', { name: 'Loans' }).click();
  await page.getByRole('textbox', { name: 'E-mail' }).fill('admin@test');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('is taken', { exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'E-mail' }).fill('bert@shop.example');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Operator saved').waitFor();
  const { email, assignments } = (await read(`/operators/${id}`)) as { email: string; assignments: object[] };
  assert.equal(email, 'bert@shop.example');
  const expected = { site_id: other, role: 'super_manager', team_ids: [teamId] };
  assert.deepEqual(
    assignments.filter((each) => Reflect.get(each, 'site_id') === other),
    [expected],
  );
  await page.getByRole('link', { name: '← People' }).click();
  await page.getByText(`Super manager at Bank ${backwards} (Loans)`).waitFor();
  assert.deepEqual(complaints, []);
});

test('when two people edit one operator, the second sees both versions and chooses', async (t) => {
  const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const { page, complaints } = await open(t, { key: account.key, path: `/people/${id}` });
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine');
  await rename(id, 'Theirs');
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog', { name: 'This operator was changed while you edited' });
  await dialog.getByText('Theirs: Theirs').waitFor();
  assert.deepEqual(await barriersOf(page), []);
  await dialog.getByRole('radio', { name: /^Mine/ }).check();
  await dialog.getByRole('button', { name: 'Save choices' }).click();
  await page.getByRole('heading', { name: 'Mine', level: 1 }).waitFor();
  assert.equal((await read(`/operators/${id}`))['name'], 'Mine');
  assert.deepEqual(complaints, []);
});

test(
  'disabling explains the consequences and ends sessions, and the last super manager cannot be disabled',
  proof,
  async (t) => {
    const { id, key } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);
    const theirs = await open(t, { key, path: '/account' });
    await theirs.page.getByText('Live', { exact: true }).waitFor();
    const { page, complaints } = await open(t, { key: account.key, path: `/people/${id}` });
    await page.getByRole('button', { name: 'Disable' }).click();
    const dialog = page.getByRole('dialog', { name: 'Disable this operator?' });
    await dialog.getByText('They are signed out everywhere').waitFor();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    await theirs.page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('button', { name: 'Disable' }).waitFor();

    await page.goto(`${server.url}/console/people/${account.adminId}`);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('Make another operator super_manager first').waitFor();
    assert.deepEqual(complaints, []);
  },
);

test('people are found by name, team and state, and their availability is live', async (t) => {
  const { id, token } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await rename(id, 'Zacharias');
  const { page, complaints } = await open(t, { key: account.key, path: '/people' });
  await page.getByRole('searchbox', { name: 'Search' }).fill('zach');
  const row = page.getByRole('row', { name: /Zacharias/ });
  await row.getByText('Away').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await until(async () => (await page.getByRole('row').count()) === 2);
  const body = { available: true, media: ['text'] };
  expectStatus(await call(server, `PUT /operators/${id}/presence`, { token, body }), 200);
  await row.getByText('Available: text').waitFor();
  await choose(page, 'Show', 'Disabled');
  await page.getByText('No matching people').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await choose(page, 'Show', 'Available now');
  await row.waitFor();
  assert.equal(await page.getByRole('searchbox', { name: 'Search' }).inputValue(), '');
  assert.deepEqual(complaints, []);
});

test('two submits in one frame create one resource', async (t) => {
  const own = await makeAccount(server);
  const { page } = await open(t, { key: own.key, path: '/people/teams' });
  await page.getByRole('button', { name: 'Add team' }).click();
  const dialog = page.getByRole('dialog', { name: 'New team' });
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Sales');
  await page.evaluate(`(() => {
    const form = document.querySelector('[role=dialog] form');
    form.requestSubmit();
    form.requestSubmit();
  })()`);
  await dialog.waitFor({ state: 'detached' });
  // Team names are not unique.
  const path = `GET /teams?site_ids[]=${own.siteId}`;
  const { teams } = expectStatus(await call(server, path, { token: own.admin }), 200).body;
  assert.equal(teams.length, 1);
});

test('an operator uploads, changes and removes the picture that visitors see', async (t) => {
  const { page, complaints } = await open(t, { key: account.key, path: '/account' });
  const section = page.getByRole('region', { name: 'Picture' });
  const upload = async (button: string, name: string, content: Buffer): Promise<void> => {
    const chooser = page.waitForEvent('filechooser');
    await section.getByRole('button', { name: button }).click();
    await (await chooser).setFiles({ name, mimeType: 'image/png', buffer: content });
  };
  await upload('Upload picture', 'not.png', Buffer.from('no picture'));
  await section.getByText('Your browser cannot read this picture').waitFor();
  await upload('Upload picture', 'me.png', Buffer.from(onePixel, 'base64'));
  const picture = section.getByRole('img');
  await picture.waitFor();
  const size = `[document.querySelector('section img')].map(({ naturalWidth: x, naturalHeight: y }) => x + 'x' + y).join()`;
  await until(async () => (await page.evaluate(size)) === '256x256');
  const first = await picture.getAttribute('src');
  await upload('Change picture', 'me.png', Buffer.from(onePixel, 'base64'));
  await until(async () => (await picture.getAttribute('src')) !== first);
  await page
    .getByRole('button', { name: /^Account of/ })
    .locator('img')
    .waitFor();
  await section.getByRole('button', { name: 'Remove picture' }).click();
  await picture.waitFor({ state: 'detached' });
  const own = await call(server, `GET /operators/${account.adminId}`, { token: account.admin });
  assert.equal(expectStatus(own, 200).body.picture_url, null);
  // A super manager changes the picture of others on their page.
  const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await page.goto(`${server.url}/console/people/${id}`);
  await upload('Upload picture', 'them.png', Buffer.from(onePixel, 'base64'));
  await picture.waitFor();
  assert.deepEqual(complaints, []);
});

test('teams are created, renamed, not deleted while a queue uses them, and deleted afterwards', proof, async (t) => {
  const site = await makeSite(server, account, 'Teams only');
  const { page, complaints } = await open(t, { key: account.key, path: '/people' });
  await page.getByRole('tab', { name: 'Teams' }).click();
  await page.getByRole('button', { name: 'Add team' }).click();
  const dialog = page.getByRole('dialog', { name: 'New team' });
  await dialog.getByRole('combobox', { name: 'Site' }).click();
  await page.getByRole('option', { name: 'Teams only' }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(`Sales ${hostile}`);
  await page.keyboard.press('Enter');
  await page.getByText(`Sales ${hostile}`).waitFor();
  const { teams } = (await read(`/teams?site_ids[]=${site}`)) as { teams: { id: string }[] };
  const teamId = teams[0]?.id ?? '';
  const routing_policy = { team_ids: [teamId] };
  const queueId = await makeQueue(server, { ...account, siteId: site }, { routing_policy });
  await page.getByRole('button', { name: `Edit team Sales ${hostile}` }).click();
  const edit = page.getByRole('dialog', { name: 'Edit team' });
  await edit.getByRole('textbox', { name: 'Name', exact: true }).fill('Sellers');
  await edit.getByRole('textbox', { name: 'Description' }).fill(backwards);
  await edit.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: /Sellers/ });
  await row.getByText(backwards).waitFor();
  await row.getByRole('button', { name: 'Delete team Sellers' }).click();
  const remove = page.getByRole('dialog', { name: 'Delete this team?' });
  await remove.getByRole('button', { name: 'Delete' }).click();
  await remove.getByText('The team is part of a routing policy.').waitFor();
  expectStatus(await call(server, `DELETE /queues/${queueId}`, { token: account.admin }), 204);
  await remove.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('a manager sees people without actions that would be refused', proof, async (t) => {
  const other = await makeSite(server, account, 'Elsewhere');
  const { key } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);
  const both = await makeOperator(server, account, [
    { site_id: account.siteId, role: 'operator' },
    { site_id: other, role: 'operator' },
  ]);
  const { page, complaints } = await open(t, { key, path: '/people' });
  await page.getByRole('row').nth(1).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Add operator' }).count(), 0);
  await page.goto(`${server.url}/console/people/${both.id}`);
  await page.getByText('Only super managers of all their sites can change this operator.').waitFor();
  for (const name of ['Save', 'Disable', 'Invite', 'Create key', 'Remove'])
    assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  await page.getByText("Site you don't have access to").waitFor();
  // A super manager of one site cannot change an operator who works on another site, too.
  const half = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  const theirs = await open(t, { key: half.key, path: `/people/${both.id}` });
  await theirs.page.getByText('Only super managers of all their sites can change this operator.').waitFor();
  await theirs.page.goto(`${server.url}/console/people/teams`);
  await theirs.page.getByRole('button', { name: 'Add team' }).waitFor();
  assert.deepEqual([...complaints, ...theirs.complaints], []);
});

for (const { where, ...options } of looks)
  test(`no accessibility violations ${where}`, async (t) => {
    const { page, complaints } = await open(t, { key: account.key, path: '/people', options });
    await page.getByRole('row').nth(1).waitFor();
    const long = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
    await rename(long.id, `${'long'.repeat(50)} ${backwards}`);
    await makeAccessToken(server, account, long.id, { name: 'long'.repeat(50) });
    const paths = ['/people', '/people/teams', '/people/new', `/people/${long.id}`];
    for (const path of paths) {
      await openPath(page, path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await until(async () => (await page.getByLabel('Loading').count()) === 0);
      assert.deepEqual(await barriersOf(page), [], path);
      assert.deepEqual(await tooWideOn(page), [], path);
    }
    assert.deepEqual(complaints, []);
  });
