import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acknowledge, engage, sendText, type Engaged } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import {
  acceptOffer,
  requestTicket,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
} from '../support/world.ts';

/** Whose messages an attached webhook receives, and which Content-Type a registration sends. */
const server = await forThisFile(startTestServer());
const receiver = await forThisFile(startReceiver());

const events = ['engagement.chat.message', 'engagement.chat.message_status', 'engagement.end'];

function hook(name: string, more: Json = {}): Json {
  return { url: `${receiver.url}/${name}`, method: 'POST', events, ...more };
}

/** Both sides send a message and acknowledge the other one; then the engagement ends. Returns what each webhook received. */
async function converse(chat: Engaged, names: readonly string[]): Promise<Record<string, string[]>> {
  const one = await sendText(chat, chat.visitor, 'from the visitor');
  expectStatus(await acknowledge(chat, chat.operator, one), 200);
  const two = await sendText(chat, chat.operator, 'from the operator');
  expectStatus(await acknowledge(chat, chat.visitor, two), 200);
  const body = { action: 'end' };
  expectStatus(await call(server, `PATCH /engagements/${chat.id}`, { token: chat.operator.token, body }), 200);
  const received = (name: string): string[] =>
    receiver.arrived
      .filter(({ path }) => path === `/hook/${name}`)
      .map(({ event }) =>
        event.event_type === 'engagement.end' ? 'end' : `${event.message.status} ${event.message.content}`,
      );
  // Events of an engagement arrive in order, so the end is the last one.
  await until(() => names.every((name) => received(name).includes('end')));
  return Object.fromEntries(names.map((name) => [name, received(name)]));
}

const visitors = ['sent from the visitor', 'delivered from the visitor'];
const operators = ['sent from the operator', 'delivered from the operator'];

test("a visitor's webhook receives the messages of its own side by default, or of the other side or both", async () => {
  const webhooks = [
    hook('v-none'),
    hook('v-own', { messages: 'own' }),
    hook('v-other', { messages: 'other' }),
    hook('v-all', { messages: 'all' }),
  ];
  const received = await converse(await engage(server, {}, { webhooks }), ['v-none', 'v-own', 'v-other', 'v-all']);
  assert.deepEqual(received, {
    'v-none': [...visitors, 'end'],
    'v-own': [...visitors, 'end'],
    'v-other': ['delivered from the visitor', 'sent from the operator', 'end'],
    'v-all': [...visitors, ...operators, 'end'],
  });
});

test("an operator's webhook receives the messages of its own or of the other side, as requested", async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const operator = await makeAvailableOperator(server, own, { available: false });
  const { visitor } = await requestTicket(server, own, { queue_ids: [queue] });
  const webhooks = [hook('o-own'), hook('o-other', { messages: 'other' })];
  const requested = await call(server, 'POST /engagement_requests', {
    token: operator.token,
    body: { site_id: own.siteId, media: 'text', visitor_id: visitor.id, webhooks },
  });
  const { id: request } = expectStatus(requested, 201).body;
  const accepted = await call(server, `PATCH /engagement_requests/${request}`, {
    token: visitor.token,
    body: { action: 'accept' },
  });
  const { engagement_id: id } = expectStatus(accepted, 200).body;
  const received = await converse({ server, own, operator, visitor, id, queue }, ['o-own', 'o-other']);
  assert.deepEqual(received, {
    'o-own': [...operators, 'end'],
    'o-other': ['sent from the visitor', 'delivered from the operator', 'end'],
  });
});

test("the site's setting is the default of the messages field, from the next ticket on", async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const operator = await makeAvailableOperator(server, own);
  const enter = async (name: string): Promise<Engaged> => {
    const { visitor, ...answer } = await requestTicket(server, own, {
      queue_ids: [queue],
      webhooks: [hook(`${name}-default`), hook(`${name}-own`, { messages: 'own' })],
    });
    expectStatus(answer, 201);
    return { server, own, operator, visitor, id: await acceptOffer(server, operator), queue };
  };
  const before = await enter('s');
  for (const messages of ['other', 'all']) {
    const body = { attached_webhook_messages: messages };
    expectStatus(await call(server, `PATCH /sites/${own.siteId}`, { token: own.admin, body }), 200);
    if (messages === 'other')
      assert.deepEqual((await converse(before, ['s-default']))['s-default'], [...visitors, 'end']);
    const chat = await enter(messages);
    const received = await converse(chat, [`${messages}-default`, `${messages}-own`]);
    assert.deepEqual(received, {
      [`${messages}-default`]:
        messages === 'other'
          ? ['delivered from the visitor', 'sent from the operator', 'end']
          : [...visitors, ...operators, 'end'],
      [`${messages}-own`]: [...visitors, 'end'],
    });
  }
});

test('a registration sends its own JSON Content-Type, or application/json by default', async () => {
  const chat = await engage(server);
  const json = 'Application/vnd.example.v2+json; charset=utf-8';
  await makeWebhook(server, chat.own, hook('typed', { headers: { 'CONTENT-type': json } }));
  await makeWebhook(server, chat.own, hook('untyped', { headers: { 'x-own': '1' } }));
  await converse(chat, ['typed', 'untyped']);
  const typesOf = (name: string): (string | undefined)[] => [
    ...new Set(
      receiver.arrived.filter(({ path }) => path === `/hook/${name}`).map(({ headers }) => headers['content-type']),
    ),
  ];
  assert.deepEqual([typesOf('typed'), typesOf('untyped')], [[json], ['application/json']]);
});
