import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { offers, openDesk, acceptVisitor, type DeskPage } from '../support/desk.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { askToTalk, openShop, takeVisitor, visit } from '../support/widget.ts';
import {
  expectStatus,
  makeApplicationToken,
  makeOperator,
  makeAvailableOperator,
  type TestOperator,
} from '../support/world.ts';

/** A camera or microphone starts only with a click of its owner, never by an action of the other side or of the server. */
const server = await forThisFile(startTestServer());
const browser = await forThisFile(watched(await openBrowser()));
afterEach(async () => {
  for (const context of browser.browser.contexts()) await context.close();
});

/** Records each start of devices, and the button that was clicked before. A click counts for one start. */
const noteStarts = `
  window.starts = [];
  let clicked = null;
  addEventListener('click', (event) => {
    const button = event.composedPath().find((each) => each.tagName === 'BUTTON');
    clicked = button === undefined ? null : (button.ariaLabel ?? button.textContent).trim();
  }, true);
  const { mediaDevices } = navigator;
  const real = mediaDevices.getUserMedia.bind(mediaDevices);
  mediaDevices.getUserMedia = async (wanted) => {
    const kinds = ['audio', 'video'].filter((kind) => Boolean(wanted[kind])).join(' and ');
    window.starts.push(kinds + ' by ' + clicked);
    clicked = null;
    return real(wanted);
  };`;

function watched(opened: TestBrowser): TestBrowser {
  return {
    ...opened,
    async newPage(options) {
      const made = await opened.newPage(options);
      await made.context.addInitScript(noteStarts);
      return made;
    },
  };
}

const starts = async (page: Page): Promise<string[]> => page.evaluate('window.starts');

/** Waits for the button. Fails immediately if a device starts before. */
async function waitForButton(page: Page, button: Locator): Promise<void> {
  await until(async () => (await button.isVisible()) || (await starts(page)).length > 0, 20_000);
  assert.deepEqual(await starts(page), [], 'started without a click');
  await button.waitFor();
}

const joinAll = (page: Page): Locator => page.getByRole('button', { name: 'Join with camera and microphone' });

async function colleagueOf({ own }: DeskPage): Promise<{ operator: TestOperator; page: Page }> {
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const { page } = await openConsole({ browser, server, key: operator.key, path: '/desk' });
  await page.getByRole('switch', { name: 'Available' }).click();
  await page.getByText('Waiting for visitors. Keep this page open.').waitFor();
  return { operator, page };
}

/** Upgrades the engagement to a video call. */
async function transfer(engagement: string, from: { token: string }, to: { id: string }): Promise<string> {
  const body = { engagement_id: engagement, operator_id: to.id, media: 'video' };
  return expectStatus(await call(server, 'POST /transfer_requests', { token: from.token, body }), 201).body.id;
}

test("an operator's camera does not start on accept, on reload, or after a hung-up call is transferred", async () => {
  const at = await openDesk({ server, browser });
  const { id } = await acceptVisitor(at, 'Kim', { media: 'video' });
  const { page } = at;
  await waitForButton(page, joinAll(page));
  await page.reload();
  await waitForButton(page, joinAll(page));
  await joinAll(page).click();
  const panel = page.getByRole('region', { name: 'Call' });
  await panel.getByText('Calling the visitor').waitFor();
  assert.deepEqual(await starts(page), ['audio and video by Join with camera and microphone']);
  await panel.getByRole('button', { name: 'Hang up' }).click();
  await panel.waitFor({ state: 'detached' });

  const next = await colleagueOf(at);
  await transfer(id, at.operator, next.operator);
  await offers(next.page).getByRole('button', { name: 'Accept' }).click();
  await next.page.waitForURL(`**/desk/${id}`);
  await waitForButton(next.page, joinAll(next.page));
  await joinAll(next.page).click();
  await next.page.getByText('Calling the visitor').waitFor();
  assert.deepEqual(await starts(next.page), ['audio and video by Join with camera and microphone']);
  assert.deepEqual(at.complaints, []);
});

test("a visitor's camera does not start when an operator joins, or when another one joins after a hang-up", async () => {
  await using shop = await openShop(server);
  const { page, complaints } = await visit(browser, shop);
  await askToTalk(page, 'Video call');
  const engagement = await takeVisitor(server, shop);
  await waitForButton(page, joinAll(page));
  await joinAll(page).click();
  await page.getByText('Connecting…').waitFor();
  assert.deepEqual(await starts(page), ['audio and video by Join with camera and microphone']);
  await page.getByRole('button', { name: 'Hang up' }).click();
  await page.getByText('Missed call').waitFor();

  const next = await makeAvailableOperator(server, shop.own, { media: ['video', 'text'] });
  const request = await transfer(engagement, shop.operator, next);
  const accept = { token: next.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${request}`, accept), 200);
  const path = `PUT /engagements/${engagement}/chat_messages/0b5c7c4e-5d0c-4f37-9c6a-2f1f9d1f6a13`;
  expectStatus(await call(server, path, { token: next.token, body: { content: 'I have taken over' } }), 200);
  await page.getByText('I have taken over').waitFor();
  await joinAll(page).waitFor();
  assert.equal((await starts(page)).length, 1);
  assert.deepEqual(complaints, []);
});

test('accepting a call starts it with that click, and the side that requested it must click once more', async () => {
  const at = await openDesk({ server, browser });
  const desk = at.page;
  const token = (await makeApplicationToken(server, at.own, 'publishable')).header.split(' ')[1] ?? '';
  const { page: visitor } = await browser.newPage();
  await visitor.goto(`${server.url}/demo?site=${at.own.siteId}&token=${token}`);
  await visitor.getByRole('button', { name: 'Ask us' }).click();
  await visitor.getByRole('button', { name: 'Chat', exact: true }).click();
  await offers(desk).getByRole('button', { name: 'Accept' }).click();

  await visitor.getByRole('button', { name: 'Request a call' }).click();
  await desk.getByText('The visitor wants to start an audio call.').waitFor();
  await desk.getByRole('button', { name: 'Accept' }).click();
  const joinSpeaking = visitor.getByRole('button', { name: 'Join with microphone' });
  await waitForButton(visitor, joinSpeaking);
  await until(async () => (await starts(desk)).length > 0);
  assert.deepEqual(await starts(desk), ['audio by Accept']);
  await joinSpeaking.click();

  // The other direction, during the call: it is upgraded to video.
  const panel = desk.getByRole('region', { name: 'Call' });
  await panel.getByText('In a call').waitFor({ timeout: 30_000 });
  await desk.getByRole('button', { name: 'Call', exact: true }).click();
  await desk.getByRole('menuitem', { name: 'Video call' }).click();
  await visitor.getByRole('button', { name: 'Accept' }).click();
  await until(async () => (await starts(visitor)).length > 1);
  assert.deepEqual(await starts(visitor), ['audio by Join with microphone', 'video by Accept']);
  await panel.getByText('Your camera is off').waitFor();
  assert.equal((await starts(desk)).length, 1);
  await panel.getByRole('button', { name: 'Camera on' }).click();
  await until(async () => (await starts(desk)).length > 1);
  assert.deepEqual(await starts(desk), ['audio by Accept', 'video by Camera on']);
});
