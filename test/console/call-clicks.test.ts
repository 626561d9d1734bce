import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts';
import { openConsole } from '../support/browser/console.ts';
import { Caller } from '../support/browser/caller.ts';
import { enterQueue, offers, openDesk, type DeskPage } from '../support/browser/desk.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { askToTalk, openShop, takeVisitor, visit } from '../support/browser/widget.ts';
import {
  expectStatus,
  makeApplicationToken,
  makeOperator,
  makeAvailableOperator,
  type TestOperator,
} from '../support/world.ts';

/**
 * A camera or microphone starts only with a click of its owner: one that joins, accepts or requests the call. An action of the other
 * side or of the server starts none without it.
 */
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
    const named = button?.cloneNode(true);
    for (const hidden of named?.querySelectorAll('[aria-hidden]') ?? []) hidden.remove();
    clicked = named === undefined ? null : (named.ariaLabel ?? named.textContent).trim();
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

/** Waits for the start of devices, and returns it together with the earlier ones. */
async function untilStarts(page: Page, count: number): Promise<string[]> {
  await until(async () => (await starts(page)).length >= count, 20_000);
  return starts(page);
}

test('accepting a call starts the camera of the operator once: not after a reload, nor for the next call', async () => {
  const at = await openDesk({ server, browser });
  const { page } = at;
  await enterQueue(at, 'Kim', { media: 'video' });
  await offers(page).getByRole('button', { name: 'Accept' }).click();
  const panel = page.getByRole('region', { name: 'Call' });
  await panel.getByText('Calling the visitor').waitFor();
  assert.deepEqual(await untilStarts(page, 1), ['audio and video by Accept video call']);
  const id = page.url().slice(-36);
  await page.reload();
  await waitForButton(page, joinAll(page));
  await joinAll(page).click();
  await panel.getByText('Calling the visitor').waitFor();
  assert.deepEqual(await starts(page), ['audio and video by Join with camera and microphone']);
  await panel.getByRole('button', { name: 'Hang up' }).click();
  await panel.waitFor({ state: 'detached' });

  const next = await colleagueOf(at);
  await transfer(id, at.operator, next.operator);
  await offers(next.page).getByRole('button', { name: 'Accept' }).click();
  await next.page.waitForURL(`**/desk/${id}`);
  await next.page.getByText('Calling the visitor').waitFor();
  assert.deepEqual(await starts(next.page), ['audio and video by Accept video call']);
  assert.deepEqual(at.complaints, []);
});

test('D11.3 a call that a visitor requested starts when an operator accepts it, and the next one waits for a click', async () => {
  await using shop = await openShop(server);
  const { page, complaints } = await visit(browser, shop);
  await askToTalk(page, 'Video call');
  const engagement = await takeVisitor(server, shop);
  await page.getByText('Connecting…').waitFor();
  assert.deepEqual(await untilStarts(page, 1), ['audio and video by Video call']);
  await page.getByRole('button', { name: 'Hang up' }).click();
  await page.getByText('Missed call').waitFor();

  // A declined request is no consent to the call of another operator.
  await page.getByRole('button', { name: 'Request a video call' }).click();
  await page.getByText('You requested a video call…').waitFor();
  const path = `/engagements/${engagement}/media_upgrade_requests`;
  const { token } = shop.operator;
  const [request] = expectStatus(await call(server, `GET ${path}`, { token }), 200).body.media_upgrade_requests;
  expectStatus(await call(server, `PATCH ${path}/${request.id}`, { token, body: { action: 'decline' } }), 200);
  await page.getByText("We can't take a call right now.").waitFor();
  const next = await makeAvailableOperator(server, shop.own, { media: ['video', 'text'] });
  const transferred = await transfer(engagement, shop.operator, next);
  const accept = { token: next.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${transferred}`, accept), 200);
  await joinAll(page).waitFor();
  assert.equal((await starts(page)).length, 1);
  assert.deepEqual(complaints, []);
});

test('a call that is accepted minutes after the request starts without the microphone of the visitor', async () => {
  await using shop = await openShop(server, {
    presence: { available: false },
    queueFields: { when_unstaffed: 'accept' },
  });
  const { page, complaints } = await browser.newPage();
  await page.clock.install();
  await page.goto(shop.url);
  await askToTalk(page, 'Call');
  await page.getByText('Stop waiting').waitFor();
  await page.clock.fastForward(121_000);
  const body = { available: true };
  expectStatus(
    await call(server, `PUT /operators/${shop.operator.id}/presence`, { token: shop.operator.token, body }),
    200,
  );
  const engagementId = await takeVisitor(server, shop);
  const media = { audio: 'two_way', video: null };
  const joinOptions = { token: shop.operator.token, engagementId, side: 'operator', media };
  const operator = new Caller((await browser.newPage()).page, server.url, joinOptions);
  await operator.open();
  await operator.join();
  await page.getByText('Your microphone is off').waitFor();
  assert.deepEqual(await starts(page), []);
  await operator.untilView(({ other }) => other.microphone === false, 'the visitor to be muted');
  await page.getByRole('button', { name: 'Unmute' }).click();
  await operator.untilMore('energy');
  assert.deepEqual(await starts(page), ['audio by Unmute']);
  assert.deepEqual(complaints, []);
});

test('an accepted call starts for both sides: for the one that accepted it and for the one that requested it', async () => {
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
  const panel = desk.getByRole('region', { name: 'Call' });
  await panel.getByText('In a call').waitFor({ timeout: 30_000 });
  assert.deepEqual([await starts(visitor), await starts(desk)], [['audio by Request a call'], ['audio by Accept']]);

  // The other direction, during the call: it is upgraded to video.
  await desk.getByRole('button', { name: 'Call', exact: true }).click();
  await desk.getByRole('menuitem', { name: 'Video call' }).click();
  await visitor.getByRole('button', { name: 'Accept' }).click();
  assert.deepEqual(await untilStarts(visitor, 2), ['audio by Request a call', 'video by Accept']);
  assert.deepEqual(await untilStarts(desk, 2), ['audio by Accept', 'video by Video call']);
});
