import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { proof, openBrowser } from '../support/browser.ts';
import { forThisFile } from '../support/fixture.ts';
import { setPicture } from '../support/pictures.ts';
import { startProxy } from '../support/proxy.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { askToTalk, openShop, say, takeVisitor, visit, write, type Shop } from '../support/widget.ts';
import { expectStatus, makePresent, makeQueue, present } from '../support/world.ts';

const server = await forThisFile(startTestServer({ scanner: { kind: 'manual' } }));
const browser = await forThisFile(openBrowser());
// A page that nobody looks at any more takes its share of the machine, one with a call above all.
afterEach(async () => {
  for (const context of browser.browser.contexts()) await context.close();
});

async function transcript({ operator }: Shop, engagement: string): Promise<Json[]> {
  const path = `/engagements/${engagement}/chat_transcript`;
  return expectStatus(await call(server, `GET ${path}`, { token: operator.token }), 200).body;
}

/** What the visitor has written, as the operator reads it. */
async function written(shop: Shop, engagement: string): Promise<string[]> {
  const messages = await transcript(shop, engagement);
  return messages.filter(({ sender }) => sender.type === 'visitor').map(({ content }) => content);
}

async function visitorsOf({ own }: Shop): Promise<number> {
  const [row] = await server.database.sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM visitors WHERE site_id = ${own.siteId}`;
  return row?.count ?? -1;
}

test('from another origin, on a page that would rather not have it: asked for, accepted, and talked both ways', async () => {
  await using shop = await openShop(server);
  const named = { display_name: 'Ann of Sales' };
  expectStatus(await call(server, `PATCH /operators/${shop.operator.id}`, { token: shop.own.admin, body: named }), 200);
  await setPicture(server, shop.operator, shop.operator.id);
  const { page, complaints } = await visit(browser, shop);
  const button = page.getByRole('button', { name: 'Chat with us' });
  await button.waitFor();
  const box = await button.boundingBox();
  assert.ok(box !== null && box.x > 900 && box.y > 600 && box.height >= 44, JSON.stringify(box));
  assert.equal(await visitorsOf(shop), 0, 'who only looks is nobody');

  await askToTalk(page, 'Chat', 'Ada');
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await say(server, shop, engagement, 'Good morning');
  await page.getByText('Good morning').waitFor();
  // Drawn, not loaded as an image: the policy of the page lets in no images of ours.
  const who = page.getByRole('group', { name: "You're chatting with" });
  await who.getByText('Ann of Sales').waitFor();
  await who.locator('canvas').waitFor();
  await page.getByRole('log').getByText('Ann of Sales').waitFor();
  await write(page, 'Do you have <b>chairs</b>?');
  await page.getByText('Do you have <b>chairs</b>?').waitFor();
  await until(async () => (await written(shop, engagement)).length === 1);
  assert.deepEqual(await written(shop, engagement), ['Do you have <b>chairs</b>?']);
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

  const { id: operator_id, token } = await makePresent(server, shop.own);
  const transfer = { token: shop.operator.token, body: { engagement_id: engagement, operator_id } };
  const { id: request } = expectStatus(await call(server, 'POST /transfer_requests', transfer), 201).body;
  expectStatus(await call(server, `PATCH /transfer_requests/${request}`, { token, body: { action: 'accept' } }), 200);
  await page.getByText("You're now chatting with Somebody").waitFor();
  await who.getByText('Somebody').waitFor();
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

test('the button is there while a queue is open, and goes and comes back by itself', async () => {
  await using shop = await openShop(server, { said: { media: ['text', 'audio'] } });
  const { page, context, complaints } = await browser.newPage();
  await context.clock.install();
  await page.goto(shop.url);
  const button = page.getByRole('button', { name: 'Chat with us' });
  await button.waitFor();
  await present(server, shop.operator, { available: false });
  await context.clock.fastForward(30_000);
  await button.waitFor({ state: 'detached' });
  await present(server, shop.operator, { media: ['text', 'audio'] });
  await context.clock.fastForward(30_000);
  await button.click();
  await page.getByRole('button', { name: 'Call', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Video call' }).count(), 0);

  // It closes while somebody has the panel open: what they see says so.
  await present(server, shop.operator, { available: false });
  await context.clock.fastForward(30_000);
  await page.getByText("We're offline right now.").waitFor();
  assert.equal(await visitorsOf(shop), 0);
  assert.deepEqual(complaints, []);
});

test(
  'a queue that closes between looking and asking is said in words, and asking again is possible',
  proof,
  async () => {
    await using shop = await openShop(server);
    const { page, complaints } = await visit(browser, shop);
    await page.getByRole('button', { name: 'Chat with us' }).waitFor();
    await present(server, shop.operator, { available: false });
    await askToTalk(page);
    await page.getByText('Nobody is here for this now.').waitFor();
    await present(server, shop.operator);
    await page.getByRole('button', { name: 'Chat', exact: true }).click();
    await takeVisitor(server, shop);
    await page.getByText('You are connected.').waitFor();
    assert.deepEqual(complaints, []);
  },
);

test('only the queues that the tag names are asked', proof, async () => {
  const named = { routing_policy: { media: ['video'] } };
  await using shop = await openShop(server, { attributes: 'data-queues="00000000-0000-4000-8000-000000000000"' });
  await makeQueue(server, shop.own, named);
  const { page } = await browser.newPage();
  const asked = page.waitForResponse((response) => response.url().includes('/availability'));
  await page.goto(shop.url);
  assert.equal((await (await asked).json()).open, false);
  assert.equal(await page.getByRole('button').count(), 0);
});

test('waiting: the place in the line moves, is kept over a reload and in another tab, and can be given up', async () => {
  await using shop = await openShop(server, { queueFields: { when_unstaffed: 'accept' } });
  await present(server, shop.operator, { available: false });
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

test('an operator who calls it off is an end that is explained', proof, async () => {
  await using shop = await openShop(server, { queueFields: { when_unstaffed: 'accept' } });
  await present(server, shop.operator, { available: false });
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  await page.getByText('You are first in line').waitFor();
  const path = `/queues/${shop.queue}/tickets`;
  const [ticket] = expectStatus(await call(server, `GET ${path}`, { token: shop.own.admin }), 200).body.queue_tickets;
  const body = { action: 'cancel' };
  expectStatus(await call(server, `PATCH /queue_tickets/${ticket.id}`, { token: shop.own.admin, body }), 200);
  await page.getByText('Your request was cancelled.').waitFor();
});

test('a card of the welcome message: one choice, sent as the interface says, and hostile text stays text', async () => {
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

test('files: scanned, sent once they are clean, refused when they are not, downloaded from the other side', async () => {
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
  await page.getByText('Being checked for viruses…').waitFor();
  // What is being scanned is not lost with the page.
  await page.reload();
  await page.getByText('Being checked for viruses…').waitFor();
  await scan('good.txt', 'clean');
  await page.getByRole('button', { name: 'Download good.txt' }).waitFor();
  await send('bad.txt');
  await scan('bad.txt', 'infected');
  await page.getByText('A virus was found in this file.').waitFor();
  await page.getByRole('button', { name: 'Remove bad.txt' }).click();
  assert.equal((await written(shop, engagement)).length, 1);

  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download good.txt' }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), 'good.txt');
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  assert.equal(Buffer.concat(chunks).toString(), 'of good.txt');
  assert.deepEqual(complaints, []);
});

test('typing is seen on both sides', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  const path = `/engagements/${engagement}/typing_indicator`;
  const { token } = shop.operator;
  expectStatus(await call(server, `PUT ${path}`, { token, body: { typing: true } }), 204);
  await page.getByLabel('Somebody is typing').waitFor();
  await say(server, shop, engagement, 'There');
  await page.getByLabel('Somebody is typing').waitFor({ state: 'detached' });

  const told = (typing: boolean) =>
    page.waitForRequest((request) => request.url().endsWith(path) && request.postDataJSON().typing === typing);
  const isTyping = told(true);
  await page.getByLabel('Message', { exact: true }).pressSequentially('Hel');
  assert.equal((await (await isTyping).response())?.status(), 204);
  const isDone = told(false);
  await page.keyboard.press('Enter');
  assert.equal((await (await isDone).response())?.status(), 204);
});

test('a connection that breaks in the middle loses nothing and doubles nothing', async () => {
  await using proxy = await startProxy(server);
  await using shop = await openShop(server, { through: proxy });
  const { page, complaints } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await write(page, 'before');
  await until(async () => (await written(shop, engagement)).length === 1);
  await page.getByText('Sending…').waitFor({ state: 'detached' });

  proxy.shut(true);
  await page.getByText('The connection was lost.').waitFor();
  await say(server, shop, engagement, 'said meanwhile');
  await write(page, 'written meanwhile');
  await page.getByText('Sending…').waitFor();
  proxy.shut(false);
  await page.getByText('said meanwhile').waitFor();
  await until(async () => (await written(shop, engagement)).length === 2);
  await page.getByText('The connection was lost.').waitFor({ state: 'detached' });

  // The answer to a message is lost: it is sent again, and is the same.
  const cut = proxy.cutAfter(0);
  await write(page, 'once');
  await cut;
  await until(async () => (await written(shop, engagement)).length === 3);
  await page.getByText('Sending…').waitFor({ state: 'detached' });
  assert.deepEqual(await written(shop, engagement), ['before', 'written meanwhile', 'once']);
  assert.equal(await page.getByText('once', { exact: true }).count(), 1);
  assert.deepEqual(complaints, []);
});

test('what was written while the server was away is sent after a reload', async () => {
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
  await until(async () => (await written(shop, engagement)).length === 1);
  await page.getByText('Sending…').waitFor({ state: 'detached' });
  assert.deepEqual(await written(shop, engagement), ['not lost']);
});

test('two tabs are one visitor: what is said in one is read in the other', async () => {
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
  await tab.getByRole('button', { name: 'Hide this window' }).click();
  await say(server, shop, engagement, 'to both');
  await page.getByText('to both').waitFor();
  await tab.getByRole('button', { name: 'Back to the conversation 1 new message' }).waitFor();
  assert.deepEqual(await written(shop, engagement), ['from the second']);
});

test(
  'a token that is about to end is renewed, and a visitor whom nobody knows any more begins anew',
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
      const kept = JSON.parse(localStorage.getItem(name));
      localStorage.setItem(name, JSON.stringify({ ...kept, ...${JSON.stringify(changes)} }));
      return kept;
    })()`);
    const before = await change({ expiresAt: Date.now() + 60_000 });
    const renewed = page.waitForResponse((response) => response.url().endsWith('/token'));
    await write(page, 'still there');
    assert.equal((await renewed).status(), 200);
    await until(async () => (await written(shop, engagement)).length === 1);
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
  'an invitation to a call is shown, and declined; the visitor is told when an operator ends it',
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
    await page.getByText('We would like to switch to a video call in which only we are seen.').waitFor();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('button', { name: 'Decline' }).waitFor({ state: 'detached' });
    assert.equal(expectStatus(await call(server, `GET ${path}/${id}`, { token }), 200).body.state, 'declined');
    const end = { action: 'end' };
    expectStatus(await call(server, `PATCH /engagements/${engagement}`, { token, body: end }), 200);
    await page.getByText('The conversation has ended.').waitFor();
  },
);
