import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createUsher, type SubscribedItem } from '@usher/sdk';
import { verify, WebhookVerificationError, type WebhookVerificationReason } from '@usher/sdk/webhooks';
import { Webhook } from 'standardwebhooks';
import { engage, sendText } from '../support/people/chat.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { until } from '../support/server.ts';

const { server } = await openWorld();
const chat = await engage(server);
const usher = createUsher({ url: server.url, token: chat.operator.token });
const visitor = createUsher({ url: server.url, token: chat.visitor.token });

test('a subscription continues without a gap or a repetition when its connection is cut', async (t) => {
  const sent = Array.from({ length: 30 }, (_, index) => `Message ${index}`);
  const received: string[] = [];
  const states: string[] = [];
  const stop = new AbortController();
  t.after(() => stop.abort());
  const isOpen = Promise.withResolvers<void>();
  const reading = (async () => {
    const subscription = usher.feed.subscribe({ signal: stop.signal, onState: (state) => states.push(state) });
    for await (const item of subscription) {
      if (item.type === 'feed.open') isOpen.resolve();
      if (item.type === 'engagement.chat.message') received.push(item.data.message.content);
    }
  })();
  await isOpen.promise;
  for (const [index, content] of sent.entries()) {
    await visitor.messages.send({ engagementId: chat.id, messageId: randomUUID(), body: { content } });
    if (index % 10 !== 5) continue;
    await until(() => states.at(-1) === 'open');
    server.app.server.closeAllConnections();
    await until(() => states.at(-1) !== 'open');
  }
  await until(() => received.length >= sent.length);
  stop.abort();
  await reading;
  assert.deepEqual(received, sent);
  assert.equal(states.filter((state) => state === 'open').length, 4);
});

test('a subscription after an unknown item reports a reset, and a refused reader gets the error', async () => {
  const items: SubscribedItem[] = [];
  for await (const item of usher.feed.subscribe({ lastEventId: 'long-ago' })) {
    items.push(item);
    if (item.type === 'feed.reset') break;
  }
  const reset = items.at(-1);
  assert.ok(reset?.type === 'feed.reset' && reset.data.reason === 'unknown_id');
  const stranger = createUsher({ url: server.url, token: 'unknown' });
  await assert.rejects(
    async () => {
      for await (const item of stranger.feed.subscribe()) assert.fail(item.type);
    },
    { name: 'UsherError', status: 401 },
  );
});

test('an upload reports its progress, and the file keeps its name', async () => {
  const text = 'All work and no play. '.repeat(20_000);
  const shares: number[] = [];
  const file = new File([text], 'notes "1".txt', { type: 'text/plain' });
  const { file_id: fileId } = await usher.files.upload(
    { engagementId: chat.id, file },
    { onProgress: (share) => shares.push(share) },
  );
  assert.equal(shares.at(-1), 1);
  assert.deepEqual(
    shares,
    shares.toSorted((one, other) => one - other),
  );
  const plain = await usher.files.upload({ engagementId: chat.id, file });
  assert.notEqual(plain.file_id, fileId);
  const { files } = await usher.files.list({ engagementId: chat.id });
  assert.equal(files.length, 2);
  const names = new Set(files.map((each) => each.name));
  assert.equal(names.size, 1, 'with and without progress the file has the same name');
});

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const former = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

test('a webhook request of the server is verified, as a Fetch request and with the headers of Node', async () => {
  const receiver = await forThisFile(startReceiver());
  const manager = createUsher({ url: server.url, key: chat.own.key });
  const webhook = await manager.webhooks.create({
    body: {
      site_ids: [chat.own.siteId],
      url: receiver.url,
      method: 'POST',
      events: ['engagement.chat.message'],
      secret,
    },
  });
  await sendText(chat, chat.visitor, 'Is it signed? ✓');
  await until(() => receiver.arrived.length === 1);
  const [{ headers, body } = assert.fail()] = receiver.arrived;
  const event = await verify({ headers, body }, secret);
  assert.ok(event.event_type === 'engagement.chat.message');
  assert.equal(event.message.content, 'Is it signed? ✓');
  const request = new Request(receiver.url, { method: 'POST', headers: headers as Record<string, string>, body });
  assert.deepEqual(await verify(request, [former, secret]), event);
  assert.deepEqual(
    await verify({ headers: new Headers(headers as Record<string, string>), body: Buffer.from(body) }, secret),
    event,
  );
  await manager.webhooks.delete({ webhookId: webhook.id });
});

test('a request that is forged, old, unsigned or parsed is refused with the reason', async () => {
  const body = JSON.stringify({ event_type: 'engagement.start', event_id: 'an-event' });
  const now = new Date();
  const signed = (at: Date, text = body, by = secret) => ({
    'webhook-id': 'an-event',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('an-event', at, text),
  });
  const reasonOf = async (headers: Record<string, string>, text: unknown = body): Promise<unknown> =>
    verify({ headers, body: text as string }, secret, { now }).then(
      () => 'accepted',
      (error: unknown) => (error instanceof WebhookVerificationError ? error.reason : error),
    );
  const right = signed(now);
  const shifted = (seconds: number) => signed(new Date(now.getTime() + seconds * 1000));
  const expected: readonly [WebhookVerificationReason | 'accepted', unknown][] = [
    ['accepted', await reasonOf(right)],
    ['accepted', await reasonOf({ ...right, 'webhook-signature': `v1a,x v1,AAAA ${right['webhook-signature']}` })],
    ['accepted', await reasonOf(shifted(-299))],
    ['wrong_signature', await reasonOf(right, `${body} `)],
    ['wrong_signature', await reasonOf(signed(now, body, former))],
    ['wrong_signature', await reasonOf({ ...right, 'webhook-id': 'another' })],
    ['wrong_signature', await reasonOf({ ...right, 'webhook-signature': 'v1,not base64' })],
    ['outside_tolerance', await reasonOf(shifted(-302))],
    ['outside_tolerance', await reasonOf(shifted(302))],
    ['invalid_timestamp', await reasonOf({ ...right, 'webhook-timestamp': '1e9' })],
    ['missing_header', await reasonOf({ ...right, 'webhook-signature': '' })],
    ['parsed_body', await reasonOf(right, JSON.parse(body))],
    ['not_an_event', await reasonOf(signed(now, '[]'), '[]')],
  ];
  for (const [index, [reason, actual]] of expected.entries()) assert.equal(actual, reason, `case ${index}`);
  await assert.rejects(verify({ headers: right, body }, 'secret'), /begins with whsec_/);
});
