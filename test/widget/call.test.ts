import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { comesTrue, openBrowser } from '../support/browser/browser.ts';
import { Caller } from '../support/browser/caller.ts';
import { barriersOf } from '../support/browser/console.ts';
import { forThisFile } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { askToTalk, openShop, takeVisitor, visit, type Shop } from '../support/browser/widget.ts';
import { expectStatus } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());
// Open pages use processor time, most of all those with a call.
afterEach(async () => {
  for (const context of browser.browser.contexts()) await context.close();
});

/** Joins the call as the operator, in a separate page. */
async function joinAsOperator({ operator }: Shop, engagementId: string, media: Json): Promise<Caller> {
  const { page } = await browser.newPage();
  const caller = new Caller(page, server.url, { token: operator.token, engagementId, side: 'operator', media });
  await caller.open();
  await caller.join();
  return caller;
}

const connected = (page: Page) => page.getByText('Call connected').waitFor({ state: 'attached' });

/** Whether the video element plays: it has a size, and its time advances. */
async function isPlaying(page: Page, label: string): Promise<boolean> {
  return page
    .getByLabel(label, { exact: true })
    .evaluate((video: Json) => (video.videoWidth as number) > 0 && (video.currentTime as number) > 0);
}

async function tracksIn(page: Page, element: 'audio' | 'video'): Promise<string[]> {
  const media = page.locator(`usher-widget ${element}`).first();
  return media.evaluate((player: Json) =>
    ((player.srcObject?.getTracks() ?? []) as { kind: string }[]).map(({ kind }) => kind),
  );
}

test('in an audio call both sides hear each other and see who is muted; after hanging up they chat, and can call again', async () => {
  await using shop = await openShop(server);
  const { page, complaints } = await visit(browser, shop);
  await askToTalk(page, 'Call');
  const engagement = await takeVisitor(server, shop);
  const desk = await joinAsOperator(shop, engagement, { audio: 'two_way', video: null });
  await connected(page);
  await desk.untilState('connected');
  await desk.untilMore('energy');
  assert.deepEqual(await tracksIn(page, 'audio'), ['audio']);
  assert.deepEqual(await barriersOf(page), []);

  await page.getByRole('button', { name: 'Mute' }).click();
  await desk.untilView(({ other }) => other.microphone === false, 'the visitor to be muted');
  await page.getByRole('button', { name: 'Unmute' }).click();
  await desk.untilView(({ other }) => other.microphone, 'the visitor to be unmuted');
  await desk.do('call.setMicrophone(false)');
  await page.getByText('The other person is muted').waitFor();

  // The call continues while the panel is minimized.
  await page.getByRole('button', { name: 'Minimize chat' }).click();
  await desk.untilMore('energy');
  await page.getByRole('button', { name: 'Back to the conversation' }).click();

  await page.getByRole('button', { name: 'Choose devices' }).click();
  const microphone = page.getByLabel('Microphone');
  await until(async () => (await microphone.locator('option').count()) > 1);
  await microphone.selectOption({ index: 1 });
  await desk.untilMore('energy');

  await page.getByRole('button', { name: 'Hang up' }).click();
  assert.equal((await desk.untilState('ended')).state.reason, 'other_hung_up');
  await page.getByText(/^Call ended · 0:\d\d$/).waitFor();
  await comesTrue(page, `document.querySelector('usher-widget').shadowRoot.activeElement?.tagName === 'TEXTAREA'`);
  const { token } = shop.operator;
  const read = async (): Promise<Json> => (await call(server, `GET /engagements/${engagement}`, { token })).body;
  assert.deepEqual([(await read()).media, (await read()).calls[0].ended_by], ['text', 'visitor']);
  await page.reload();
  await page.getByText(/^Call ended · 0:\d\d$/).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Join/ }).count(), 0);
  assert.equal(await page.getByLabel('Message', { exact: true }).count(), 1);

  // A second call works like the first. A visitor who does not join continues by chat.
  const invite = async (): Promise<void> => {
    const request = { token, body: { audio: 'two_way', video: null } };
    expectStatus(await call(server, `POST /engagements/${engagement}/media_upgrade_requests`, request), 201);
    await page.getByRole('button', { name: 'Accept' }).click();
  };
  await invite();
  await page.getByRole('button', { name: 'Hang up' }).waitFor();
  await page.reload();
  await page.getByText('Call in progress').waitFor();
  assert.deepEqual(await barriersOf(page), []);
  await page.getByRole('button', { name: 'Back to chat' }).click();
  await page.getByText('Missed call').waitFor();
  assert.equal((await read()).media, 'text');
  await invite();
  const again = await joinAsOperator(shop, engagement, { audio: 'two_way', video: null });
  await connected(page);
  await again.untilMore('energy');
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${engagement}`, { token: shop.operator.token, body }), 200);
  await page.getByText('The conversation has ended.').waitFor();
  assert.deepEqual(await tracksIn(page, 'audio'), []);
  assert.deepEqual(complaints, []);
});

test('a chat is upgraded to one-way video, then to two-way video, and can be joined again after a reload', async () => {
  await using shop = await openShop(server);
  const { page, complaints } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  const path = `/engagements/${engagement}/media_upgrade_requests`;
  const { token } = shop.operator;
  const oneWay = { audio: 'two_way', video: 'one_way' };
  expectStatus(await call(server, `POST ${path}`, { token, body: oneWay }), 201);
  await page.getByRole('button', { name: 'Accept' }).click();
  const desk = await joinAsOperator(shop, engagement, oneWay);
  await connected(page);
  await until(async () => isPlaying(page, 'The other person'), 30_000);
  assert.equal(await page.getByLabel('You', { exact: true }).count(), 0, 'no camera was started');
  assert.equal((await desk.view()).remote.includes('video'), false);
  assert.deepEqual(await barriersOf(page), []);

  await page.getByRole('button', { name: 'Request a video call' }).click();
  await page.getByText('You requested a video call…').waitFor();
  const { media_upgrade_requests: requests } = expectStatus(await call(server, `GET ${path}`, { token }), 200).body;
  const body = { action: 'accept' };
  expectStatus(await call(server, `PATCH ${path}/${requests[0].id}`, { token, body }), 200);
  await desk.do(`call.change(${JSON.stringify({ audio: 'two_way', video: 'two_way' })})`);
  await desk.do('call.startDevices()');
  await until(
    async () => (await page.getByLabel('You', { exact: true }).count()) === 1 && isPlaying(page, 'You'),
    30_000,
  );
  await desk.untilMore('frames');
  await page.getByRole('button', { name: 'Turn camera off' }).click();
  await desk.untilView(({ other }) => other.camera === false, 'the camera to be off');
  await page.getByRole('button', { name: 'Turn camera on' }).click();
  await desk.untilMore('frames');

  // The other side learns that the visitor left before the page has loaded again.
  await page.reload();
  assert.equal((await desk.view()).other.isGone, true);
  await page.getByRole('button', { name: 'Join with camera and microphone' }).click();
  await connected(page);
  await until(async () => isPlaying(page, 'The other person'), 30_000);
  await desk.untilMore('frames');
  assert.deepEqual(complaints, []);
});

test('of two tabs, the one that joined last has the call', proof, async () => {
  await using shop = await openShop(server);
  const { page, context } = await visit(browser, shop);
  await askToTalk(page, 'Call');
  const engagement = await takeVisitor(server, shop);
  const desk = await joinAsOperator(shop, engagement, { audio: 'two_way', video: null });
  await connected(page);
  const tab = await context.newPage();
  await tab.goto(`${shop.url}/other`);
  await tab.getByRole('button', { name: 'Back to the conversation' }).click();
  await tab.getByRole('button', { name: 'Join with microphone' }).click();
  await connected(tab);
  await page.getByText('The call continues in another tab.').waitFor();
  await desk.untilMore('energy');
});
