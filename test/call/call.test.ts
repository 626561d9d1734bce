import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comesTrue, openBrowser } from '../support/browser/browser.ts';
import { callTimeoutMs, Caller } from '../support/browser/caller.ts';
import { engage, type Engaged, type TokenHolder } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { expectStatus, makeAvailableOperator } from '../support/world.ts';

/** Two pages in Chromium call each other through Usher, each connected to its own server process. */
const server = await forThisFile(startTestServer());
const second = await forThisFile(startTestServer({}, server.database.address));
const chromium = await forThisFile(openBrowser());

const audio = { audio: 'two_way', video: null } as const;
const oneWay = { audio: 'two_way', video: 'one_way' } as const;
const both = { audio: 'two_way', video: 'two_way' } as const;

interface TestCall {
  readonly chat: Engaged;
  readonly operator: Caller;
  readonly visitor: Caller;
  [Symbol.asyncDispose](): Promise<void>;
}

async function prepare(media: Json, more: Json = {}): Promise<TestCall> {
  const chat = await engage(server);
  const make = async (url: string, side: string, { token }: TokenHolder): Promise<Caller> => {
    const { page } = await chromium.newPage();
    const caller = new Caller(page, url, { token, engagementId: chat.id, side, media, ...more });
    await caller.open();
    return caller;
  };
  const operator = await make(server.url, 'operator', chat.operator);
  const visitor = await make(second.url, 'visitor', chat.visitor);
  const close = async (): Promise<void> => {
    for (const { page } of [operator, visitor]) await page.context().close();
  };
  return { chat, operator, visitor, [Symbol.asyncDispose]: close };
}

async function connect(media: Json, more: Json = {}): Promise<TestCall> {
  const calling = await prepare(media, more);
  await Promise.all([calling.operator.join(), calling.visitor.join()]);
  for (const side of [calling.operator, calling.visitor]) await side.untilState('connected');
  return calling;
}

test('both sides hear each other, muting sends silence and is shown, and hanging up releases all devices', async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  for (const side of [operator, visitor]) {
    await side.untilMore('energy');
    const view = await side.view();
    assert.deepEqual([view.local, view.remote, view.microphone, view.camera], [['audio'], ['audio'], true, false]);
    assert.deepEqual(view.problems, []);
  }

  await operator.do('call.setMicrophone(false)');
  await visitor.untilView(({ other }) => other.microphone === false, 'the operator to be muted');
  // Audio that was sent before muting may still be played.
  await visitor.untilMore('audioBytes', 2_000);
  const { energy } = await visitor.do('measure()');
  await visitor.untilMore('audioBytes', 2_000);
  assert.ok((await visitor.do('measure()')).energy - energy < 1e-6, 'silence');
  await operator.do('call.setMicrophone(true)');
  await visitor.untilView(({ other }) => other.microphone, 'the operator to be unmuted');
  await visitor.untilMore('energy', 1e-5);

  // TURN credentials may have expired, so both sides read the ICE servers again before a restart.
  for (const side of [operator, visitor]) {
    const request = side.page.waitForRequest('**/ice_servers', { timeout: callTimeoutMs });
    await operator.do('call.resync()');
    await request;
  }
  await visitor.untilMore('energy', 1e-5);

  const tracks = await visitor.page.evaluateHandle('window.harness.call.view.local.getTracks()');
  await visitor.do('call.hangUp()');
  assert.deepEqual((await operator.untilState('ended')).state, { name: 'ended', reason: 'other_hung_up' });
  assert.deepEqual((await visitor.view()).state, { name: 'ended', reason: 'hung_up' });
  assert.deepEqual(await tracks.evaluate((all: Json) => all.map((track: Json) => track.readyState)), ['ended']);
  for (const side of [operator, visitor]) assert.deepEqual((await side.view()).local, []);
  assert.deepEqual(await operator.do('states'), ['preparing', 'connecting', 'connected', 'ended']);
});

test('in one-way video only the operator is seen and the visitor needs no camera; an upgrade makes it two-way', async () => {
  await using calling = await connect(oneWay);
  const { operator, visitor } = calling;
  await visitor.untilMore('frames', 5);
  assert.deepEqual((await visitor.view()).local, ['audio']);
  assert.deepEqual((await operator.view()).local.toSorted(), ['audio', 'video']);
  assert.equal((await operator.do('measure()')).videoBytes, 0);

  // The side that accepts the upgrade applies it first; the other side learns of it a moment later.
  await visitor.do(`call.change(${JSON.stringify(both)})`);
  await operator.do(`call.change(${JSON.stringify(both)})`);
  assert.deepEqual((await visitor.view()).local, ['audio'], 'the camera waits for a click');
  await visitor.do('call.startDevices()');
  await operator.untilMore('frames', 5);
  await visitor.untilMore('frames', 5);

  await operator.do('call.setCamera(false)');
  await visitor.untilView(({ other }) => !other.camera, 'the camera to be off');
  assert.deepEqual((await operator.view()).local, ['audio']);
  await operator.do('call.setCamera(true)');
  await visitor.untilView(({ other }) => other.camera, 'the camera to be on');
  await visitor.untilMore('frames', 5);
});

test('an audio call is upgraded to video, also when the operator applies the upgrade first', proof, async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  const { ufrag } = await operator.do('measure()');
  await operator.do(`call.change(${JSON.stringify(both)})`);
  // The visitor answers the offer before applying the upgrade.
  await until(async () => (await operator.do('measure()')).ufrag !== ufrag, callTimeoutMs);
  assert.equal((await visitor.do('measure()')).frames, 0);
  await visitor.do(`call.change(${JSON.stringify(both)})`);
  for (const side of [operator, visitor]) await side.do('call.startDevices()');
  for (const side of [operator, visitor]) {
    await side.untilMore('frames', 5);
    await side.untilMore('energy');
  }
  for (const side of [operator, visitor]) assert.equal((await side.view()).state.name, 'connected');
});

test('devices are listed by name and can be changed during a call', proof, async () => {
  await using calling = await connect(both);
  const { operator, visitor } = calling;
  const { microphones, cameras, speakers } = await operator.do('listDevices()');
  assert.ok(microphones.length > 1 && cameras.length > 0 && speakers.length > 0);
  for (const { id, label } of [...microphones, ...cameras]) assert.ok(id !== '' && label !== '');
  const current = await operator.do('label("audio")');
  const other = microphones.find(({ label }: Json) => label !== current);
  await operator.do(`call.chooseMicrophone(${JSON.stringify(other.id)})`);
  assert.equal(await operator.do('label("audio")'), other.label);
  await visitor.untilMore('energy', 1e-5);
  await operator.do(`call.chooseCamera(${JSON.stringify(cameras.at(-1).id)})`);
  assert.equal(await operator.do('label("video")'), cameras.at(-1).label);
  await visitor.untilMore('frames', 5);
  assert.equal(await operator.do(`chooseSpeaker(${JSON.stringify(speakers[0].id)})`), true);
  // A chosen camera that is gone is reported, and the browser chooses another one.
  await operator.do('call.chooseCamera("gone")');
  const view = await operator.view();
  assert.deepEqual(view.problems, [{ device: 'camera', reason: 'missing' }]);
  assert.match(view.problemTexts[0], /^No camera found\./);
  assert.deepEqual(view.local.toSorted(), ['audio', 'video']);
  await visitor.untilMore('frames', 5);
});

for (const reloading of ['visitor', 'operator'] as const) {
  test(`after a reload the ${reloading} can join the call again, twice in a row`, async () => {
    await using calling = await connect(both);
    const stays = reloading === 'visitor' ? calling.operator : calling.visitor;
    const reloads = calling[reloading];
    for (let times = 0; times < 2; times += 1) {
      await reloads.page.reload();
      await comesTrue(reloads.page, 'window.harness !== undefined');
      await reloads.join();
      await reloads.untilState('connected');
      await stays.untilState('connected');
      for (const side of [stays, reloads]) {
        await side.untilMore('energy', 1e-5);
        await side.untilMore('frames', 5);
      }
    }
    const states: string[] = await stays.do('states');
    assert.deepEqual(states.slice(0, 5), ['preparing', 'connecting', 'connected', 'reconnecting', 'connected']);
    assert.deepEqual((await stays.view()).remote.toSorted(), ['audio', 'video']);
  });
}

test('the sides connect whoever joins first, and after signals were lost', async () => {
  await using calling = await prepare(audio);
  const { operator, visitor } = calling;
  const loseSignals = async (isLosing: boolean): Promise<void> =>
    visitor.page.evaluate(`window.harness.losesSignals = ${isLosing}`);
  await operator.join();
  await loseSignals(true);
  await visitor.join();
  // The operator sends `ready` repeatedly; the visitor receives nothing.
  await until(async () => (await operator.do<number>('sent')) >= 2, callTimeoutMs);
  for (const side of [operator, visitor]) assert.equal((await side.view()).state.name, 'connecting');
  await loseSignals(false);
  for (const side of [operator, visitor]) {
    await side.untilState('connected');
    await side.untilMore('energy', 1e-5);
  }

  const sent = await operator.do<number>('sent');
  const { ufrag } = await visitor.do('measure()');
  await loseSignals(true);
  await operator.do('call.resync()');
  await until(async () => (await operator.do<number>('sent')) > sent, callTimeoutMs);
  assert.equal((await visitor.do('measure()')).ufrag, ufrag);
  await loseSignals(false);
  // The lost offer is sent again and answered.
  await until(async () => (await visitor.do('measure()')).ufrag !== ufrag, callTimeoutMs);
  for (const side of [operator, visitor]) {
    await side.untilMore('energy', 1e-5);
    assert.deepEqual(await side.do('states'), ['preparing', 'connecting', 'connected']);
  }
});

test('a lost connection is retried, and restored when the network is back', proof, async () => {
  await using calling = await prepare(both);
  const { operator, visitor } = calling;
  const session = await visitor.page.context().newCDPSession(visitor.page);
  const lose = async (packetLoss: number): Promise<void> => {
    const rest = { offline: false, latency: 1, downloadThroughput: -1, uploadThroughput: -1 };
    await session.send('Network.emulateNetworkConditions', { ...rest, packetLoss });
  };
  await session.send('Network.enable');
  // Chromium applies packet loss only to connections that are made while it is set.
  await lose(1);
  await Promise.all([operator.join(), visitor.join()]);
  for (const side of [operator, visitor]) await side.untilState('connected');
  const { ufrag } = await operator.do('measure()');
  await lose(100);
  for (const side of [operator, visitor]) await side.untilState('reconnecting');
  // This interruption does not end by itself, so ICE is restarted.
  await until(async () => (await operator.do('measure()')).ufrag !== ufrag, callTimeoutMs);
  assert.equal((await operator.view()).state.name, 'reconnecting');
  await lose(1);
  for (const side of [operator, visitor]) {
    await side.untilState('connected');
    await side.untilMore('energy', 1e-5);
    await side.untilMore('frames', 5);
  }
});

test('a change of network restarts ICE without interrupting the call', proof, async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  for (const side of [visitor, operator]) {
    const { ufrag } = await operator.do('measure()');
    await side.page.evaluate("window.dispatchEvent(new Event('online'))");
    await until(async () => (await operator.do('measure()')).ufrag !== ufrag, callTimeoutMs);
    for (const each of [operator, visitor]) await each.untilMore('energy', 1e-5);
  }
  for (const side of [operator, visitor])
    assert.deepEqual(await side.do('states'), ['preparing', 'connecting', 'connected']);
});

test('a visitor without permission for the microphone sees why, hears the operator, and can try again', async () => {
  await using calling = await prepare(both);
  const { operator, visitor } = calling;
  await visitor.page.evaluate(`
    const { mediaDevices } = navigator;
    const real = mediaDevices.getUserMedia;
    mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError'); };
    window.allow = () => { mediaDevices.getUserMedia = real; };`);
  await Promise.all([operator.join(), visitor.join()]);
  for (const side of [operator, visitor]) await side.untilState('connected');
  const view = await visitor.view();
  assert.deepEqual(
    view.problems.map(({ device, reason }: Json) => `${device} ${reason}`),
    ['microphone refused', 'camera refused'],
  );
  assert.match(view.problemTexts[0], /^This page may not use your microphone\./);
  await visitor.untilMore('energy', 1e-5);
  await operator.untilView(({ other }) => !other.microphone && !other.camera, 'the visitor to have no devices');
  await visitor.page.evaluate('window.allow()');
  await visitor.do('call.setMicrophone(true)');
  await visitor.do('call.setCamera(true)');
  await operator.untilMore('energy', 1e-5);
  await operator.untilMore('frames', 5);
  assert.deepEqual((await visitor.view()).problems, []);
});

test('an upgrade that is accepted while the browser asks for the microphone is applied', async () => {
  await using calling = await prepare(audio);
  const { operator, visitor } = calling;
  await visitor.page.evaluate(`
    const { mediaDevices } = navigator;
    const real = mediaDevices.getUserMedia.bind(mediaDevices);
    const allowed = new Promise((resolve) => { window.allow = resolve; });
    mediaDevices.getUserMedia = async (constraints) => { await allowed; return real(constraints); };`);
  const joining = visitor.join();
  await operator.join();
  await visitor.untilState('preparing');
  for (const side of [visitor, operator]) await side.do(`call.change(${JSON.stringify(both)})`);
  await visitor.page.evaluate('window.allow()');
  await joining;
  for (const side of [operator, visitor]) {
    assert.deepEqual((await side.view()).local, ['audio'], 'the click allowed only the microphone');
    await side.do('call.startDevices()');
  }
  await operator.untilMore('frames', 5);
  assert.deepEqual((await visitor.view()).local.toSorted(), ['audio', 'video']);
});

test('a microphone that is unplugged is not replaced by another without a click', async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  await visitor.page.evaluate(`
    const { mediaDevices } = navigator;
    const real = mediaDevices.getUserMedia.bind(mediaDevices);
    window.requests = 0;
    mediaDevices.getUserMedia = async (constraints) => { window.requests += 1; return real(constraints); };
    window.harness.call.view.local.getTracks()[0].dispatchEvent(new Event('ended'));`);
  await operator.untilView(({ other }) => !other.microphone, 'the visitor to have no microphone');
  const view = await visitor.view();
  assert.deepEqual([view.local, view.microphone, await visitor.page.evaluate('window.requests')], [[], false, 0]);
  assert.deepEqual(view.problemTexts, ['Your microphone was disconnected. Turn it on again to use another one.']);
  await visitor.do('call.setMicrophone(true)');
  await operator.untilView(({ other }) => other.microphone, 'the visitor to have a microphone');
  await operator.untilMore('energy', 1e-5);
  assert.deepEqual((await visitor.view()).problems, []);
});

test('after a transfer the visitor hears the new operator without reloading the page', async () => {
  await using calling = await connect(audio);
  const { chat, operator, visitor } = calling;
  const next = await makeAvailableOperator(server, chat.own, { media: ['audio', 'text'] });
  const request = await call(server, 'POST /transfer_requests', {
    token: chat.operator.token,
    body: { engagement_id: chat.id, operator_id: next.id },
  });
  const accept = { token: next.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${expectStatus(request, 201).body.id}`, accept), 200);
  const { page } = await chromium.newPage();
  const joinOptions = { token: next.token, engagementId: chat.id, side: 'operator', media: audio };
  const other = new Caller(page, second.url, joinOptions);
  await other.open();
  await operator.do('call.close()');
  await other.join();
  for (const side of [other, visitor]) {
    await side.untilState('connected');
    await side.untilMore('energy', 1e-5);
  }
  assert.deepEqual((await visitor.view()).remote, ['audio']);

  // The operator leaves the page without hanging up: the visitor sees it at once and may wait.
  assert.equal((await visitor.view()).other.isGone, false);
  await page.goto('about:blank');
  const leftAt = Date.now();
  await visitor.untilView((view) => view.other.isGone, 'the operator to be gone');
  assert.ok(Date.now() - leftAt < 2_000, `noticed after ${Date.now() - leftAt} ms`);
  await visitor.untilState('reconnecting');
  await other.open();
  await other.join();
  for (const side of [other, visitor]) await side.untilMore('energy', 1e-5);
  assert.equal((await visitor.view()).other.isGone, false);
  await page.close();
  await visitor.untilView((view) => view.other.isGone, 'the operator to be gone');
  await page.context().close();
});

test('a call ends by itself if the other side never joins or does not come back', proof, async () => {
  await using alone = await prepare(audio, { timeouts: { connectMs: 2_000 } });
  await alone.operator.join();
  assert.deepEqual((await alone.operator.untilState('ended')).state, { name: 'ended', reason: 'unanswered' });
  assert.deepEqual((await alone.operator.view()).local, []);

  await using left = await connect(audio, { timeouts: { reconnectMs: 2_000 } });
  await left.visitor.page.close();
  assert.deepEqual((await left.operator.untilState('ended')).state, { name: 'ended', reason: 'lost' });
  assert.deepEqual(await left.operator.do('states'), ['preparing', 'connecting', 'connected', 'reconnecting', 'ended']);
});

test('a call that is closed in this page sends no signals and ignores those it receives', proof, async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  const sent = await visitor.do<number>('sent');
  await visitor.do('call.close()');
  await operator.do('call.resync()');
  await operator.untilState('reconnecting');
  assert.deepEqual((await visitor.view()).state, { name: 'ended', reason: 'closed' });
  assert.deepEqual([(await visitor.view()).local, await visitor.do('sent')], [[], sent]);
  await operator.do('call.hangUp()');
  assert.deepEqual((await operator.view()).state, { name: 'ended', reason: 'hung_up' });
});
