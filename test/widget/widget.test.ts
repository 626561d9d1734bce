import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { forThisFile } from '../support/fixture.ts';
import { setPicture } from '../support/people/pictures.ts';
import { proof } from '../support/proof.ts';
import { startProxy } from '../support/network/proxy.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { askToTalk, openShop, say, takeVisitor, visit, write, type Shop } from '../support/browser/widget.ts';
import { expectStatus, makeAvailableOperator, makeQueue, setPresence } from '../support/world.ts';

const server = await forThisFile(startTestServer({ scanner: { kind: 'manual' } }));
const browser = await forThisFile(openBrowser());
// Open pages use processor time, most of all those with a call.
afterEach(async () => {
  for (const context of browser.browser.contexts()) await context.close();
});

async function transcript({ operator }: Shop, engagement: string): Promise<Json[]> {
  const path = `/engagements/${engagement}/chat_transcript`;
  return expectStatus(await call(server, `GET ${path}`, { token: operator.token }), 200).body;
}

/** The visitor's messages, as the operator reads them. */
async function visitorMessages(shop: Shop, engagement: string): Promise<string[]> {
  const messages = await transcript(shop, engagement);
  return messages.filter(({ sender }) => sender.type === 'visitor').map(({ content }) => content);
}

async function visitorsOf({ own }: Shop): Promise<number> {
  const [row] = await server.database.sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM visitors WHERE site_id = ${own.siteId}`;
  return row?.count ?? -1;
}

test('on a page of another origin with hostile styles, a visitor asks for a chat, is accepted, transferred, and ends it', async () => {
  await using shop = await openShop(server);
  const named = { display_name: 'Ann of Sales' };
  expectStatus(await call(server, `PATCH /operators/${shop.operator.id}`, { token: shop.own.admin, body: named }), 200);
  await setPicture(server, shop.operator, shop.operator.id);
  const { page, complaints } = await visit(browser, shop);
  const button = page.getByRole('button', { name: 'Chat with us' });
  await button.waitFor();
  const box = await button.boundingBox();
  assert.ok(box !== null && box.x > 900 && box.y > 600 && box.height >= 44, JSON.stringify(box));
  assert.equal(await visitorsOf(shop), 0, 'a person who only sees the button is no visitor');

  await askToTalk(page, 'Chat', 'Ada');
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await say(server, shop, engagement, 'Good morning');
  await page.getByText('Good morning').waitFor();
  // The picture is drawn on a canvas: the content security policy of the page blocks images of Usher.
  const header = page.getByRole('group', { name: "You're chatting with" });
  await header.getByText('Ann of Sales').waitFor();
  await header.locator('canvas').waitFor();
  await page.getByRole('log').getByText('Ann of Sales').waitFor();
  await write(page, 'Do you have <b>chairs</b>?');
  await page.getByText('Do you have <b>chairs</b>?').waitFor();
  await until(async () => (await visitorMessages(shop, engagement)).length === 1);
  assert.deepEqual(await visitorMessages(shop, engagement), ['Do you have <b>chairs</b>?']);
  await until(async () => (await transcript(shop, engagement))[0].status === 'delivered');

  const { id } = (await transcript(shop, engagement)).find(({ sender }) => sender.type === 'visitor');
  const path = `/engagements/${engagement}/chat_messages/${id}`;
  const body = { status: 'delivered' };
  expectStatus(await call(server, `PATCH ${path}`, { token: shop.operator.token, body }), 200);
  await page.getByText('Delivered').waitFor();

  const { visitor_id } = expectStatus(
    await call(server, `GET /engagements/${engagement}`, { token: shop.operator.token }),
    200,
  ).body;
  const visitor = `/sites/${shop.own.siteId}/visitors/${visitor_id}`;
  assert.equal(
    expectStatus(await call(server, `GET ${visitor}`, { token: shop.operator.token }), 200).body.name,
    'Ada',
  );

  const { id: operator_id, token } = await makeAvailableOperator(server, shop.own);
  const transfer = { token: shop.operator.token, body: { engagement_id: engagement, operator_id } };
  const { id: request } = expectStatus(await call(server, 'POST /transfer_requests', transfer), 201).body;
  expectStatus(await call(server, `PATCH /transfer_requests/${request}`, { token, body: { action: 'accept' } }), 200);
  await page.getByText("You're now chatting with Somebody").waitFor();
  await header.getByText('Somebody').waitFor();
  await page.getByRole('log').getByText('Ann of Sales').waitFor();

  await page.getByRole('button', { name: 'End chat' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'End chat' }).click();
  await page.getByText('You ended the conversation.').waitFor();
  await page.getByText('Good morning').waitFor();
  await page.getByRole('button', { name: 'Start again' }).click();
  await page.getByRole('button', { name: 'Chat', exact: true }).waitFor();
  assert.equal(await visitorsOf(shop), 1);
  assert.deepEqual(complaints, []);
});

test('the button is shown only while a queue is open', async () => {
  await using shop = await openShop(server, { presence: { media: ['text', 'audio'] } });
  const { page, context, complaints } = await browser.newPage();
  await context.clock.install();
  await page.goto(shop.url);
  const button = page.getByRole('button', { name: 'Chat with us' });
  await button.waitFor();
  await setPresence(server, shop.operator, { available: false });
  await context.clock.fastForward(30_000);
  await button.waitFor({ state: 'detached' });
  await setPresence(server, shop.operator, { media: ['text', 'audio'] });
  await context.clock.fastForward(30_000);
  await button.click();
  await page.getByRole('button', { name: 'Call', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Video call' }).count(), 0);

  // If the queue closes while the panel is open, the panel says so.
  await setPresence(server, shop.operator, { available: false });
  await context.clock.fastForward(30_000);
  await page.getByText("We're offline right now.").waitFor();
  assert.equal(await visitorsOf(shop), 0);
  assert.deepEqual(complaints, []);
});

test('a visitor who asks after the queue has closed sees why they cannot enter, and can try again', proof, async () => {
  await using shop = await openShop(server);
  const { page, complaints } = await visit(browser, shop);
  await page.getByRole('button', { name: 'Chat with us' }).waitFor();
  await setPresence(server, shop.operator, { available: false });
  await askToTalk(page);
  await page.getByText('No one is available right now.').waitFor();
  await setPresence(server, shop.operator);
  await page.getByRole('button', { name: 'Chat', exact: true }).click();
  await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  assert.deepEqual(complaints, []);
});

test('only the queues named in the tag are used', proof, async () => {
  const named = { routing_policy: { media: ['video'] } };
  await using shop = await openShop(server, { attributes: 'data-queues="00000000-0000-4000-8000-000000000000"' });
  await makeQueue(server, shop.own, named);
  const { page } = await browser.newPage();
  const availability = page.waitForResponse((response) => response.url().includes('/availability'));
  await page.goto(shop.url);
  assert.equal((await (await availability).json()).open, false);
  assert.equal(await page.getByRole('button').count(), 0);
});

test('a waiting visitor moves up, keeps their place after a reload and in another tab, and can stop waiting', async () => {
  await using shop = await openShop(server, { queueFields: { when_unstaffed: 'accept' } });
  await setPresence(server, shop.operator, { available: false });
  const first = await visit(browser, shop);
  await askToTalk(first.page);
  await first.page.getByText('You are first in line').waitFor();
  const second = await visit(browser, shop);
  await askToTalk(second.page);
  await second.page.getByText('You are number 2 in line').waitFor();

  await second.page.reload();
  await second.page.getByText('You are number 2 in line').waitFor();
  const tab = await second.context.newPage();
  await tab.goto(`${shop.url}/other`);
  await tab.getByRole('button', { name: 'You are number 2 in line' }).waitFor();

  await first.page.getByRole('button', { name: 'Stop waiting' }).click();
  await first.page.getByRole('button', { name: 'Chat', exact: true }).waitFor();
  await second.page.getByText('You are first in line').waitFor();
  await tab.getByRole('button', { name: 'You are first in line' }).waitFor();
  assert.equal(await visitorsOf(shop), 2);

  await tab.getByRole('button', { name: 'You are first in line' }).click();
  await tab.getByRole('button', { name: 'Stop waiting' }).click();
  await second.page.getByRole('button', { name: 'Chat', exact: true }).waitFor();
  assert.deepEqual([...first.complaints, ...second.complaints], []);
});

test('a visitor whose ticket an operator cancels sees that it was cancelled', proof, async () => {
  await using shop = await openShop(server, { queueFields: { when_unstaffed: 'accept' } });
  await setPresence(server, shop.operator, { available: false });
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  await page.getByText('You are first in line').waitFor();
  const path = `/queues/${shop.queue}/tickets`;
  const [ticket] = expectStatus(await call(server, `GET ${path}`, { token: shop.own.admin }), 200).body.queue_tickets;
  const body = { action: 'cancel' };
  expectStatus(await call(server, `PATCH /queue_tickets/${ticket.id}`, { token: shop.own.admin, body }), 200);
  await page.getByText('Your request was cancelled.').waitFor();
});

test('a card in the welcome message takes one choice, which is sent as an option, and hostile text stays text', async () => {
  const hostile = '<img src=x onerror="document.title=1">';
  const card = {
    content: `Hello ${hostile}`,
    attachment: {
      type: 'single_choice',
      options: [
        { text: `Chairs ${hostile}`, value: 'chairs' },
        { text: 'שולחנות', value: 'tables' },
      ],
    },
  };
  await using shop = await openShop(server, { queueFields: { welcome_message: JSON.stringify(card) } });
  const { page, complaints } = await visit(browser, shop);
  await askToTalk(page, 'Chat', hostile);
  const engagement = await takeVisitor(server, shop);
  await page.getByText(`Hello ${hostile}`).waitFor();
  await page.getByRole('button', { name: `Chairs ${hostile}` }).click();
  await page.getByRole('button', { name: `✓ Chairs ${hostile}` }).waitFor();
  assert.ok(await page.getByRole('button', { name: 'שולחנות' }).isDisabled());
  const chosen = async (): Promise<Json[]> =>
    (await transcript(shop, engagement)).filter(({ sender }) => sender.type === 'visitor');
  await until(async () => (await chosen()).length === 1);
  assert.deepEqual(
    (await chosen()).map(({ content, attachment }) => ({ content, attachment })),
    [
      {
        content: `Chairs ${hostile}`,
        attachment: { type: 'single_choice_response', selected_option: 'chairs' },
      },
    ],
  );
  await page.reload();
  await page.getByRole('button', { name: `✓ Chairs ${hostile}` }).waitFor();
  assert.ok(await page.getByRole('button', { name: 'שולחנות' }).isDisabled());
  assert.equal(await page.locator('usher-widget img').count(), 0);
  assert.equal(await page.title(), 'Shop');
  assert.deepEqual(complaints, []);
});

test('a file is sent when its scan is clean, refused when it is infected, and can be downloaded', async () => {
  await using shop = await openShop(server);
  const { page, complaints } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  const scan = async (name: string, result: string): Promise<void> => {
    const path = `/engagements/${engagement}/files`;
    let file: Json;
    await until(async () => {
      const { files } = expectStatus(await call(server, `GET ${path}`, { token: shop.operator.token }), 200).body;
      file = files.find((each: Json) => each.name === name);
      return file !== undefined;
    });
    const body = { result };
    expectStatus(await call(server, `PUT /files/${file.id}/security_scan`, { token: shop.own.admin, body }), 200);
  };
  const send = async (name: string): Promise<void> =>
    page
      .locator('usher-widget input[type=file]')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(`of ${name}`) });

  await page.getByText('You are connected.').waitFor();
  await send('good.txt');
  await page.getByText('Scanning for viruses…').waitFor();
  // A file that is being scanned survives a reload.
  await page.reload();
  await page.getByText('Scanning for viruses…').waitFor();
  await scan('good.txt', 'clean');
  await page.getByRole('button', { name: 'Download good.txt' }).waitFor();
  await send('bad.txt');
  await scan('bad.txt', 'infected');
  await page.getByText('A virus was found in this file.').waitFor();
  await page.getByRole('button', { name: 'Remove bad.txt' }).click();
  assert.equal((await visitorMessages(shop, engagement)).length, 1);

  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download good.txt' }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), 'good.txt');
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  assert.equal(Buffer.concat(chunks).toString(), 'of good.txt');
  assert.deepEqual(complaints, []);
});

test('each side sees when the other is typing', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  const path = `/engagements/${engagement}/typing_indicator`;
  const { token } = shop.operator;
  expectStatus(await call(server, `PUT ${path}`, { token, body: { typing: true } }), 204);
  await page.getByLabel('Someone is typing').waitFor();
  await say(server, shop, engagement, 'There');
  await page.getByLabel('Someone is typing').waitFor({ state: 'detached' });

  const reported = (typing: boolean) =>
    page.waitForRequest((request) => request.url().endsWith(path) && request.postDataJSON().typing === typing);
  const isTyping = reported(true);
  await page.getByLabel('Message', { exact: true }).pressSequentially('Hel');
  assert.equal((await (await isTyping).response())?.status(), 204);
  const isDone = reported(false);
  await page.keyboard.press('Enter');
  assert.equal((await (await isDone).response())?.status(), 204);
});

test('when the connection breaks, no message is lost or sent twice', async () => {
  await using proxy = await startProxy(server);
  await using shop = await openShop(server, { through: proxy });
  const { page, complaints } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await write(page, 'before');
  await until(async () => (await visitorMessages(shop, engagement)).length === 1);
  await page.getByText('Sending…').waitFor({ state: 'detached' });

  proxy.shut(true);
  await page.getByText('Connection lost.').waitFor();
  await say(server, shop, engagement, 'said meanwhile');
  await write(page, 'written meanwhile');
  await page.getByText('Sending…').waitFor();
  proxy.shut(false);
  await page.getByText('said meanwhile').waitFor();
  await until(async () => (await visitorMessages(shop, engagement)).length === 2);
  await page.getByText('Connection lost.').waitFor({ state: 'detached' });

  // The response to a message is lost. The message is sent again and stored once.
  const cut = proxy.cutAfter(0);
  await write(page, 'once');
  await cut;
  await until(async () => (await visitorMessages(shop, engagement)).length === 3);
  await page.getByText('Sending…').waitFor({ state: 'detached' });
  assert.deepEqual(await visitorMessages(shop, engagement), ['before', 'written meanwhile', 'once']);
  assert.equal(await page.getByText('once', { exact: true }).count(), 1);
  assert.deepEqual(complaints, []);
});

test('a message written while the server was unreachable is sent after a reload', async () => {
  await using proxy = await startProxy(server);
  await using shop = await openShop(server, { through: proxy });
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await page.route('**/chat_messages/**', async (route) => route.abort());
  await write(page, 'not lost');
  await page.getByText('Sending…').waitFor();
  await page.unroute('**/chat_messages/**');
  await page.reload();
  await page.getByText('not lost').waitFor();
  await until(async () => (await visitorMessages(shop, engagement)).length === 1);
  await page.getByText('Sending…').waitFor({ state: 'detached' });
  assert.deepEqual(await visitorMessages(shop, engagement), ['not lost']);
});

test('two tabs share one visitor and one conversation', async () => {
  await using shop = await openShop(server);
  const { page, context } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  const tab = await context.newPage();
  await tab.goto(`${shop.url}/other`);
  await tab.getByRole('button', { name: 'Back to the conversation' }).click();
  await write(tab, 'from the second');
  await page.getByText('from the second').waitFor();
  await tab.getByRole('button', { name: 'Minimize chat' }).click();
  await say(server, shop, engagement, 'to both');
  await page.getByText('to both').waitFor();
  await tab.getByRole('button', { name: 'Back to the conversation 1 new message' }).waitFor();
  assert.deepEqual(await visitorMessages(shop, engagement), ['from the second']);
});

test(
  'a token that is about to expire is renewed, and a visitor unknown to the server is created again',
  proof,
  async () => {
    await using shop = await openShop(server);
    const { page, complaints } = await visit(browser, shop);
    await askToTalk(page);
    const engagement = await takeVisitor(server, shop);
    await page.getByText('You are connected.').waitFor();
    const change = async (changes: Json): Promise<Json> =>
      page.evaluate<Json>(`(() => {
      const name = ${JSON.stringify(`usher.${shop.own.siteId}.visitor`)};
      const stored = JSON.parse(localStorage.getItem(name));
      localStorage.setItem(name, JSON.stringify({ ...stored, ...${JSON.stringify(changes)} }));
      return stored;
    })()`);
    const before = await change({ expiresAt: Date.now() + 60_000 });
    const renewed = page.waitForResponse((response) => response.url().endsWith('/token'));
    await write(page, 'still there');
    assert.equal((await renewed).status(), 200);
    await until(async () => (await visitorMessages(shop, engagement)).length === 1);
    const after = await change({ token: 'garbage' });
    assert.equal(after.id, before.id);
    assert.notEqual(after.token, before.token);

    await page.reload();
    await page.getByRole('button', { name: 'Chat', exact: true }).click();
    await until(async () => (await visitorsOf(shop)) === 2);
    await page.getByText('in line').or(page.getByText('Connecting you now')).waitFor();
    assert.deepEqual(complaints, []);
  },
);

test(
  'a visitor can decline an invitation to a call, and sees when the operator ends the conversation',
  proof,
  async () => {
    await using shop = await openShop(server);
    const { page } = await visit(browser, shop);
    await askToTalk(page);
    const engagement = await takeVisitor(server, shop);
    await page.getByText('You are connected.').waitFor();
    const path = `/engagements/${engagement}/media_upgrade_requests`;
    const { token } = shop.operator;
    const body = { audio: 'two_way', video: 'one_way' };
    const { id } = expectStatus(await call(server, `POST ${path}`, { token, body }), 201).body;
    await page.getByText('Join a video call? Only our camera will be on.').waitFor();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('button', { name: 'Decline' }).waitFor({ state: 'detached' });
    assert.equal(expectStatus(await call(server, `GET ${path}/${id}`, { token }), 200).body.state, 'declined');
    const end = { action: 'end' };
    expectStatus(await call(server, `PATCH /engagements/${engagement}`, { token, body: end }), 200);
    await page.getByText('The conversation has ended.').waitFor();
  },
);
