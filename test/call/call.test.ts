import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comesTrue, openBrowser, proof } from '../support/browser.ts';
import { Caller, patienceMs } from '../support/caller.ts';
import { engage, type Engaged, type Who } from '../support/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { expectStatus, makePresent } from '../support/world.ts';

/** Two pages in real Chromium, each at a process of its own, call each other through Usher. */
const server = await forThisFile(startTestServer());
const second = await forThisFile(startTestServer({}, server.database.address));
const chromium = await forThisFile(openBrowser());

const audio = { audio: 'two_way', video: null } as const;
const seen = { audio: 'two_way', video: 'one_way' } as const;
const both = { audio: 'two_way', video: 'two_way' } as const;

interface Calling {
  readonly chat: Engaged;
  readonly operator: Caller;
  readonly visitor: Caller;
  [Symbol.asyncDispose](): Promise<void>;
}

async function prepare(media: Json, more: Json = {}): Promise<Calling> {
  const chat = await engage(server);
  const make = async (url: string, side: string, { token }: Who): Promise<Caller> => {
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

async function connect(media: Json, more: Json = {}): Promise<Calling> {
  const calling = await prepare(media, more);
  await Promise.all([calling.operator.join(), calling.visitor.join()]);
  for (const side of [calling.operator, calling.visitor]) await side.untilState('connected');
  return calling;
}

test('both sides hear each other; mute is silence and is told; hanging up lets go of everything', async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  for (const side of [operator, visitor]) {
    await side.untilMore('energy');
    const view = await side.look();
    assert.deepEqual([view.local, view.remote, view.microphone, view.camera], [['audio'], ['audio'], true, false]);
    assert.deepEqual(view.problems, []);
  }

  await operator.do('call.setMicrophone(false)');
  await visitor.untilView(({ other }) => other.microphone === false, 'word that the operator is muted');
  // What was under way when it was muted may still be played.
  await visitor.untilMore('audioBytes', 2_000);
  const { energy } = await visitor.do('measure()');
  await visitor.untilMore('audioBytes', 2_000);
  assert.ok((await visitor.do('measure()')).energy - energy < 1e-6, 'silence');
  await operator.do('call.setMicrophone(true)');
  await visitor.untilView(({ other }) => other.microphone, 'word that the operator is heard again');
  await visitor.untilMore('energy', 1e-5);

  // What a relay was used with may have expired by the time another way is looked for.
  for (const side of [operator, visitor]) {
    const asked = side.page.waitForRequest('**/ice_servers', { timeout: patienceMs });
    await operator.do('call.resync()');
    await asked;
  }
  await visitor.untilMore('energy', 1e-5);

  const tracks = await visitor.page.evaluateHandle('window.harness.call.view.local.getTracks()');
  await visitor.do('call.hangUp()');
  assert.deepEqual((await operator.untilState('ended')).state, { name: 'ended', reason: 'other_hung_up' });
  assert.deepEqual((await visitor.look()).state, { name: 'ended', reason: 'hung_up' });
  assert.deepEqual(await tracks.evaluate((all: Json) => all.map((track: Json) => track.readyState)), ['ended']);
  for (const side of [operator, visitor]) assert.deepEqual((await side.look()).local, []);
  assert.deepEqual(await operator.do('states'), ['preparing', 'connecting', 'connected', 'ended']);
});

test('one-way video: the operator is seen, and the visitor is not asked for a camera; then it goes both ways', async () => {
  await using calling = await connect(seen);
  const { operator, visitor } = calling;
  await visitor.untilMore('frames', 5);
  assert.deepEqual((await visitor.look()).local, ['audio']);
  assert.deepEqual((await operator.look()).local.toSorted(), ['audio', 'video']);
  assert.equal((await operator.do('measure()')).videoBytes, 0);

  // The one that is asked accepts first; the other hears of it a little later.
  await visitor.do(`call.change(${JSON.stringify(both)})`);
  await operator.do(`call.change(${JSON.stringify(both)})`);
  assert.deepEqual((await visitor.look()).local, ['audio'], 'the camera waits for a click');
  await visitor.do('call.startDevices()');
  await operator.untilMore('frames', 5);
  await visitor.untilMore('frames', 5);

  await operator.do('call.setCamera(false)');
  await visitor.untilView(({ other }) => !other.camera, 'word that the camera is off');
  assert.deepEqual((await operator.look()).local, ['audio']);
  await operator.do('call.setCamera(true)');
  await visitor.untilView(({ other }) => other.camera, 'word that the camera is on');
  await visitor.untilMore('frames', 5);
});

test('audio becomes video in the middle of the call, also where the operator is first', proof, async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  const { ufrag } = await operator.do('measure()');
  await operator.do(`call.change(${JSON.stringify(both)})`);
  // The offer has been made and answered before the visitor joins in.
  await until(async () => (await operator.do('measure()')).ufrag !== ufrag, patienceMs);
  assert.equal((await visitor.do('measure()')).frames, 0);
  await visitor.do(`call.change(${JSON.stringify(both)})`);
  for (const side of [operator, visitor]) await side.do('call.startDevices()');
  for (const side of [operator, visitor]) {
    await side.untilMore('frames', 5);
    await side.untilMore('energy');
  }
  for (const side of [operator, visitor]) assert.equal((await side.look()).state.name, 'connected');
});

test('devices are listed by name and changed while talking', proof, async () => {
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
  assert.equal(await operator.do(`speak(${JSON.stringify(speakers[0].id)})`), true);
  // One that is not there any more: said, and the browser's choice taken.
  await operator.do('call.chooseCamera("gone")');
  const view = await operator.look();
  assert.deepEqual(view.problems, [{ device: 'camera', why: 'missing' }]);
  assert.match(view.words[0], /^No camera was found\./);
  assert.deepEqual(view.local.toSorted(), ['audio', 'video']);
  await visitor.untilMore('frames', 5);
});

for (const reloading of ['visitor', 'operator'] as const) {
  test(`the ${reloading} who reloads the page is back in the call`, async () => {
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
    assert.deepEqual((await stays.look()).remote.toSorted(), ['audio', 'video']);
  });
}

test('they find each other whoever comes first, and although signals are lost', async () => {
  await using calling = await prepare(audio);
  const { operator, visitor } = calling;
  const setDeaf = async (isDeaf: boolean): Promise<void> => visitor.page.evaluate(`window.harness.isDeaf = ${isDeaf}`);
  await operator.join();
  await setDeaf(true);
  await visitor.join();
  // Each says that it is there, and is not heard.
  await until(async () => (await operator.do<number>('sent')) >= 2, patienceMs);
  for (const side of [operator, visitor]) assert.equal((await side.look()).state.name, 'connecting');
  await setDeaf(false);
  for (const side of [operator, visitor]) {
    await side.untilState('connected');
    await side.untilMore('energy', 1e-5);
  }

  const sent = await operator.do<number>('sent');
  const { ufrag } = await visitor.do('measure()');
  await setDeaf(true);
  await operator.do('call.resync()');
  await until(async () => (await operator.do<number>('sent')) > sent, patienceMs);
  assert.equal((await visitor.do('measure()')).ufrag, ufrag);
  await setDeaf(false);
  // The offer that was lost comes again, and is answered.
  await until(async () => (await visitor.do('measure()')).ufrag !== ufrag, patienceMs);
  for (const side of [operator, visitor]) {
    await side.untilMore('energy', 1e-5);
    assert.deepEqual(await side.do('states'), ['preparing', 'connecting', 'connected']);
  }
});

test('a lost connection is looked for anew, and found when the network is back', proof, async () => {
  await using calling = await prepare(both);
  const { operator, visitor } = calling;
  const session = await visitor.page.context().newCDPSession(visitor.page);
  const lose = async (packetLoss: number): Promise<void> => {
    const rest = { offline: false, latency: 1, downloadThroughput: -1, uploadThroughput: -1 };
    await session.send('Network.emulateNetworkConditions', { ...rest, packetLoss });
  };
  await session.send('Network.enable');
  // Connections made before there is any loss never have it.
  await lose(1);
  await Promise.all([operator.join(), visitor.join()]);
  for (const side of [operator, visitor]) await side.untilState('connected');
  const { ufrag } = await operator.do('measure()');
  await lose(100);
  for (const side of [operator, visitor]) await side.untilState('reconnecting');
  // It is not left at waiting: an interruption may be over by itself, and this one is not.
  await until(async () => (await operator.do('measure()')).ufrag !== ufrag, patienceMs);
  assert.equal((await operator.look()).state.name, 'reconnecting');
  await lose(1);
  for (const side of [operator, visitor]) {
    await side.untilState('connected');
    await side.untilMore('energy', 1e-5);
    await side.untilMore('frames', 5);
  }
});

test('after another network, or a feed opened again, the way is looked for anew without a break', proof, async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  for (const side of [visitor, operator]) {
    const { ufrag } = await operator.do('measure()');
    await side.page.evaluate("window.dispatchEvent(new Event('online'))");
    await until(async () => (await operator.do('measure()')).ufrag !== ufrag, patienceMs);
    for (const each of [operator, visitor]) await each.untilMore('energy', 1e-5);
  }
  for (const side of [operator, visitor])
    assert.deepEqual(await side.do('states'), ['preparing', 'connecting', 'connected']);
});

test('who may not use the microphone is told so, hears the other, and can try again', async () => {
  await using calling = await prepare(both);
  const { operator, visitor } = calling;
  await visitor.page.evaluate(`
    const { mediaDevices } = navigator;
    const real = mediaDevices.getUserMedia;
    mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError'); };
    window.allow = () => { mediaDevices.getUserMedia = real; };`);
  await Promise.all([operator.join(), visitor.join()]);
  for (const side of [operator, visitor]) await side.untilState('connected');
  const view = await visitor.look();
  assert.deepEqual(
    view.problems.map(({ device, why }: Json) => `${device} ${why}`),
    ['microphone refused', 'camera refused'],
  );
  assert.match(view.words[0], /^This page may not use the microphone\./);
  await visitor.untilMore('energy', 1e-5);
  await operator.untilView(({ other }) => !other.microphone && !other.camera, 'word that the visitor has none');
  await visitor.page.evaluate('window.allow()');
  await visitor.do('call.setMicrophone(true)');
  await visitor.do('call.setCamera(true)');
  await operator.untilMore('energy', 1e-5);
  await operator.untilMore('frames', 5);
  assert.deepEqual((await visitor.look()).problems, []);
});

test('what is agreed on while the browser still asks for the microphone is followed', async () => {
  await using calling = await prepare(audio);
  const { operator, visitor } = calling;
  await visitor.page.evaluate(`
    const { mediaDevices } = navigator;
    const real = mediaDevices.getUserMedia.bind(mediaDevices);
    const allowed = new Promise((resolve) => { window.allow = resolve; });
    mediaDevices.getUserMedia = async (wanted) => { await allowed; return real(wanted); };`);
  const joining = visitor.join();
  await operator.join();
  await visitor.untilState('preparing');
  for (const side of [visitor, operator]) await side.do(`call.change(${JSON.stringify(both)})`);
  await visitor.page.evaluate('window.allow()');
  await joining;
  for (const side of [operator, visitor]) {
    assert.deepEqual((await side.look()).local, ['audio'], 'the click was for the microphone');
    await side.do('call.startDevices()');
  }
  await operator.untilMore('frames', 5);
  assert.deepEqual((await visitor.look()).local.toSorted(), ['audio', 'video']);
});

test('a microphone that is unplugged is not replaced by another without a click', async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  await visitor.page.evaluate(`
    const { mediaDevices } = navigator;
    const real = mediaDevices.getUserMedia.bind(mediaDevices);
    window.asked = 0;
    mediaDevices.getUserMedia = async (wanted) => { window.asked += 1; return real(wanted); };
    window.harness.call.view.local.getTracks()[0].dispatchEvent(new Event('ended'));`);
  await operator.untilView(({ other }) => !other.microphone, 'word that the visitor is not heard');
  const view = await visitor.look();
  assert.deepEqual([view.local, view.microphone, await visitor.page.evaluate('window.asked')], [[], false, 0]);
  assert.deepEqual(view.words, ['The microphone was disconnected. Turn it on again to use another.']);
  await visitor.do('call.setMicrophone(true)');
  await operator.untilView(({ other }) => other.microphone, 'word that the visitor is heard again');
  await operator.untilMore('energy', 1e-5);
  assert.deepEqual((await visitor.look()).problems, []);
});

test('after a transfer the visitor talks to the new operator, on the same page', async () => {
  await using calling = await connect(audio);
  const { chat, operator, visitor } = calling;
  const next = await makePresent(server, chat.own, { media: ['audio', 'text'] });
  const request = await call(server, 'POST /transfer_requests', {
    token: chat.operator.token,
    body: { engagement_id: chat.id, operator_id: next.id },
  });
  const accept = { token: next.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${expectStatus(request, 201).body.id}`, accept), 200);
  const { page } = await chromium.newPage();
  const joining = { token: next.token, engagementId: chat.id, side: 'operator', media: audio };
  const other = new Caller(page, second.url, joining);
  await other.open();
  await operator.do('call.close()');
  await other.join();
  for (const side of [other, visitor]) {
    await side.untilState('connected');
    await side.untilMore('energy', 1e-5);
  }
  assert.deepEqual((await visitor.look()).remote, ['audio']);

  // The page is left without hanging up: the other side sees it at once, and may wait for whom has left.
  assert.equal((await visitor.look()).other.isGone, false);
  await page.goto('about:blank');
  const leftAt = Date.now();
  await visitor.untilView((view) => view.other.isGone, 'word that the operator has left');
  assert.ok(Date.now() - leftAt < 2_000, `noticed after ${Date.now() - leftAt} ms`);
  await visitor.untilState('reconnecting');
  await other.open();
  await other.join();
  for (const side of [other, visitor]) await side.untilMore('energy', 1e-5);
  assert.equal((await visitor.look()).other.isGone, false);
  await page.close();
  await visitor.untilView((view) => view.other.isGone, 'word that the operator has closed the page');
  await page.context().close();
});

test('nobody answers, or nobody comes back: it ends by itself', proof, async () => {
  await using alone = await prepare(audio, { patience: { connectMs: 2_000 } });
  await alone.operator.join();
  assert.deepEqual((await alone.operator.untilState('ended')).state, { name: 'ended', reason: 'unanswered' });
  assert.deepEqual((await alone.operator.look()).local, []);

  await using left = await connect(audio, { patience: { reconnectMs: 2_000 } });
  await left.visitor.page.close();
  assert.deepEqual((await left.operator.untilState('ended')).state, { name: 'ended', reason: 'lost' });
  assert.deepEqual(await left.operator.do('states'), ['preparing', 'connecting', 'connected', 'reconnecting', 'ended']);
});

test('one that is closed here says nothing, and takes nothing any more', proof, async () => {
  await using calling = await connect(audio);
  const { operator, visitor } = calling;
  const sent = await visitor.do<number>('sent');
  await visitor.do('call.close()');
  await operator.do('call.resync()');
  await operator.untilState('reconnecting');
  assert.deepEqual((await visitor.look()).state, { name: 'ended', reason: 'closed' });
  assert.deepEqual([(await visitor.look()).local, await visitor.do('sent')], [[], sent]);
  await operator.do('call.hangUp()');
  assert.deepEqual((await operator.look()).state, { name: 'ended', reason: 'hung_up' });
});
