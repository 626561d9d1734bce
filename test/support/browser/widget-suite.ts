import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { proof } from '../proof.ts';
import type { RemoteBrowser, RemotePage } from './remote-browser.ts';
import { call, until, type Json, type TestServer } from '../server.ts';
import { openShop, say, takeVisitor, type Shop } from './widget.ts';
import { expectStatus } from '../world.ts';

/** The server and the browser, which are started before the first test. */
export interface Stage {
  readonly server: TestServer;
  readonly browser: RemoteBrowser;
}

const card = {
  content: 'What is it about?',
  attachment: {
    type: 'single_choice',
    options: [
      { text: 'Chairs', value: 'chairs' },
      { text: 'Tables', value: 'tables' },
    ],
  },
};

/** On such a page, `position: fixed` is relative to the page: the widget would be at its end, out of sight. */
const transformedPage = 'html { transform: translateX(0); min-height: 3000px }';

async function writtenBy(sender: string, { server }: Stage, shop: Shop, engagement: string): Promise<Json[]> {
  const path = `/engagements/${engagement}/chat_transcript`;
  const messages: Json[] = expectStatus(await call(server, `GET ${path}`, { token: shop.operator.token }), 200).body;
  return messages.filter((message) => message.sender.type === sender);
}

async function startChat(page: RemotePage): Promise<void> {
  await page.click('Chat with us');
  await page.click('Chat');
}

/** The tests that every browser must pass: run in Firefox and in WebKit. `npm test` runs the first as a smoke test. */
export function testWidget(stage: () => Stage): void {
  test('a visitor waits, chats, chooses an option of a card, sends a file, reloads, continues and ends the chat', async () => {
    const { server, browser } = stage();
    await using shop = await openShop(server, { queueFields: { welcome_message: JSON.stringify(card) } });
    const written = async (): Promise<Json[]> => writtenBy('visitor', stage(), shop, engagement);
    const page = await browser.newPage();
    await page.goto(shop.url);
    await startChat(page);
    await page.untilTrue(`find('button', 'Stop waiting')`);
    const engagement = await takeVisitor(server, shop);
    await page.untilRead('You are connected.');
    await page.click('Chairs');
    await page.untilTrue(`find('button', '✓ Chairs')`);
    await say(server, shop, engagement, 'Good morning');
    await page.untilRead('Good morning');
    await page.click('Message', 'textarea');
    await page.type('Is it oak?');
    await page.press('Enter');
    await until(async () => (await written()).length === 2);
    await page.untilRead('Is it oak?');

    const folder = mkdtempSync(join(tmpdir(), 'usher-upload-'));
    try {
      const path = join(folder, 'chair.txt');
      writeFileSync(path, 'a drawing of a chair');
      await page.chooseFile(path);
      await page.untilTrue(`find('button', 'Download chair.txt')`);
    } finally {
      rmSync(folder, { recursive: true });
    }

    await page.reload();
    await page.untilRead('Good morning');
    await page.untilTrue(`find('button', 'Download chair.txt') && find('button', '✓ Chairs')`);
    await say(server, shop, engagement, 'Still with me?');
    await page.untilRead('Still with me?');
    await page.click('End chat');
    await page.untilRead('End this chat?');
    assert.equal((await written()).length, 3);
    await page.click('End chat', '[role=alertdialog] button');
    await page.untilRead('You ended the conversation.');
    await page.click('Start again');
    await page.untilTrue(`find('button', 'Chat')`);
    assert.deepEqual(
      (await written()).map(({ content }) => content),
      ['Chairs', 'Is it oak?', ''],
    );
  });

  test('a visitor can chat with the keyboard alone', proof, async () => {
    const { server, browser } = stage();
    // Firefox cannot send keys to a page that hides its body, so the styles are not the hostile ones.
    await using shop = await openShop(server, { styles: transformedPage });
    const page = await browser.newPage();
    await page.goto(shop.url);
    await page.untilTrue(`find('button', 'Chat with us')`);
    assert.ok(
      await page.evaluate<boolean>(`find('button', 'Chat with us').getBoundingClientRect().bottom < innerHeight`),
    );
    await page.tabTo('Chat with us');
    await page.press('Enter');
    await page.untilTrue(`find('button', 'Chat')`);
    await page.tabTo('Your name (optional)');
    await page.type('Ada');
    await page.tabTo('Chat');
    await page.press('Enter');
    const engagement = await takeVisitor(server, shop);
    await page.untilTrue(`nameOf(focused()) === 'Message'`);
    const height = `focused().offsetHeight`;
    const oneLine = await page.evaluate<number>(height);
    await page.type('This is a message that takes more than one line. '.repeat(2));
    const twoLines = await page.evaluate<number>(height);
    assert.ok(oneLine < 50 && twoLines > oneLine + 15, `the field grew from ${oneLine} to ${twoLines} pixels`);
    await page.press('Enter');
    await page.untilTrue(`${height} === ${oneLine}`);
    await until(async () => (await writtenBy('visitor', stage(), shop, engagement)).length === 1);
    await page.press('Escape');
    await page.untilTrue(`nameOf(focused()).includes('Back to the conversation')`);
    await say(server, shop, engagement, 'Are you there?');
    await page.untilRead('new message');
    await page.press('Enter');
    await page.untilRead('Are you there?');
  });
}
