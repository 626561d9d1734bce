import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { comesTrue, openBrowser } from '../support/browser/browser.ts';
import { composer, offers, messageList, openDesk } from '../support/browser/desk.ts';
import { forThisFile } from '../support/fixture.ts';
import { startProxy } from '../support/network/proxy.ts';
import { startTestServer, until, type Json } from '../support/server.ts';
import { makeApplicationToken } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

const callMs = 40_000;

/** Whether the video element plays: it has a size, and its time advances. */
async function isPlaying(page: Page, label: string): Promise<boolean> {
  return page
    .getByLabel(label, { exact: true })
    .evaluate((video: Json) => (video.videoWidth as number) > 0 && (video.currentTime as number) > 0);
}

async function sayAtDesk(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await page.keyboard.press('Enter');
}

test('a visitor and an operator in two browsers chat and have a video call, and lose nothing when a connection breaks', async () => {
  // The proxy can cut the visitor's connection to the server.
  await using proxy = await startProxy(server);
  const at = await openDesk({ server, browser });
  const desk = at.page;
  const token = (await makeApplicationToken(server, at.own, 'publishable')).header.split(' ')[1] ?? '';
  const shop = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const visitor = shop.page;
  await visitor.goto(`${proxy.url}/demo?site=${at.own.siteId}&token=${token}`);
  await visitor.getByRole('button', { name: 'Ask us' }).click();
  await visitor.getByRole('button', { name: 'Chat', exact: true }).click();

  await offers(desk).getByRole('article').waitFor();
  await desk.keyboard.press('Alt+A');
  await visitor.getByText('You are connected.').waitFor();
  await composer(desk).waitFor();
  await sayAtDesk(desk, 'Good morning <b>you</b> 👋');
  await visitor.getByText('Good morning <b>you</b> 👋').waitFor();
  const writing = visitor.getByLabel('Message', { exact: true });
  await writing.fill('שלום, is my parcel lost?');
  await visitor.keyboard.press('Enter');
  await messageList(desk).getByText('is my parcel lost?').waitFor();

  // The visitor's connection breaks while the operator answers. Messages written meanwhile arrive once, on both sides.
  proxy.shut(true);
  proxy.cut();
  await sayAtDesk(desk, 'Let me look');
  await writing.fill('Hello?');
  await visitor.keyboard.press('Enter');
  proxy.shut(false);
  await visitor.getByText('Let me look').waitFor();
  await messageList(desk).getByText('Hello?').waitFor();

  // A visitor in a call does not wait for an answer, and after the call not for one to earlier messages.
  const waits = desk.getByRole('list', { name: 'Conversations' }).getByText(/^wait/i);
  await waits.waitFor();
  await desk.getByRole('button', { name: 'Call', exact: true }).click();
  await desk.getByRole('menuitem', { name: 'Video call' }).click();
  await visitor.getByRole('button', { name: 'Accept' }).click();
  const panel = desk.getByRole('region', { name: 'Call' });
  const join = panel.getByRole('button', { name: 'Join with camera and microphone' });
  await panel.getByText('In a call').waitFor({ timeout: callMs });
  await until(async () => isPlaying(desk, "Visitor's video"), callMs);
  await until(async () => isPlaying(visitor, 'The other person'), callMs);
  assert.equal(await waits.count(), 0);

  // The operator reloads the page during the call. The visitor sees at once that the operator left.
  const left = visitor.getByText('The other person left the call').waitFor({ timeout: 2_000 });
  await Promise.all([left, desk.reload()]);
  await messageList(desk).getByText('Hello?').waitFor();
  assert.equal(await messageList(desk).getByText('Let me look').count(), 1);
  await join.click();
  await panel.getByText('In a call').waitFor({ timeout: callMs });
  await until(async () => isPlaying(desk, "Visitor's video"), callMs);
  await panel.getByRole('button', { name: 'Hang up' }).click();
  const ended = /^Call ended · 0:\d\d$/;
  await messageList(desk).getByText(ended).waitFor();
  await visitor.getByText(ended).waitFor();
  await panel.waitFor({ state: 'detached' });
  await comesTrue(desk, `document.activeElement?.ariaLabel === 'Message'`);
  await desk.reload();
  await messageList(desk).getByText(ended).waitFor();
  assert.equal(await panel.count(), 0, 'an ended call cannot be joined');
  assert.equal(await waits.count(), 0);
  await sayAtDesk(desk, 'It is on its way');
  await visitor.getByText('It is on its way').waitFor();
  assert.deepEqual([...at.complaints, ...shop.complaints], []);
});
