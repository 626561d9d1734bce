import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../packages/server/src/config.ts';
import { engage, sendText } from '../support/people/chat.ts';
import { startDns } from '../support/network/dns.ts';
import { forThisFile } from '../support/fixture.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import {
  requestTicket,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  type TestAccount,
} from '../support/world.ts';

const dns = await forThisFile(startDns(() => ({ v4: ['127.0.0.1'] })));
const { webhookAllowCidrs, attachedWebhookAllowCidrs } = readConfig({});
/** The default settings of `npm start`. Every name resolves to this machine. */
const server = await forThisFile(
  startTestServer({ webhookAllowCidrs, attachedWebhookAllowCidrs, dnsServers: [dns.address] }),
);
const receiver = await forThisFile(startReceiver());

const messages = ['engagement.chat.message'];

function attached(url: string): Json {
  return { url, method: 'PUT', headers: { 'x-own': '1' }, events: messages };
}

test('by default a visitor cannot make Usher call this machine, by any address or name', async () => {
  const own = await makeAccount(server);
  await makeQueue(server, own);
  const hosts = ['127.0.0.1', '127.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', 'localhost', 'app.localhost', '0'];
  for (const host of hosts) {
    const answer = await requestTicket(server, own, { webhooks: [attached(`http://${host}:${receiver.port}/`)] });
    const { details } = expectStatus(answer, 422).body;
    assert.equal(details[0].attribute, '/webhooks/0/url', host);
    assert.match(details[0].detail, /USHER_WEBHOOK_ALLOW_CIDRS/);
  }
});

test('an operator cannot attach a webhook to this machine, but a super_manager can register one', async () => {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own);
  const { visitor } = await requestTicket(server, own);
  const answer = await call(server, 'POST /engagement_requests', {
    token: operator.token,
    body: { site_id: own.siteId, media: 'text', visitor_id: visitor.id, webhooks: [attached(receiver.url)] },
  });
  expectStatus(answer, 422);
  await makeWebhook(server, own, { url: receiver.url });
});

test('a name that resolves to this machine is called for a registered webhook, not for a visitor’s', async () => {
  const url = `http://hooks.test:${receiver.port}`;
  const webhooks = Array.from({ length: 10 }, (_, index) => attached(`${url}/visitors/${index}`));
  const chat = await engage(server, {}, { webhooks });
  receiver.arrived.length = 0;
  const { sql } = server.database;
  const attempts = async () => sql<{ error: string; status: number | null }[]>`
    SELECT l.error, l.status
      FROM delivery_log l
      JOIN webhooks w ON w.id = l.webhook_id
     WHERE w.side = 'visitor' AND l.account_id = (SELECT account_id FROM operators WHERE id = ${chat.own.adminId})`;
  await sendText(chat, chat.visitor, 'one');
  await until(async () => (await attempts()).length >= 10);
  for (const { error, status } of await attempts())
    assert.deepEqual([error, status], ['the address is not allowed', null]);
  // A delivery without a request says nothing about the receiver, so the breaker stays closed.
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  assert.match(metrics, /^usher_delivery_destinations\{state="open"\} 0$/m);
  assert.match(metrics, /^usher_delivery_destinations\{state="half_open"\} 0$/m);
  await makeWebhook(server, chat.own, { url: `${url}/registered`, events: messages });
  for (const content of ['two', 'three']) await sendText(chat, chat.visitor, content);
  await until(() => receiver.arrived.length === 2);
  assert.deepEqual([...new Set(receiver.arrived.map(({ path }) => path))], ['/registered']);
});

async function setSite({ siteId, admin }: TestAccount, body: Json): Promise<Json> {
  return expectStatus(await call(server, `PATCH /sites/${siteId}`, { token: admin, body }), 200).body;
}

test('a site can refuse webhooks from visitors and still accept them from operators', async () => {
  const own = await makeAccount(server);
  await makeQueue(server, own);
  const operator = await makeAvailableOperator(server, own);
  const webhooks = [attached('https://93.184.215.14/')];
  assert.equal((await setSite(own, { visitor_webhooks: false })).visitor_webhooks, false);
  const ticket = await requestTicket(server, own, { webhooks });
  assert.equal(expectStatus(ticket, 403).body.error, 'forbidden');
  assert.match(ticket.body.detail, /visitor_webhooks/);
  const { visitor } = ticket;
  const ask = { site_id: own.siteId, media: 'text', operator_id: operator.id, webhooks };
  expectStatus(await call(server, 'POST /engagement_requests', { token: visitor.token, body: ask }), 403);
  // An empty list is accepted.
  expectStatus(await requestTicket(server, own, { webhooks: [] }, visitor), 201);
  const offer = { site_id: own.siteId, media: 'text', visitor_id: visitor.id, webhooks };
  assert.notEqual(
    (await call(server, 'POST /engagement_requests', { token: operator.token, body: offer })).status,
    403,
  );
  await setSite(own, { visitor_webhooks: null });
  expectStatus(await requestTicket(server, own, { webhooks }), 201);
  const { audit_log: entries } = expectStatus(await call(server, 'GET /audit_log', { token: own.admin }), 200).body;
  const changes = entries.flatMap((entry: Json) => entry.changes ?? []);
  assert.ok(changes.some((change: Json) => change.field === 'visitor_webhooks' && change.after === false));
});
