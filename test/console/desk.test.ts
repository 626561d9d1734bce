import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from 'playwright-core';
import { comesTrue, openBrowser } from '../support/browser/browser.ts';
import { barriersOf } from '../support/browser/console.ts';
import {
  enterQueue,
  composer,
  contents,
  offers,
  messageList,
  say,
  openDesk,
  acceptVisitor,
  transcript,
} from '../support/browser/desk.ts';
import { forThisFile } from '../support/fixture.ts';
import { startProxy } from '../support/network/proxy.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { acceptOffer, expectStatus } from '../support/world.ts';

const server = await forThisFile(startTestServer({ scanner: { kind: 'manual' } }));
const browser = await forThisFile(openBrowser());

test('an operator accepts several visitors by keyboard and chats with each', async () => {
  const at = await openDesk({ server, browser }, { colorScheme: 'light' });
  const { page, operator } = at;
  const ada = await acceptVisitor(at, 'Ada');
  assert.match(await page.title(), /^Desk/);
  await say(at, ada.id, ada.visitor, 'My invoice is wrong: https://shop.example/a?b=1, javascript:alert(1)');
  await messageList(page).getByText('My invoice is wrong').waitFor();
  // The list shortens the text; the title has all of it.
  const preview = page.getByRole('list', { name: 'Conversations' }).getByText('My invoice is wrong');
  await preview.hover();
  await page.getByTitle('javascript:alert(1)').waitFor();
  const link = messageList(page).getByRole('link');
  assert.deepEqual(await Promise.all(['href', 'target', 'rel'].map(async (name) => link.getAttribute(name))), [
    'https://shop.example/a?b=1',
    '_blank',
    'noopener noreferrer nofollow',
  ]);
  // The operator sees the message, so it is acknowledged.
  await until(async () => (await transcript(at, ada.id, ada.visitor))[0].status === 'delivered');
  await page.keyboard.type('Which one?');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('March?');
  await page.keyboard.press('Enter');
  await messageList(page).getByText('✓ Sent').waitFor();
  const [, answer] = await transcript(at, ada.id, ada.visitor);
  const { type, id } = answer.sender;
  assert.deepEqual([answer.content, type, id], ['Which one?\nMarch?', 'operator', operator.id]);
  const path = `/engagements/${ada.id}/chat_messages/${answer.id}`;
  await call(server, `PATCH ${path}`, { token: ada.visitor.token, body: { status: 'delivered' } });
  await messageList(page).getByText('✓✓ Delivered').waitFor();

  await acceptVisitor(at, 'Bo <b>');
  await say(at, ada.id, ada.visitor, 'March, yes');
  const first = page.getByRole('list', { name: 'Conversations' }).getByRole('link', { name: 'Ada' });
  await first.getByLabel('1 unread').waitFor();
  await comesTrue(page, `document.title.startsWith('(1) Desk')`);
  await first.getByText(/^Waiting /).waitFor();
  await page.keyboard.press('Alt+ArrowUp');
  await messageList(page).getByText('March, yes').waitFor();
  await first.getByLabel('1 unread').waitFor({ state: 'detached' });
  await comesTrue(page, `document.activeElement?.getAttribute('aria-label') === 'Message'`);
  assert.deepEqual(await barriersOf(page), []);
  assert.deepEqual(at.complaints, []);
});

test('an offer can be answered on any page, counts down, and disappears when somebody else answers it', async () => {
  const at = await openDesk({ server, browser });
  const { page } = at;
  await page.goto(`${server.url}/console/account`);
  const { ticket, visitor } = await enterQueue(at, 'Cy');
  const offer = offers(page).getByRole('article', { name: 'Offer: Cy' });
  await offer.getByText('Invoices').waitFor();
  await comesTrue(page, `document.title.startsWith('(1) ')`);
  const left = async (): Promise<number> => Number.parseInt(await offer.getByText(/^\d+ s$/).innerText(), 10);
  const before = await left();
  assert.ok(before > 0 && before <= 30, `${before} s left`);
  await until(async () => (await left()) < before);
  await page.keyboard.press('Alt+D');
  const requests = async (): Promise<Json[]> =>
    (await call(server, 'GET /engagement_requests', at.operator)).body.engagement_requests;
  await until(async () => (await requests()).some(({ fail_reason }) => fail_reason === 'rejected'));
  // There is no other operator: the offer is repeated until the visitor leaves.
  const cancel = { token: visitor.token, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${ticket}`, cancel), 200);
  await offer.waitFor({ state: 'detached' });

  await enterQueue(at, 'Dee');
  await offers(page).getByRole('article', { name: 'Offer: Dee' }).waitFor();
  await acceptOffer(server, at.operator);
  await offers(page).waitFor({ state: 'detached' });
  assert.deepEqual(at.complaints, []);
});

test('typing indicators, response cards and suggestions of the assistant work', async () => {
  const at = await openDesk({ server, browser });
  const { page, own } = at;
  const { id, visitor } = await acceptVisitor(at, 'Eve');
  const typing = async (on: boolean): Promise<void> => {
    const body = { typing: on };
    expectStatus(await call(server, `PUT /engagements/${id}/typing_indicator`, { token: visitor.token, body }), 204);
  };
  await typing(true);
  await page.getByText('Eve is typing').waitFor();
  await typing(false);
  await page.getByText('Eve is typing').waitFor({ state: 'detached' });
  const sentIndicators: Json[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/typing_indicator')) sentIndicators.push(request.postDataJSON());
  });
  await composer(page).pressSequentially('Hello');
  await page.keyboard.press('Enter');
  await until(() => sentIndicators.length === 2);
  assert.deepEqual(sentIndicators, [{ typing: true }, { typing: false }], 'not with every key');

  await page.getByRole('button', { name: 'Card' }).click();
  await page.getByLabel('Question').fill('Which plan?');
  await page.getByLabel('Choice 1').fill('Basic');
  await page.getByLabel('Choice 2').fill('<i>Plus</i>');
  await page.getByRole('button', { name: 'Send card' }).click();
  await messageList(page).getByText('Which plan?').waitFor();
  await until(async () => (await transcript(at, id, visitor)).length === 2);
  const attachment = { type: 'single_choice_response', selected_option: '<i>Plus</i>' };
  await say(at, id, visitor, { content: 'The big one', attachment });
  const chosen = messageList(page)
    .getByRole('listitem')
    .filter({ has: page.getByLabel('Chosen') });
  assert.equal(await chosen.innerText(), '<i>Plus</i>');

  const body = { sender: 'omniguide', content: 'Offer a discount.', metadata: { type: 'suggestion' } };
  expectStatus(await call(server, `POST /engagements/${id}/system_messages`, { token: own.admin, body }), 201);
  await page.getByRole('button', { name: 'Use reply' }).click();
  assert.equal(await composer(page).inputValue(), 'Offer a discount.');
  assert.deepEqual(at.complaints, []);
});

test('files show upload progress and scan results, and can be downloaded', async () => {
  const at = await openDesk({ server, browser });
  const { page, own } = at;
  const { id, visitor } = await acceptVisitor(at, 'Flo');
  const attach = async (name: string): Promise<Json> => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach a file' }).click();
    await (await chooser).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(`This is ${name}`) });
    await page.getByRole('listitem').filter({ hasText: name }).getByText('Scanning…').waitFor();
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
  await page.getByText('Scanning…').waitFor();
  await scan(good, 'clean');
  await page.getByText('Clean', { exact: true }).waitFor();
  const bad = await attach('worm.txt');
  await scan(bad, 'infected');
  await page.getByText('Virus found: not sent').waitFor();
  await page.getByRole('button', { name: 'Remove worm.txt' }).click();
  await composer(page).fill('Here it is');
  await page.keyboard.press('Enter');
  const download = page.waitForEvent('download');
  await messageList(page).getByRole('button', { name: 'offer.txt' }).click();
  assert.equal((await download).suggestedFilename(), 'offer.txt');
  const [message] = await transcript(at, id, visitor);
  assert.deepEqual(
    message.attachment.files.map(({ name }: Json) => name),
    ['offer.txt'],
  );
  assert.deepEqual(at.complaints, []);
});

test('files can be dropped or pasted into a conversation, and are marked as not scanned without a scanner', async () => {
  await using unscanned = await startTestServer({ scanner: { kind: 'none' } });
  const at = await openDesk({ server: unscanned, browser });
  const { page } = at;
  await acceptVisitor(at, 'Fay');
  const transfer = async (event: string, element: string, name: string): Promise<void> =>
    page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(['This is a file'], '${name}', { type: 'text/plain' }));
      const init = { bubbles: true, cancelable: true };
      const event = '${event}' === 'paste'
        ? new ClipboardEvent('paste', { ...init, clipboardData: data })
        : new DragEvent('${event}', { ...init, dataTransfer: data });
      document.querySelector('${element}').dispatchEvent(event);
      window.taken = event.defaultPrevented;
    })()`);
  const staged = page.getByRole('list', { name: 'Files to send' }).getByRole('listitem');
  await transfer('drop', 'textarea[aria-label="Message"]', 'dropped.txt');
  await transfer('paste', 'textarea[aria-label="Message"]', 'pasted.txt');
  await transfer('drop', 'section[aria-label="Messages"]', 'above.txt');
  await until(async () => (await staged.getByText('Not scanned', { exact: true }).count()) === 3);
  assert.equal(await staged.getByText('Clean', { exact: true }).count(), 0);
  await transfer('dragover', 'section[aria-label="Messages"]', 'over.txt');
  await page.getByText('Drop files to attach').waitFor();
  await transfer('drop', 'nav', 'beside.txt');
  assert.equal(await page.evaluate('window.taken'), true, 'the browser does not open it in the place of the console');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await messageList(page).getByRole('button', { name: 'above.txt' }).waitFor();
  assert.equal(await staged.count(), 0);
  assert.deepEqual(at.complaints, []);
});

test('drafts and unsent messages survive a lost connection and a reload', async () => {
  await using proxy = await startProxy(server);
  const at = await openDesk({ server, browser }, {}, proxy);
  const { page } = at;
  const { id, visitor } = await acceptVisitor(at, 'Gil');
  proxy.shut(true);
  proxy.cut();
  await composer(page).fill('Are you there?');
  await page.keyboard.press('Enter');
  await composer(page).fill('A second one');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Try again' }).first().waitFor();
  await composer(page).fill('and half a sen');
  await say(at, id, visitor, 'I was away');
  proxy.shut(false);
  await page.reload();
  await messageList(page).getByText('I was away').waitFor();
  await until(async () => (await transcript(at, id, visitor)).length === 3);
  assert.deepEqual(await contents(at, id, visitor), ['I was away', 'Are you there?', 'A second one']);
  await page.getByRole('article', { name: 'Not sent yet' }).waitFor({ state: 'detached' });
  assert.deepEqual(
    await messageList(page).getByRole('article').locator('.user-text').allInnerTexts(),
    await contents(at, id, visitor),
  );
  assert.equal(await composer(page).inputValue(), 'and half a sen');
  // Without a reload, missed messages arrive once and in order.
  proxy.shut(true);
  proxy.cut();
  await say(at, id, visitor, 'One more');
  await composer(page).fill('Sent while away');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  proxy.shut(false);
  await page.getByRole('article', { name: 'Not sent yet' }).waitFor({ state: 'detached' });
  await messageList(page).getByText('One more').waitFor();
  const order = await contents(at, id, visitor);
  assert.deepEqual(order.slice(3), ['One more', 'Sent while away']);
  assert.deepEqual(await messageList(page).getByRole('article').locator('.user-text').allInnerTexts(), order);
  assert.deepEqual(at.complaints, []);
});

test('a message is sent after the operator signs in again during an expired session', async () => {
  const at = await openDesk({ server, browser });
  const { page, operator } = at;
  const { id, visitor } = await acceptVisitor(at, 'Hal');
  // The session ends while the message is being sent.
  const endSession = async (route: Route): Promise<void> => {
    expectStatus(await call(server, 'DELETE /operator_authentication/sessions', operator), 204);
    await route.continue();
  };
  await page.route('**/chat_messages/**', (route) => void endSession(route), { times: 1 });
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await composer(page).fill('A whole sentence');
  await composer(page).press('Enter');
  await dialog.waitFor();
  await dialog.getByText('API key', { exact: true }).click();
  await dialog.getByLabel('Key ID').fill(operator.key.id);
  await dialog.getByLabel('Key secret').fill(operator.key.secret);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  await messageList(page).getByText('✓ Sent').waitFor();
  assert.deepEqual(await contents(at, id, visitor), ['A whole sentence']);
  assert.deepEqual(at.complaints, []);
});
