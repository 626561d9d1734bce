import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser, type TestPage } from './support/browser.ts';
import { Caller } from './support/caller.ts';
import { openConsole, barriersOf } from './support/console.ts';
import { startProxy } from './support/proxy.ts';
import { call, startTestServer, until, type Json, type TestServer } from './support/server.ts';
import {
  acceptOffer,
  askIn,
  expectStatus,
  makeAccount,
  makeOperator,
  makePresent,
  makeQueue,
  makeVisitor,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from './support/world.ts';

let server: TestServer;
let browser: TestBrowser;
let leaving: Promise<void>;

before(async () => {
  server = await startTestServer({ scanner: { kind: 'manual' } });
  browser = await openBrowser();
  leaving = leave();
  leaving.catch(() => undefined);
});
after(async () => {
  await browser[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const patienceMs = 10_000;

interface Staffed {
  readonly own: TestAccount;
  readonly queue: string;
  readonly operator: TestOperator;
}

/** A site with a queue, and a plain operator who takes several at a time. */
async function staff(): Promise<Staffed> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { name: 'Invoices' });
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const body = { max_engagement_count: 5 };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  return { own, queue, operator };
}

interface At extends Staffed, TestPage {}

/** The desk, with its operator available. */
async function sitDown(options: Json = {}, at: { url: string } = server): Promise<At> {
  const staffed = await staff();
  const opened = await openConsole({ browser, server: at, key: staffed.operator.key, path: '/desk', options });
  opened.page.setDefaultTimeout(patienceMs);
  await available(opened.page).click();
  await opened.page.getByText('Visitors are offered to you as they come').waitFor();
  return { ...staffed, ...opened };
}

const available = (page: Page): Locator => page.getByRole('switch', { name: 'Available' });
const offers = (page: Page): Locator => page.getByRole('region', { name: 'Offers' });
const said = (page: Page): Locator => page.getByRole('region', { name: 'Messages' });
const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Message', exact: true });

/** Comes to the queue, under a name. */
async function come(
  { own, queue }: Staffed,
  name: string,
  wanted: Json = {},
): Promise<{ visitor: TestVisitor; ticket: string }> {
  const visitor = await makeVisitor(server, own);
  const path = `/sites/${own.siteId}/visitors/${visitor.id}`;
  expectStatus(await call(server, `PATCH ${path}`, { token: visitor.token, body: { name } }), 200);
  const asked = await askIn(server, own, { queue_ids: [queue], ...wanted }, visitor);
  return { visitor, ticket: expectStatus(asked, 201).body.id };
}

/** Comes and is taken, by key; answers the engagement. */
async function take(at: At, name: string, wanted: Json = {}): Promise<{ id: string; visitor: TestVisitor }> {
  const before = at.page.url();
  const { visitor } = await come(at, name, wanted);
  await offers(at.page).getByText(name).waitFor();
  await at.page.keyboard.press('Alt+A');
  await at.page.waitForURL((url) => String(url) !== before && /\/desk\/[0-9a-f-]{36}$/.test(url.pathname));
  await at.page.getByRole('heading', { name }).waitFor();
  return { id: at.page.url().slice(-36), visitor };
}

async function say(id: string, { token }: { token: string }, body: Json): Promise<string> {
  const sent = typeof body === 'string' ? { content: body } : body;
  const answer = await call(server, `PUT /engagements/${id}/chat_messages/${randomUUID()}`, { token, body: sent });
  return expectStatus(answer, 200).body.id;
}

async function transcript(id: string, { token }: { token: string }): Promise<Json[]> {
  return expectStatus(await call(server, `GET /engagements/${id}/chat_transcript`, { token }), 200).body;
}

async function contents(id: string, who: { token: string }): Promise<string[]> {
  return (await transcript(id, who)).map(({ content }) => content);
}

/** Is there while the page is open, over a reload too, and not much longer. Takes its time beside the other tests. */
async function leave(): Promise<void> {
  const { page, context, operator } = await sitDown();
  const read = async (): Promise<Json> => (await call(server, `GET /operators/${operator.id}`, operator)).body;
  await page.reload();
  await page.getByText('Visitors are offered to you as they come').waitFor();
  const { presence_expires_at: first } = await read();
  assert.notEqual(first, null);
  await until(async () => (await read()).presence_expires_at > first, 20_000);
  assert.equal((await read()).available, true);
  await context.close();
  const closed = Date.now();
  await until(async () => !(await read()).available, 45_000);
  assert.ok(Date.now() - closed > 15_000, 'a reload does not make anybody unavailable');
}

test('takes several visitors by keys, and talks with each', async () => {
  const at = await sitDown({ colorScheme: 'light' });
  const { page, operator } = at;
  const ada = await take(at, 'Ada');
  assert.match(await page.title(), /^Desk/);
  await say(ada.id, ada.visitor, 'My invoice is wrong');
  await said(page).getByText('My invoice is wrong').waitFor();
  // It is before the operator's eyes: the visitor is told.
  await until(async () => (await transcript(ada.id, ada.visitor))[0].status === 'delivered');
  await page.keyboard.type('Which one?');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('March?');
  await page.keyboard.press('Enter');
  await said(page).getByText('✓ Sent').waitFor();
  const [, answer] = await transcript(ada.id, ada.visitor);
  assert.deepEqual([answer.content, answer.sender], ['Which one?\nMarch?', { type: 'operator', id: operator.id }]);
  const path = `/engagements/${ada.id}/chat_messages/${answer.id}`;
  await call(server, `PATCH ${path}`, { token: ada.visitor.token, body: { status: 'delivered' } });
  await said(page).getByText('✓✓ Delivered').waitFor();

  await take(at, 'Bo <b>');
  await say(ada.id, ada.visitor, 'March, yes');
  const first = page.getByRole('list', { name: 'Conversations' }).getByRole('link', { name: 'Ada' });
  await first.getByLabel('1 unread').waitFor();
  await page.waitForFunction(`document.title.startsWith('(1) Desk')`);
  await first.getByText('waits').waitFor();
  await page.keyboard.press('Alt+ArrowUp');
  await said(page).getByText('March, yes').waitFor();
  await first.getByLabel('1 unread').waitFor({ state: 'detached' });
  await page.waitForFunction(`document.activeElement?.getAttribute('aria-label') === 'Message'`);
  assert.deepEqual(await barriersOf(page), []);
  assert.deepEqual(at.complaints, []);
});

test('an offer is answered on any page, counts down, and goes when somebody else has answered', async () => {
  const at = await sitDown();
  const { page } = at;
  await page.goto(`${server.url}/console/account`);
  const { ticket, visitor } = await come(at, 'Cy');
  const offer = offers(page).getByRole('article', { name: 'Offer: Cy' });
  await offer.getByText('Invoices').waitFor();
  await page.waitForFunction(`document.title.startsWith('(1) ')`);
  const left = async (): Promise<number> => Number.parseInt(await offer.getByText(/^\d+ s$/).innerText(), 10);
  const before = await left();
  assert.ok(before > 0 && before <= 30, `${before} s left`);
  await until(async () => (await left()) < before);
  await page.keyboard.press('Alt+D');
  const requests = async (): Promise<Json[]> =>
    (await call(server, 'GET /engagement_requests', at.operator)).body.engagement_requests;
  await until(async () => (await requests()).some(({ fail_reason }) => fail_reason === 'rejected'));
  // There is nobody else: it comes again, until the visitor has had enough.
  const cancel = { token: visitor.token, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${ticket}`, cancel), 200);
  await offer.waitFor({ state: 'detached' });

  await come(at, 'Dee');
  await offers(page).getByRole('article', { name: 'Offer: Dee' }).waitFor();
  await acceptOffer(server, at.operator);
  await offers(page).waitFor({ state: 'detached' });
  assert.deepEqual(at.complaints, []);
});

test('typing both ways, a card with its choice, what the assistant suggests', async () => {
  const at = await sitDown();
  const { page, own } = at;
  const { id, visitor } = await take(at, 'Eve');
  const typing = async (on: boolean): Promise<void> => {
    const body = { typing: on };
    expectStatus(await call(server, `PUT /engagements/${id}/typing_indicator`, { token: visitor.token, body }), 204);
  };
  await typing(true);
  await page.getByText('Eve is typing').waitFor();
  await typing(false);
  await page.getByText('Eve is typing').waitFor({ state: 'detached' });
  const told: Json[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/typing_indicator')) told.push(request.postDataJSON());
  });
  await composer(page).pressSequentially('Hello');
  await page.keyboard.press('Enter');
  await until(() => told.length === 2);
  assert.deepEqual(told, [{ typing: true }, { typing: false }], 'not with every key');

  await page.getByRole('button', { name: 'Card' }).click();
  await page.getByLabel('Question').fill('Which plan?');
  await page.getByLabel('Choice 1').fill('Basic');
  await page.getByLabel('Choice 2').fill('<i>Plus</i>');
  await page.getByRole('button', { name: 'Send card' }).click();
  await said(page).getByText('Which plan?').waitFor();
  await until(async () => (await transcript(id, visitor)).length === 2);
  const attachment = { type: 'single_choice_response', selected_option: '<i>Plus</i>' };
  await say(id, visitor, { content: 'The big one', attachment });
  const chosen = said(page)
    .getByRole('listitem')
    .filter({ has: page.getByLabel('Chosen') });
  assert.equal(await chosen.innerText(), '<i>Plus</i>');

  const body = { sender: 'omniguide', content: 'Offer a discount.', metadata: { type: 'suggestion' } };
  expectStatus(await call(server, `POST /engagements/${id}/system_messages`, { token: own.admin, body }), 201);
  await page.getByRole('button', { name: 'Use it' }).click();
  assert.equal(await composer(page).inputValue(), 'Offer a discount.');
  assert.deepEqual(at.complaints, []);
});

test('files: on their way, being scanned, clean, infected, and back down', async () => {
  const at = await sitDown();
  const { page, own } = at;
  const { id, visitor } = await take(at, 'Flo');
  const attach = async (name: string): Promise<Json> => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach a file' }).click();
    await (await chooser).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(`This is ${name}`) });
    await page.getByRole('listitem').filter({ hasText: name }).getByText('Being scanned').waitFor();
    const { files } = (await call(server, `GET /engagements/${id}/files`, at.operator)).body;
    return files.at(-1);
  };
  const scan = async (file: Json, result: string): Promise<void> => {
    const body = { result };
    expectStatus(await call(server, `PUT /files/${file.id}/security_scan`, { token: own.admin, body }), 200);
  };
  const good = await attach('offer.txt');
  assert.equal(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled(), true);
  await page.reload();
  await page.getByText('Being scanned').waitFor();
  await scan(good, 'clean');
  await page.getByText('Clean', { exact: true }).waitFor();
  const bad = await attach('worm.txt');
  await scan(bad, 'infected');
  await page.getByText('Infected: it is not sent').waitFor();
  await page.getByRole('button', { name: 'Remove worm.txt' }).click();
  await composer(page).fill('Here it is');
  await page.keyboard.press('Enter');
  const download = page.waitForEvent('download');
  await said(page).getByRole('button', { name: 'offer.txt' }).click();
  assert.equal((await download).suggestedFilename(), 'offer.txt');
  const [message] = await transcript(id, visitor);
  assert.deepEqual(
    message.attachment.files.map(({ name }: Json) => name),
    ['offer.txt'],
  );
  assert.deepEqual(at.complaints, []);
});

test('nothing is lost when the connection is, or the page', async () => {
  await using proxy = await startProxy(server);
  const at = await sitDown({}, proxy);
  const { page } = at;
  const { id, visitor } = await take(at, 'Gil');
  proxy.shut(true);
  proxy.cut();
  await composer(page).fill('Are you there?');
  await page.keyboard.press('Enter');
  await composer(page).fill('A second one');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Try again' }).first().waitFor();
  await composer(page).fill('and half a sen');
  await say(id, visitor, 'I was away');
  proxy.shut(false);
  await page.reload();
  await said(page).getByText('I was away').waitFor();
  await until(async () => (await transcript(id, visitor)).length === 3);
  assert.deepEqual(await contents(id, visitor), ['I was away', 'Are you there?', 'A second one']);
  await page.getByRole('article', { name: 'Not sent yet' }).waitFor({ state: 'detached' });
  assert.deepEqual(
    await said(page).getByRole('article').locator('.user-text').allInnerTexts(),
    await contents(id, visitor),
  );
  assert.equal(await composer(page).inputValue(), 'and half a sen');
  // While the page stays: what was missed comes by itself, once, in order.
  proxy.shut(true);
  proxy.cut();
  await say(id, visitor, 'One more');
  await composer(page).fill('Sent while away');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  proxy.shut(false);
  await page.getByRole('article', { name: 'Not sent yet' }).waitFor({ state: 'detached' });
  await said(page).getByText('One more').waitFor();
  const order = await contents(id, visitor);
  assert.deepEqual(order.slice(3), ['One more', 'Sent while away']);
  assert.deepEqual(await said(page).getByRole('article').locator('.user-text').allInnerTexts(), order);
  assert.deepEqual(at.complaints, []);
});

test('a session that ends while somebody writes: signed in again, the message goes out', async () => {
  const at = await sitDown();
  const { page, operator } = at;
  const { id, visitor } = await take(at, 'Hal');
  expectStatus(await call(server, 'DELETE /operator_authentication/sessions', operator), 204);
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await composer(page).fill('Half');
  await composer(page).fill('A whole sentence');
  await composer(page).press('Enter');
  await dialog.waitFor();
  await dialog.getByText('API key', { exact: true }).click();
  await dialog.getByLabel('Key id').fill(operator.key.id);
  await dialog.getByLabel('Key secret').fill(operator.key.secret);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  await said(page).getByText('✓ Sent').waitFor();
  assert.deepEqual(await contents(id, visitor), ['A whole sentence']);
  assert.deepEqual(at.complaints, []);
});

test('hands a visitor on to a colleague or a queue, or not after all', async () => {
  const at = await sitDown();
  const { page, own } = at;
  const { id, visitor } = await take(at, 'Ivy');
  await say(id, visitor, 'To whom it may concern');
  const colleague = await makePresent(server, own);
  const other = await makeQueue(server, own, { name: 'Complaints', when_unstaffed: 'accept' });
  const handOn = page.getByRole('button', { name: 'Hand on' });
  const dialog = page.getByRole('dialog', { name: 'Hand on' });
  await handOn.click();
  await dialog.getByText('To a queue').click();
  await dialog.getByLabel('Complaints').check();
  await dialog.getByLabel('Message').fill('Knows a lot');
  await dialog.getByRole('button', { name: 'Hand on' }).click();
  await page.getByText(/Waits in Complaints|Handing on/).waitFor();
  await page.reload();
  await page.getByText('Waits in Complaints').waitFor();
  await page.getByRole('button', { name: 'Call off' }).click();
  await page.getByText('Waits in Complaints').waitFor({ state: 'detached' });
  assert.notEqual(other, at.queue);

  await handOn.click();
  await dialog.getByLabel('Somebody').check();
  await dialog.getByLabel('Message').fill('Please take over');
  await dialog.getByRole('button', { name: 'Hand on' }).click();
  await page.getByText('Handing on to Somebody').waitFor();
  const pending = await call(server, 'GET /transfer_requests?state=pending', colleague);
  const [request] = pending.body.transfer_requests;
  assert.equal(request.message, 'Please take over');
  const accept = { token: colleague.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${request.id}`, accept), 200);
  await page.getByText('Handed on to a colleague.').waitFor();
  await said(page).getByText('To whom it may concern').waitFor();
  assert.equal(await composer(page).count(), 0);
  // And back, as an offer.
  const body = { engagement_id: id, operator_id: at.operator.id, message: 'Yours after all' };
  expectStatus(await call(server, 'POST /transfer_requests', { token: colleague.token, body }), 201);
  await offers(page).getByText('Yours after all').waitFor();
  await page.keyboard.press('Alt+A');
  await composer(page).waitFor();
  assert.deepEqual(at.complaints, []);
});

test('who the visitor is, what was before, and the end', async () => {
  const at = await sitDown({ colorScheme: 'dark' });
  const { page, own } = at;
  const first = await take(at, 'Jo');
  await say(first.id, first.visitor, 'The first time');
  const panel = page.getByRole('form', { name: 'Visitor details' });
  await panel.getByLabel('E-mail').fill('no address');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByText(/must match/).waitFor();
  await panel.getByLabel('E-mail').fill('jo@test.example');
  await panel.getByLabel('Note').fill('Calls on Mondays');
  await panel.getByRole('button', { name: 'Add an attribute' }).click();
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

  await page.keyboard.press('Alt+X');
  await page.getByRole('dialog', { name: 'End the conversation?' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('You ended it.').waitFor();
  await page.reload();
  await said(page).getByText('The first time').waitFor();
  expectStatus(await askIn(server, own, { queue_ids: [at.queue] }, first.visitor), 201);
  await offers(page).getByText('Jo').waitFor();
  await page.keyboard.press('Alt+A');
  await page.waitForURL((url) => !url.pathname.endsWith(first.id));
  await page.getByRole('region', { name: 'Before' }).getByRole('button').click();
  await page.getByRole('dialog').getByText('The first time').waitFor();
  assert.deepEqual(await barriersOf(page), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByRole('button', { name: 'Put away' }).click();
  await page.getByRole('link').filter({ hasText: 'Over' }).waitFor({ state: 'detached' });
  assert.deepEqual(at.complaints, []);
});

test('on a phone: one thing at a time, nothing beyond the edge', async () => {
  const at = await sitDown({ viewport: { width: 375, height: 700 } });
  const { page } = at;
  const fits = async (): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
  const { id, visitor } = await take(at, 'A name without any space '.replaceAll(' ', '').repeat(8));
  await say(id, visitor, 'x'.repeat(400));
  await said(page).getByText('xxx').waitFor();
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

test('a call: asked for, accepted, heard and seen, muted, hung up; and another after a reload', async () => {
  const at = await sitDown();
  const { page } = at;
  const { id, visitor } = await take(at, 'Kim');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Video call' }).click();
  await page.getByText('You have asked for a video call').waitFor();
  const { body } = await call(server, `GET /engagements/${id}/media_upgrade_requests`, { token: visitor.token });
  const [asked] = body.media_upgrade_requests;
  const accept = { token: visitor.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /engagements/${id}/media_upgrade_requests/${asked.id}`, accept), 200);
  const other = await browser.newPage();
  const media = { audio: 'two_way', video: 'two_way' };
  const caller = new Caller(other.page, server.url, { token: visitor.token, engagementId: id, side: 'visitor', media });
  await caller.open();
  await caller.join();
  const panel = page.getByRole('region', { name: 'Call' });
  await panel.getByText('In a call').waitFor({ timeout: 30_000 });
  await caller.untilState('connected');
  await caller.untilMore('frames');
  await page.waitForFunction(`document.querySelector('video[aria-label="The visitor"]')?.videoWidth > 0`);
  await panel.getByRole('button', { name: 'Mute' }).click();
  await caller.untilView((view) => view.other.microphone === false, 'that the operator is muted');
  assert.deepEqual(await barriersOf(page), []);
  await page.reload();
  await panel.getByText('In a call').waitFor({ timeout: 30_000 });
  await panel.getByRole('button', { name: 'Hang up' }).click();
  await caller.untilState('ended');
  await panel.getByText('You hung up.').waitFor();
  await panel.getByRole('button', { name: 'Call again' }).waitFor();
  await other.context.close();
  assert.deepEqual(at.complaints, []);
});

test('is available while the page is open, also over a reload, and half a minute longer', async () => leaving);
