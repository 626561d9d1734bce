import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openChromium } from '../support/browser/chromium.ts';
import { findFirefox, openFirefox } from '../support/browser/firefox.ts';
import { proof } from '../support/proof.ts';
import { forThisFile } from '../support/fixture.ts';
import { startProxy, type Proxy } from '../support/network/proxy.ts';
import type { RemoteBrowser, RemotePage } from '../support/browser/remote-browser.ts';
import { call, startTestServer, until } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeAvailableOperator,
  makeQueue,
  offersOf,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

/** How long to wait until media flows, on a busy machine. */
const mediaMs = 60_000;
const otherConversations = 7;

/** Everybody in the test: the operator has seven other conversations, and the visitor is about to talk to them. */
interface Stage {
  readonly siteId: string;
  readonly operator: TestOperator;
  readonly desk: RemotePage;
  readonly colleague: RemotePage;
  readonly visitor: RemotePage;
  /** Between the visitor and the server. */
  readonly proxy: Proxy;
}

/** Keeps the connections of the page, which are otherwise out of reach, for `receives`. */
const keepConnections = `(() => {
  const Real = RTCPeerConnection;
  globalThis.connections = [];
  globalThis.RTCPeerConnection = class extends Real {
    constructor(...options) {
      super(...options);
      connections.push(this);
    }
  };
})()`;

/** What the page has received in all connections: the energy of the audio, and frames of the video. */
const received = `Promise.all(connections.map((each) => each.getStats())).then((all) => {
  const inbound = all.flatMap((stats) => [...stats.values()]).filter(({ type }) => type === 'inbound-rtp');
  const sum = (key) => inbound.reduce((total, each) => total + (each[key] ?? 0), 0);
  return { audio: sum('totalAudioEnergy'), video: sum('framesDecoded') };
})`;

async function receives(kind: 'audio' | 'video', ...pages: readonly RemotePage[]): Promise<void> {
  for (const page of pages) {
    const before = (await page.evaluate(received))[kind];
    await until(async () => (await page.evaluate(received))[kind] > before, mediaMs);
  }
}

async function openDesk(browser: RemoteBrowser, { key }: TestOperator, conversation = ''): Promise<RemotePage> {
  const page = await browser.newPage();
  await page.goto(`${server.url}/console/desk/${conversation}`);
  await page.click('API key', 'label');
  await page.click('Key ID *', 'input');
  await page.type(key.id);
  await page.click('Key secret *', 'input');
  await page.type(key.secret);
  await page.click('Sign in');
  await page.untilTrue(`find('section', 'Chats')`);
  await page.evaluate(keepConnections);
  return page;
}

async function makeBusyOperator(own: TestAccount, queue: string): Promise<TestOperator> {
  const operator = await makeAvailableOperator(server, own);
  const several = { token: own.admin, body: { max_engagement_count: otherConversations + 1 } };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, several), 200);
  for (let count = 0; count < otherConversations; count += 1) {
    await enqueue(server, own, queue);
    await acceptOffer(server, operator);
  }
  return operator;
}

async function setStage(browser: RemoteBrowser, proxy: Proxy): Promise<Stage> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const operator = await makeBusyOperator(own, queue);
  const token = (await makeApplicationToken(server, own, 'publishable')).header.split(' ')[1] ?? '';
  const visitor = await browser.newPage();
  await visitor.goto(`${proxy.url}/demo?site=${own.siteId}&token=${token}`);
  await visitor.evaluate(keepConnections);
  await visitor.click('Ask us');
  await visitor.click('Chat');
  await until(async () => (await offersOf(server, operator)).length > 0);
  const engagement = await acceptOffer(server, operator);
  const desk = await openDesk(browser, operator, engagement);
  // The first colleague would otherwise have been offered the visitors.
  const colleague = await openDesk(browser, await makeAvailableOperator(server, own));
  return { siteId: own.siteId, operator, desk, colleague, visitor, proxy };
}

async function invite(page: RemotePage, kind: 'Audio call' | 'Video call'): Promise<void> {
  await page.click('Call');
  await page.click(kind, '[role=menuitem]');
}

/** The visitor is invited to a call, mutes, accepts video, and hangs up. */
async function haveFirstCall({ desk, visitor }: Stage): Promise<void> {
  await invite(desk, 'Audio call');
  await visitor.click('Accept');
  await desk.untilRead('In a call');
  await receives('audio', desk, visitor);
  await visitor.click('Mute');
  await desk.untilRead('Visitor is muted');
  await visitor.click('Unmute');
  await desk.untilTrue(`!readable().includes('Visitor is muted')`);
  await invite(desk, 'Video call');
  await visitor.click('Accept');
  await receives('video', desk, visitor);
  await visitor.click('Hang up');
  for (const page of [desk, visitor]) await page.untilRead('Call ended · 0:');
}

/** The visitor calls again, and loses the network while the operator mutes. */
async function loseNetwork({ desk, visitor, proxy }: Stage): Promise<void> {
  await visitor.click('Request a call');
  await desk.click('Accept');
  await desk.untilRead('In a call');
  await receives('audio', desk, visitor);
  proxy.shut(true);
  await visitor.untilRead('Connection lost. Reconnecting…');
  await desk.click('Mute');
  proxy.shut(false);
  await visitor.untilRead('The other person is muted');
  await desk.click('Unmute');
  await visitor.untilTrue(`!readable().includes('The other person is muted')`);
  await receives('audio', desk, visitor);
}

async function transferCall({ desk, colleague, visitor }: Stage): Promise<void> {
  await desk.click('Transfer');
  await desk.click('Somebody', '[role=dialog] input[type=radio]');
  await desk.click('Transfer', '[role=dialog] button');
  await colleague.click('Accept call Alt A');
  await desk.untilRead('Transferred to a colleague');
  await colleague.untilRead('In a call');
  await receives('audio', colleague, visitor);
  await colleague.click('Hang up');
  await visitor.untilTrue(`!find('button', 'Hang up')`);
}

const browsers = [
  { name: 'Chromium', open: openChromium, skip: false },
  { name: 'Firefox', open: openFirefox, skip: findFirefox() === null ? 'Firefox is not installed' : proof.skip },
] as const;

for (const { name, open, skip } of browsers)
  test(
    `in ${name} a visitor and an operator with seven other conversations have calls from invitation to transfer`,
    { skip },
    async () => {
      await using proxy = await startProxy(server);
      await using browser = await open();
      const stage = await setStage(browser, proxy);
      await haveFirstCall(stage);
      await loseNetwork(stage);
      await transferCall(stage);
      const { siteId, operator } = stage;
      const { body } = await call(
        server,
        `GET /engagements?site_ids=${siteId}&operator_ids=${operator.id}&state=active`,
        operator,
      );
      assert.equal(body.engagements.length, otherConversations);
    },
  );
