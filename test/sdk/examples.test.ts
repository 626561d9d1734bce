import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { createUsher } from '@usher/sdk';
import { openWorld } from '../support/fixture.ts';
import { freePort } from '../support/network/free-port.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { until } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import {
  acceptOffer,
  makeAccount,
  makeAvailableOperator,
  makeOperator,
  makeQueue,
  requestTicket,
} from '../support/world.ts';

const { server, account } = await openWorld({ webhookAllowCidrs: ['127.0.0.0/8'] });

/** Runs an example until the end of the test. */
function start(t: TestContext, name: string, key: { id: string; secret: string }, more: Record<string, string> = {}) {
  const env = { ...process.env, USHER_URL: server.url, USHER_KEY_ID: key.id, USHER_KEY_SECRET: key.secret, ...more };
  const child = spawn(process.execPath, [`examples/${name}.ts`], { env });
  const printed = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed.text += String(chunk)));
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  return printed;
}

test('the wallboard, in at most 60 lines, shows who waits', async (t) => {
  assert.ok(readFileSync('examples/wallboard.ts', 'utf8').split('\n').length <= 60);
  const queue = await makeQueue(server, account, { name: 'Sales', when_unstaffed: 'accept' });
  const printed = start(t, 'wallboard', account.key);
  await until(() => /Sales: \w+, 0 waiting/.test(printed.text));
  await requestTicket(server, account, { queue_ids: [queue] });
  await until(() => /Sales: \w+, 1 waiting/.test(printed.text));
});

test('the bot greets, answers and hands over to a person', async (t) => {
  // The visitor of the wallboard waits in the other account.
  const own = await makeAccount(server);
  const bot = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const people = await makeQueue(server, own, { name: 'People', when_unstaffed: 'accept' });
  const first = await makeQueue(server, own, { name: 'Bot', when_unstaffed: 'accept' });
  const printed = start(t, 'bot-operator', bot.key, { USHER_PEOPLE_QUEUE: people });
  const { visitor } = await requestTicket(server, own, { queue_ids: [first] });
  const page = createUsher({ url: server.url, token: visitor.token });
  const manager = createUsher({ url: server.url, key: own.key });
  let engagementId = '';
  await until(async () => {
    const { engagements } = await manager.engagements.list({ siteIds: [own.siteId] });
    engagementId = engagements.find((each) => each.visitor_id === visitor.id)?.id ?? '';
    return engagementId !== '';
  });
  const hasMessage = async (content: RegExp): Promise<boolean> =>
    content.test(JSON.stringify(await page.messages.transcript({ engagementId })));
  const say = async (content: string) =>
    page.messages.send({ engagementId, messageId: randomUUID(), body: { content } });
  await until(async () => hasMessage(/I am a bot/));
  await say('Are you open?');
  await until(async () => hasMessage(/You wrote: Are you open\?/));
  await say('A person, please.');
  await until(async () => hasMessage(/looking for a person/));
  await until(async () => (await manager.transferTickets.list({ siteIds: [own.siteId] })).transfer_tickets.length > 0);
  assert.doesNotMatch(printed.text, /Error/);
});

test('the bridge brings messages of another messenger to an operator, and the answers back, in order', async (t) => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own);
  const operator = await makeAvailableOperator(server, own);
  const manager = createUsher({ url: server.url, key: own.key });
  const { token } = await manager.applicationTokens.create({ siteId: own.siteId, body: { kind: 'secret' } });
  const messenger = await startReceiver();
  t.after(async () => messenger.close());
  const port = await freePort();
  const webhook = await makeWebhook(server, own, {
    url: `http://127.0.0.1:${port}/hook`,
    events: ['engagement.start', 'engagement.chat.message', 'engagement.end'],
  });
  const printed = start(t, 'bridge', own.key, {
    USHER_APPLICATION_TOKEN: token,
    USHER_SITE: own.siteId,
    USHER_QUEUE: queue,
    USHER_WEBHOOK_SECRET: webhook.secret,
    MESSENGER_URL: messenger.url,
    PORT: String(port),
  });
  await until(() => printed.text.includes('listens'));
  const write = async (id: string, text: string): Promise<void> => {
    const body = JSON.stringify({ id, user: 'Uma', text });
    assert.equal((await fetch(`http://127.0.0.1:${port}/messenger`, { method: 'POST', body })).status, 204);
  };
  await write('1', 'Hello');
  await write('2', 'Is anybody there?');
  const engagementId = await acceptOffer(server, operator);
  const desk = createUsher({ url: server.url, key: operator.key });
  const transcript = async (): Promise<string[]> => {
    const messages = await desk.messages.transcript({ engagementId });
    return messages.filter(({ type }) => type === 'chat').map(({ content }) => content);
  };
  await until(async () => (await transcript()).length === 2);
  // The messenger reports a message twice.
  await write('3', 'I have a question.');
  await write('3', 'I have a question.');
  for (const content of ['Yes.', 'Ask me.'])
    await desk.messages.send({ engagementId, messageId: randomUUID(), body: { content } });
  await until(() => messenger.arrived.length === 2);
  assert.deepEqual(
    messenger.arrived.map(({ event }) => event),
    [
      { user: 'Uma', text: 'Yes.' },
      { user: 'Uma', text: 'Ask me.' },
    ],
  );
  assert.deepEqual(await transcript(), ['Hello', 'Is anybody there?', 'I have a question.', 'Yes.', 'Ask me.']);
  const forged = await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body: '{}' });
  assert.equal(forged.status, 401);
});
