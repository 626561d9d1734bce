import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, type TestPage } from '../support/browser/browser.ts';
import { barriersOf, openConsole } from '../support/browser/console.ts';
import { forThisFile } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makePolicy,
  makeAvailableOperator,
  makeQueue,
  makeTeam,
  setPresence,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

const open = async (account: TestAccount, path: string, options = {}): Promise<TestPage> =>
  openConsole({ browser, server, key: account.key, path, options });

const queueOf = async ({ admin }: TestAccount, id: string): Promise<Json> =>
  expectStatus(await call(server, `GET /queues/${id}`, { token: admin }), 200).body;

const queuesOf = async ({ admin, siteId }: TestAccount): Promise<Json[]> =>
  expectStatus(await call(server, `GET /queues?site_ids[]=${siteId}`, { token: admin }), 200).body.queues;

async function choose(page: Page, label: string, option: string | RegExp): Promise<void> {
  await page
    .getByRole('combobox', { name: label })
    .or(page.getByLabel(label, { exact: true }))
    .first()
    .click();
  await page.getByRole('option', { name: option }).click();
}

const effect = (page: Page) => page.getByRole('region', { name: 'Effect' });

test('a queue is created with every field and a preview, and deleted', async () => {
  const account = await makeAccount(server);
  await makeTeam(server, account, account.siteId);
  await makePolicy(server, account, {
    name: 'Around the clock',
    business_hours: [
      { opens_at: '00:00', closes_at: '00:00', days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] },
    ],
  });
  const last = await makeQueue(server, account, { name: 'Last resort', when_unstaffed: 'accept' });
  await makeAvailableOperator(server, account);
  await makeAvailableOperator(server, account);
  const { page, complaints } = await open(account, '/queues');
  await page.getByRole('link', { name: 'Last resort' }).waitFor();
  await page.getByRole('link', { name: 'New queue' }).click();
  await page.getByLabel('Name').fill('Sales');
  await page.getByLabel('Description').fill('First contact');
  await page.getByText('Per operator', { exact: true }).click();
  await page.getByLabel('Max waiting per operator').fill('1.6');
  await effect(page).getByText('1.6 × 2 online = 3 visitors').waitFor();
  await page.getByRole('checkbox', { name: 'Text' }).check();
  await page.getByRole('checkbox', { name: 'Audio' }).check();
  await page.getByLabel('Keep accepting visitors').check();
  await page.getByLabel('Route by priority').check();
  await page.getByLabel('Prefer the last operator').check();
  await page.getByLabel('Wait for them (seconds)').fill('5400');
  await page.getByText('1 h 30 min; at most 4 days').waitFor();
  await choose(page, 'Teams', 'Team');
  await page.keyboard.press('Escape');
  await choose(page, 'Hours', 'Around the clock');
  await choose(page, 'Fallback queue', 'Last resort');
  await effect(page).getByText('Last resort · Open').waitFor();
  await effect(page).getByText('Open (no scheduled close)').waitFor();
  await page.getByText('Card', { exact: true }).click();
  await page.getByLabel('Card text').fill('How can we help?');
  await page.getByLabel('Option 1', { exact: true }).fill('Buy <b>now</b>');
  await page.getByLabel('Value 1', { exact: true }).fill('buy');
  await page.getByRole('region', { name: 'Message preview' }).getByText('Buy <b>now</b>').waitFor();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Sales' }).waitFor();
  const made = (await queuesOf(account)).find(({ name }) => name === 'Sales') ?? {};
  assert.deepEqual(
    [made.description, made.capacity_policy, made.routing_policy.media, made.routing_policy.team_ids.length],
    ['First contact', { type: 'variable', multiplier: 1.6 }, ['text', 'audio'], 1],
  );
  assert.deepEqual(
    [made.when_unstaffed, made.operator_ranking_enabled, made.operator_affinity, made.fallback_queue_id],
    ['accept', true, { time_window_sec: 5_400 }, last],
  );
  assert.deepEqual(JSON.parse(made.welcome_message), {
    content: 'How can we help?',
    attachment: { type: 'single_choice', options: [{ text: 'Buy <b>now</b>', value: 'buy' }] },
  });
  await page.reload();
  assert.equal(await page.getByLabel('Option 1', { exact: true }).inputValue(), 'Buy <b>now</b>');
  // Deleting is refused with the name of the queue that falls back to it, and succeeds afterwards.
  await page.goto(`${server.url}/console/queues/${last}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The queue is the fallback of queue “Sales”.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.goto(`${server.url}/console/queues/${made.id}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
  await page.getByRole('link', { name: 'Sales' }).waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('the list shows status and reason live, without a reload', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { name: 'Live', capacity_policy: { type: 'fixed', capacity: 1 } });
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const { page, complaints } = await open(account, '/queues');
  const row = page.getByRole('row').filter({ hasText: 'Live' });
  await row.getByText('No operators online', { exact: true }).waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await setPresence(server, operator, { media: ['video'] });
  await row.getByText('Empty').waitFor();
  await setPresence(server, operator, { available: false });
  await row.getByText('Unstaffed').waitFor();
  const other = await makeQueue(server, account, { name: 'Later', when_unstaffed: 'accept' });
  await page.getByRole('link', { name: 'Later' }).waitFor();
  await enqueue(server, account, other);
  await page.getByRole('row').filter({ hasText: 'Later' }).getByText('1 waiting').waitFor();
  await page.getByLabel('Search queues').fill('late');
  await row.waitFor({ state: 'detached' });
  await page.getByLabel('Search queues').fill('no such');
  await page.getByText('No matching queues').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await row.waitFor();
  assert.equal((await call(server, `DELETE /queues/${queue}`, { token: account.admin })).status, 204);
  await page.getByLabel('Search queues').fill('');
  await row.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('a fallback loop is refused with its path before saving, and by the server', async () => {
  const account = await makeAccount(server);
  const c = await makeQueue(server, account, { name: 'Ccc' });
  const b = await makeQueue(server, account, { name: 'Bbb', fallback_queue_id: c });
  await makeQueue(server, account, { name: 'Aaa', fallback_queue_id: b });
  const { page, complaints } = await open(account, `/queues/${c}`);
  await choose(page, 'Fallback queue', 'Aaa');
  await page.getByText('This creates a fallback loop: Ccc → Aaa → Bbb → Ccc').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
  const chain = page.getByRole('list', { name: 'Fallback chain' });
  await chain.getByText('Ccc · Unstaffed').waitFor();
  assert.deepEqual(
    (await chain.innerText()).split(/\s*→\s*/).map((link) => link.trim().split(' ')[0]),
    ['Ccc', 'Aaa', 'Bbb', 'Ccc'],
  );
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByText('This creates a fallback loop').waitFor({ state: 'detached' });
  assert.equal((await queueOf(account, c)).fallback_queue_id, null);
  assert.deepEqual(complaints, []);
});

test('when two people edit one queue, the second chooses field by field and saves against the new version', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { name: 'Shared', description: 'Before' });
  const first = await open(account, `/queues/${queue}`);
  const second = await open(account, `/queues/${queue}`);
  for (const { page } of [first, second]) await page.getByLabel('Name').waitFor();
  await second.page.getByLabel('Name').fill('By the second');
  await second.page.getByLabel('Max waiting').fill('7');
  await first.page.getByLabel('Name').fill('By the first');
  await first.page.getByLabel('Description').fill('After');
  await first.page.getByLabel('Keep accepting visitors').check();
  await first.page.getByRole('button', { name: 'Save' }).click();
  await first.page.getByText('Queue saved').waitFor();
  await second.page.getByRole('button', { name: 'Save' }).click();
  const dialog = second.page.getByRole('dialog');
  await dialog.getByText('This queue was changed while you edited').waitFor();
  const name = dialog.getByRole('radiogroup', { name: 'Name' });
  assert.ok(await name.getByLabel('Mine: By the second').isChecked());
  await dialog.getByRole('radiogroup', { name: 'Description' }).getByText('changed by them').waitFor();
  await dialog.getByRole('radiogroup', { name: 'Capacity' }).getByText('changed by you').waitFor();
  assert.deepEqual(await barriersOf(second.page), []);
  // A third version in between opens the dialog again, and nothing is lost.
  const { body } = await call(server, `GET /queues/${queue}`, { token: account.admin });
  const put = { name: 'By a third', capacity_policy: body.capacity_policy, routing_policy: {} };
  expectStatus(await call(server, `PUT /queues/${queue}`, { token: account.admin, body: put }), 200);
  await name.getByLabel('Theirs: By the first').check();
  await dialog.getByRole('button', { name: 'Save choices' }).click();
  await dialog.getByText('Theirs: By a third').waitFor();
  await dialog.getByRole('radiogroup', { name: 'Name' }).getByLabel('Theirs: By a third').check();
  await dialog.getByRole('button', { name: 'Save choices' }).click();
  await dialog.waitFor({ state: 'detached' });
  const saved = await queueOf(account, queue);
  assert.deepEqual(
    [saved.name, saved.description, saved.when_unstaffed, saved.capacity_policy],
    ['By a third', 'After', 'accept', { type: 'fixed', capacity: 7 }],
  );
  // The first page, where nothing was typed since, shows the new version after the next read.
  await first.page.getByRole('link', { name: 'All queues' }).click();
  await first.page.getByRole('link', { name: 'By a third' }).waitFor();
  assert.deepEqual([...first.complaints, ...second.complaints], []);
});

test('operators are ranked by keyboard and by dragging, and removed', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { name: 'Ranked', operator_ranking_enabled: true });
  const named = async (name: string): Promise<string> => {
    const body = {
      name,
      email: `${name}@${account.siteId}`,
      assignments: [{ site_id: account.siteId, role: 'operator' }],
    };
    return expectStatus(await call(server, 'POST /operators', { token: account.admin, body }), 201).body.id;
  };
  const [anna, bert, cleo] = [await named('Anna'), await named('Bert'), await named('Cleo')];
  const ranks = async (): Promise<Json> =>
    (await call(server, `GET /queues/${queue}/rankings`, { token: account.admin })).body.operators;
  const { page, complaints } = await open(account, `/queues/${queue}`);
  await page.getByRole('tab', { name: 'Settings' }).focus();
  await page.keyboard.press('ArrowRight');
  const add = page.getByRole('combobox', { name: 'Add operator' });
  for (const name of ['Anna', 'Bert', 'Cleo']) {
    await add.focus();
    await page.keyboard.type(name);
    await page.getByRole('option', { name }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('listitem', { name: new RegExp(`^${name}`) }).waitFor();
  }
  // Moves Cleo to the top by keyboard.
  await page.getByRole('button', { name: 'Move Cleo', exact: true }).focus();
  await page.keyboard.press('Space');
  await page.getByText('Cleo is at position 3 of 3.').waitFor({ state: 'attached' });
  await page.keyboard.press('ArrowUp');
  await page.getByText('Cleo is at position 2 of 3.').waitFor({ state: 'attached' });
  await page.keyboard.press('ArrowUp');
  await page.getByText('Cleo is at position 1 of 3.').waitFor({ state: 'attached' });
  await page.keyboard.press('Space');
  await page.getByRole('listitem', { name: 'Cleo, priority 1' }).waitFor();
  await page.getByRole('button', { name: 'Save priorities' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Discard', disabled: true }).waitFor();
  assert.deepEqual(await ranks(), [
    { id: cleo, rank: 1 },
    { id: anna, rank: 2 },
    { id: bert, rank: 3 },
  ]);
  // Drags Bert before Anna.
  const from = await page.getByRole('button', { name: 'Move Bert', exact: true }).boundingBox();
  const to = await page.getByRole('button', { name: 'Move Anna', exact: true }).boundingBox();
  assert.ok(from !== null && to !== null);
  await page.mouse.move(from.x + 10, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(to.x + 10, to.y + 12, { steps: 8 });
  await page.getByText('Bert is at position 2 of 3.').waitFor({ state: 'attached' });
  await page.mouse.up();
  await page.getByRole('listitem', { name: 'Bert, priority 2' }).waitFor();
  await page.getByRole('button', { name: 'Remove Cleo' }).click();
  assert.deepEqual(await barriersOf(page), []);
  await page.getByRole('button', { name: 'Save priorities' }).click();
  await page.getByRole('button', { name: 'Discard', disabled: true }).waitFor();
  assert.deepEqual(await ranks(), [
    { id: bert, rank: 2 },
    { id: anna, rank: 3 },
  ]);
  assert.deepEqual(complaints, []);
});

test('channels are added to a queue, and an address in use is refused', proof, async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { name: 'Called' });
  const { page, complaints } = await open(account, `/queues/${queue}`);
  await page.getByRole('tab', { name: 'Channels' }).click();
  await page.getByLabel('Number').fill('555');
  await page.getByRole('button', { name: 'Add number' }).click();
  await page.getByText(/must match pattern/).waitFor();
  await page.getByLabel('Number').fill('+3725551234');
  await page.getByRole('button', { name: 'Add number' }).click();
  await page.getByRole('cell', { name: '+3725551234', exact: true }).waitFor();
  await page.getByLabel('Number').fill('+3725551234');
  await page.getByRole('button', { name: 'Add number' }).click();
  await page.getByText('Another channel of the account has this number or address.').waitFor();
  await page.getByLabel('Type', { exact: true }).last().fill('sms');
  await page.getByLabel('Address', { exact: true }).fill('<i>addr</i>');
  await page.getByRole('button', { name: 'Add channel' }).click();
  await page.getByRole('cell', { name: '<i>addr</i>', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Remove +3725551234' }).click();
  await page.getByRole('cell', { name: '+3725551234', exact: true }).waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('typed text survives an expired session, and leaving asks for confirmation', async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { name: 'Kept' });
  const { page, complaints } = await open(account, `/queues/${queue}`);
  await page.getByLabel('Name').fill('Typed');
  const prompts: string[] = [];
  page.once('dialog', (dialog) => {
    prompts.push(dialog.message());
    void dialog.dismiss();
  });
  await page.getByRole('link', { name: 'Hours' }).click();
  assert.match(prompts[0] ?? '', /^Leave without saving/);
  assert.equal(await page.getByLabel('Name').inputValue(), 'Typed');
  await page.getByLabel('Description').fill('Typed, too');
  // The session ends on the server: the next request asks to sign in again, and the page keeps its state.
  await server.database.sql`DELETE FROM operator_sessions`;
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Sign in again').waitFor();
  await dialog.getByText('API key', { exact: true }).click();
  await dialog.getByLabel('Key ID').fill(account.key.id);
  await dialog.getByLabel('Key secret').fill(account.key.secret);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Description').inputValue(), 'Typed, too');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Queue saved').waitFor();
  assert.equal((await queueOf(account, queue)).name, 'Typed');
  await page.getByRole('link', { name: 'Hours' }).click();
  await page.getByRole('heading', { name: 'Hours' }).waitFor();
  assert.deepEqual(complaints, []);
});

/** Shortened texts without a title that has the full text. */
const cutWithoutTitle = `[...document.querySelectorAll('main *')]
  .filter((each) => {
    const { webkitLineClamp, textOverflow } = getComputedStyle(each);
    const isCut = each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1;
    return isCut && (webkitLineClamp !== 'none' || textOverflow === 'ellipsis') && each.closest('[title]') === null;
  })
  .filter((each) => each.tagName !== 'INPUT')
  .map((each) => each.outerHTML.slice(0, 200))`;

test('hostile text is shown as text on all screens and colour schemes, without accessibility violations', async () => {
  const account = await makeAccount(server);
  const name = `<img src=x onerror=alert(1)> ‮שלום 👩‍👩‍👧 ${'long'.repeat(50)}`.slice(0, 255);
  const queue = await makeQueue(server, account, { name, description: name, welcome_message: name });
  await makeQueue(server, account, { name: 'Before it', fallback_queue_id: queue });
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 320],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page, context, complaints } = await open(account, '/queues', { colorScheme, viewport });
    await page.getByRole('link', { name: '<img src=x' }).waitFor();
    const shot = async (what: string): Promise<void> => {
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wide <= 0, `${what} is ${wide} px too wide`);
      assert.deepEqual(await page.evaluate(cutWithoutTitle), [], what);
      assert.deepEqual(await barriersOf(page), []);
    };
    await shot('queues');
    await page.getByRole('link', { name: '<img src=x' }).click();
    await effect(page).getByText('None: visitors who cannot join').waitFor();
    await shot('queue');
    assert.equal(await page.locator('img[src=x]').count(), 0);
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test('a manager sees a queue but cannot change it', proof, async () => {
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { name: 'Looked at' });
  const manager = await makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);
  const { page, complaints } = await openConsole({ browser, server, key: manager.key, path: `/queues/${queue}` });
  await page.getByText('Only super managers of the site can change this queue.').waitFor();
  assert.ok(await page.getByLabel('Name').isDisabled());
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
  await effect(page).getByText('No operators online', { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});
