import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { barriersOf } from '../support/browser/console.ts';
import { composer, offers, messageList, say, openDesk, acceptVisitor, type DeskPage } from '../support/browser/desk.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  requestTicket,
  expectStatus,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  type TestVisitor,
} from '../support/world.ts';

const server = await forThisFile(startTestServer({ scanner: { kind: 'manual' } }));
const browser = await forThisFile(openBrowser());
const leaving = leave();
leaving.catch(() => undefined);
const lunching = goToLunch();
lunching.catch(() => undefined);

/** The operator is available while the page is open, also over a reload, and 30 s longer. Runs beside the other tests, because it is slow. */
async function leave(): Promise<void> {
  const { page, context, operator } = await openDesk({ server, browser });
  const read = async (): Promise<Json> => (await call(server, `GET /operators/${operator.id}`, operator)).body;
  await page.reload();
  await page.getByText('Waiting for visitors. Keep this page open.').waitFor();
  const { presence_expires_at: first } = await read();
  assert.notEqual(first, null);
  await until(async () => (await read()).presence_expires_at > first, 20_000);
  assert.equal((await read()).available, true);
  await context.close();
  const closed = Date.now();
  await until(async () => !(await read()).available, 45_000);
  assert.ok(Date.now() - closed > 15_000, 'a reload does not make anybody unavailable');
}

/** The operator is away with a reason while the page is open, also over a reload, and offline 30 s after the page is closed. */
async function goToLunch(): Promise<void> {
  const { page, context, operator } = await openDesk({ server, browser });
  const read = async (): Promise<Json> => (await call(server, `GET /operators/${operator.id}`, operator)).body;
  const lastEnd = async (): Promise<Date | null | undefined> => {
    const [row] = await server.database.sql<{ ended_at: Date | null }[]>`
      SELECT ended_at FROM presence_intervals WHERE operator_id = ${operator.id} AND reason = 'Lunch' ORDER BY id DESC LIMIT 1`;
    return row?.ended_at;
  };
  await page.getByRole('button', { name: 'All media' }).click();
  await page.getByLabel('Away reason').fill('Lunch');
  await page.getByRole('button', { name: 'Away', exact: true }).click();
  await page.getByText('Away: Lunch').waitFor();
  await page.reload();
  await page.getByText('Away: Lunch').waitFor();
  const { presence_expires_at: first } = await read();
  assert.notEqual(first, null);
  await until(async () => (await read()).presence_expires_at > first, 20_000);
  assert.equal(await lastEnd(), null);
  await context.close();
  await until(async () => (await lastEnd()) !== null, 45_000);
  const { available, presence_reason: reason } = await read();
  assert.deepEqual([available, reason], [false, 'Lunch']);
}

test('an operator transfers a visitor to a colleague or a queue, and can cancel the transfer', async () => {
  const at = await openDesk({ server, browser });
  const { page, own } = at;
  const { id, visitor } = await acceptVisitor(at, 'Ivy');
  await say(at, id, visitor, 'To whom it may concern');
  const colleague = await makeAvailableOperator(server, own);
  const other = await makeQueue(server, own, { name: 'Complaints', when_unstaffed: 'accept' });
  const transfer = page.getByRole('button', { name: 'Transfer' });
  const dialog = page.getByRole('dialog', { name: 'Transfer' });
  await transfer.click();
  await dialog.getByText('Queue', { exact: true }).click();
  await dialog.getByLabel('Complaints').check();
  await dialog.getByLabel('Message').fill('Knows a lot');
  await dialog.getByRole('button', { name: 'Transfer' }).click();
  await page.getByText(/Transferring to Complaints/).waitFor();
  await page.reload();
  await page.getByText(/Transferring to Complaints/).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText(/Transferring to Complaints/).waitFor({ state: 'detached' });
  assert.notEqual(other, at.queue);

  await transfer.click();
  await dialog.getByLabel('Somebody').check();
  await dialog.getByLabel('Message').fill('Please take over');
  await dialog.getByRole('button', { name: 'Transfer' }).click();
  await page.getByText('Transferring to Somebody').waitFor();
  const pending = await call(server, 'GET /transfer_requests?state=pending', colleague);
  const [request] = pending.body.transfer_requests;
  assert.equal(request.message, 'Please take over');
  const accept = { token: colleague.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${request.id}`, accept), 200);
  await page.getByText('Transferred to a colleague').waitFor();
  await messageList(page).getByText('Transferred by you: Please take over').waitFor();
  await messageList(page).getByText('To whom it may concern').waitFor();
  assert.equal(await composer(page).count(), 0);
  // The colleague transfers the visitor back, which is an offer.
  const body = { engagement_id: id, operator_id: at.operator.id, message: 'Yours after all' };
  expectStatus(await call(server, 'POST /transfer_requests', { token: colleague.token, body }), 201);
  await offers(page).getByText('Yours after all').waitFor();
  await page.keyboard.press('Alt+A');
  await composer(page).waitFor();
  // The notes of the transfers stay in the conversation, also after a reload.
  for (const isReloaded of [false, true]) {
    if (isReloaded) await page.reload();
    await messageList(page).getByText('Transferred by Somebody: Yours after all').waitFor();
    assert.equal(await messageList(page).getByText('Transferred by you: Please take over').count(), 1);
  }
  assert.deepEqual(at.complaints, []);
});

/** Makes a call in the conversation, which then goes to a colleague and comes back with a note. */
async function callAndTransferBack(at: DeskPage, { id, visitor }: { id: string; visitor: TestVisitor }): Promise<void> {
  const { operator, own, page } = at;
  const patch = async (path: string, { token }: { token: string }, action: string): Promise<Json> =>
    expectStatus(await call(server, `PATCH ${path}`, { token, body: { action } }), 200).body;
  const upgrades = `/engagements/${id}/media_upgrade_requests`;
  const media = { token: visitor.token, body: { audio: 'two_way', video: null } };
  const upgrade = expectStatus(await call(server, `POST ${upgrades}`, media), 201).body;
  await patch(`${upgrades}/${upgrade.id}`, operator, 'accept');
  const { body: engagement } = await call(server, `GET /engagements/${id}`, operator);
  for (const action of ['connect', 'end'])
    await patch(`/engagements/${id}/calls/${engagement.calls[0].id}`, operator, action);
  const colleague = await makeAvailableOperator(server, own);
  for (const [from, to] of [
    [operator, colleague],
    [colleague, operator],
  ] as const) {
    const body = { engagement_id: id, operator_id: to.id, message: 'Please finish this' };
    const asked = expectStatus(await call(server, 'POST /transfer_requests', { token: from.token, body }), 201).body;
    await patch(`/transfer_requests/${asked.id}`, to, 'accept');
  }
  expectStatus(
    await call(server, `PUT /operators/${colleague.id}/presence`, {
      token: colleague.token,
      body: { available: false },
    }),
    200,
  );
  await messageList(page).getByText('Transferred by Somebody: Please finish this').waitFor();
}

test("the desk shows the visitor's details and previous conversations, with calls and notes, and ends a conversation", async () => {
  const at = await openDesk({ server, browser }, { colorScheme: 'dark' });
  const { page, own } = at;
  const first = await acceptVisitor(at, 'Jo');
  await say(at, first.id, first.visitor, 'The first time');
  await callAndTransferBack(at, first);
  const panel = page.getByRole('form', { name: 'Visitor details' });
  await panel.getByLabel('E-mail').fill('no address');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByText(/must match/).waitFor();
  await panel.getByLabel('E-mail').fill('jo@test.example');
  await panel.getByLabel('Note').fill('Calls on Mondays');
  await panel.getByRole('button', { name: 'Add attribute' }).click();
  await panel.getByLabel('Attribute', { exact: true }).fill('plan');
  await panel.getByLabel('Value of plan').fill('gold');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  const path = `/sites/${own.siteId}/visitors/${first.visitor.id}`;
  const { body: visitor } = await call(server, `GET ${path}`, at.operator);
  assert.deepEqual(
    [visitor.name, visitor.email, visitor.note, visitor.custom_attributes],
    ['Jo', 'jo@test.example', 'Calls on Mondays', { plan: 'gold' }],
  );

  const previous = page.getByRole('region', { name: 'Previous conversations' });
  const endAndComeBack = async (): Promise<void> => {
    await page.keyboard.press('Alt+X');
    await page.getByRole('dialog', { name: 'End conversation?' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Ended by you').waitFor();
    const before = page.url();
    expectStatus(await requestTicket(server, own, { queue_ids: [at.queue] }, first.visitor), 201);
    await offers(page).getByText('Jo').waitFor();
    await page.keyboard.press('Alt+A');
    await page.waitForURL((url) => url.href !== before);
    await composer(page).waitFor();
  };
  await previous.getByText('First conversation').waitFor();
  // The list that was read with the first conversation has only that one.
  for (const count of [1, 2]) {
    await endAndComeBack();
    await until(async () => (await previous.getByRole('button').count()) === count);
  }
  await previous.getByRole('button').last().click();
  const past = page.getByRole('dialog');
  await past.getByText('The first time').waitFor();
  await past.getByText(/^Call ended · 0:\d\d$/).waitFor();
  await past.getByText('Transferred by Somebody: Please finish this').waitFor();
  assert.deepEqual(await barriersOf(page), []);
  await page.goto(`${server.url}/console/desk/${first.id}`);
  await messageList(page).getByText('The first time').waitFor();
  const over = page.getByRole('link').filter({ hasText: 'Ended' });
  await until(async () => (await over.count()) === 2);
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await until(async () => (await over.count()) === 1);
  assert.deepEqual(at.complaints, []);
});

test('an operator removed from a site loses the conversations of the site without an error', async () => {
  const at = await openDesk({ server, browser });
  const { page, own, operator } = at;
  const { id, visitor } = await acceptVisitor(at, 'Otto');
  await say(at, id, visitor, 'For your eyes only');
  await messageList(page).getByText('For your eyes only').waitFor();
  const other = await makeSite(server, own);
  const body = { assignments: [{ site_id: other, role: 'operator' }] };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  for (const text of ['For your eyes only', 'Otto'])
    await until(async () => (await page.getByText(text).count()) === 0, 10_000);
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('on a phone the desk shows one column at a time and nothing overflows', async () => {
  const at = await openDesk({ server, browser }, { viewport: { width: 375, height: 700 } });
  const { page } = at;
  const fits = async (): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
  const { id, visitor } = await acceptVisitor(at, 'A name without any space '.replaceAll(' ', '').repeat(8));
  await say(at, id, visitor, 'x'.repeat(400));
  await messageList(page).getByText('xxx').waitFor();
  assert.equal(await fits(), true);
  await page.getByRole('button', { name: 'Visitor' }).click();
  await page.getByRole('dialog').getByLabel('Phone').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await page.getByRole('list', { name: 'Conversations' }).getByRole('link').waitFor();
  assert.equal(await fits(), true);
  assert.deepEqual(await barriersOf(page), []);
  assert.deepEqual(at.complaints, []);
});

test('an operator stays available while the page is open, over a reload, and 30 s longer', async () => leaving);

test('an operator is away while the page is open, and offline 30 s after it is closed', async () => lunching);
