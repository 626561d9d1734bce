import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { newSecret } from '../../packages/server/src/channels/webhook-secret.ts';
import { forThisFile } from '../support/fixture.ts';
import { launch, type UsherProcess } from '../support/processes/process.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { startReceiver } from '../support/receivers/verifying-receiver.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { expectStatus, makeAccount, makePolicy, makeQueue, type TestAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const account = await makeAccount(server);

const launched: UsherProcess[] = [];
after(async () => {
  for (const usher of launched) await usher.stop('SIGKILL');
});

async function usher(...args: string[]): Promise<UsherProcess> {
  const process = launch({ dataDir: '/nowhere', args });
  launched.push(process);
  await process.ended();
  return process;
}

const by = ({ key }: Pick<TestAccount, 'key'>): string[] => [
  '--url', server.url, '--key-id', key.id, '--key-secret', key.secret,
]; // prettier-ignore

/** Starts an HTTP server on loopback. Returns its address without a scheme. */
async function serve(listener: RequestListener): Promise<string> {
  const receiver = createServer(listener).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  after(() => receiver.closeAllConnections());
  after(() => receiver.close());
  return `127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
}

test('--misbehave finds nothing wrong with a receiver that verifies with the standard library', async () => {
  const secret = newSecret();
  const webhook = new Webhook(secret);
  const seen = new Set<string>();
  const at = await serve((request, response) => {
    void buffer(request).then((body) => {
      try {
        webhook.verify(body.toString(), request.headers as Record<string, string>);
        seen.add(String(request.headers['webhook-id']));
        response.writeHead(204).end();
      } catch {
        response.writeHead(401).end();
      }
    });
  });
  const { child, output, errors } = await usher('listen', at, '--misbehave', '--secret', secret);
  assert.deepEqual([child.exitCode, errors], [0, ''], output);
  const lines = output.trim().split('\n');
  assert.ok(lines.length >= 14, output);
  for (const line of lines) assert.match(line, /^right {2}\S/);
  assert.ok(seen.size >= 25);
});

test('--misbehave names what a careless receiver does wrong, and what to do', async () => {
  const careless = await serve((request, response) => {
    void buffer(request).then((body) => {
      // Accepts everything, except for bodies that it thinks too long.
      response.writeHead(body.length > 20_000 ? 413 : 200).end();
    });
  });
  const { child, output } = await usher('listen', careless, '--misbehave', '--secret', newSecret(), '--json');
  assert.equal(child.exitCode, 1);
  const findings: Json[] = output.trim().split('\n').map((line) => JSON.parse(line)); // prettier-ignore
  const wrong = findings.filter(({ right }) => right !== true);
  assert.deepEqual(
    wrong.map(({ trial, detail }) => [trial.slice(0, 14), detail.split('.', 1)[0]]),
    [
      ['a signature wi', 'status 200'],
      ['no signature, ', 'status 200'],
      ['a body that wa', 'status 200'],
      ['another id tha', 'status 200'],
      ['a request from', 'status 200'],
      ['a large event', 'status 413'],
    ],
  );
  assert.match(wrong[4].detail, /Compare webhook-timestamp with your clock, and refuse a difference of more than five/);
});

test('--misbehave says that nobody answers, and what it needs', async () => {
  const { child, output } = await usher('listen', '127.0.0.1:1/hook', '--misbehave', '--secret', newSecret());
  assert.equal(child.exitCode, 1);
  assert.match(output, /^WRONG {2}an event: no answer \(ECONNREFUSED\)\. Answer .*\n$/);
  assert.match(
    (await usher('listen', '--misbehave')).errors,
    /^usher: --misbehave needs the URL of a receiver and its secret: /,
  );
});

test('trigger sends a signed sample to a receiver, or through a registered webhook', async () => {
  const secret = newSecret();
  await using receiver = await startReceiver(secret);
  const local = await usher('trigger', 'engagement.end', '--to', new URL(receiver.url).host, '--secret', secret);
  assert.match(local.output, /^engagement\.end -> 204 in \d+ ms, [\da-f-]{36}\n$/, local.errors);
  assert.deepEqual(receiver.received.map(({ verified }) => verified.event_type), ['engagement.end']); // prettier-ignore

  const webhook = await makeWebhook(server, account, { url: receiver.url, events: ['engagement.start'], secret });
  const sent = await usher('trigger', 'engagement.transfer', '--webhook', webhook.id, ...by(account));
  assert.match(
    sent.output,
    /^engagement\.transfer is on its way to the webhook as delivery [\da-f-]{36}\.\n$/,
    sent.errors,
  );
  await until(() => receiver.received.length === 2);
  const [delivery] = expectStatus(
    await call(server, `GET /webhooks/${webhook.id}/deliveries`, { token: account.admin }),
    200,
  ).body.deliveries;
  const again = await usher('events', 'resend', delivery.id, ...by(account));
  assert.match(again.output, /^The event is sent again as delivery [\da-f-]{36} \(\w+\)\.\n$/, again.errors);
  await until(() => receiver.received.length === 3);

  assert.match(
    (await usher('trigger', 'nonsense', '--to', 'localhost:1')).errors,
    /^usher: "nonsense" is not an event type/,
  );
  assert.match((await usher('trigger', 'engagement.end')).errors, /^usher: Name the receiver: --to <url>/);
});

test('queues, hours and webhooks are listed as tables, and shown singly', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { name: 'Sales' });
  const policy = await makePolicy(server, own);
  await makeWebhook(server, own, { url: 'https://receiver.invalid/' });
  const queues = await usher('queues', 'list', ...by(own));
  assert.match(
    queues.output,
    new RegExp(`^id +status +waiting +capacity +name\\n${queue} +\\w+ +0 +10 +Sales\\n$`),
    queues.errors,
  );
  const hours = await usher('hours', 'list', ...by(own));
  assert.match(
    hours.output,
    new RegExp(`^id +timezone +exceptions +name\\n${policy} +Europe/Tallinn +0 +Office hours\\n$`),
  );
  const webhooks = await usher('webhooks', 'list', '--json', ...by(own));
  assert.deepEqual(JSON.parse(webhooks.output).webhooks.map(({ url }: Json) => url), ['https://receiver.invalid/']); // prettier-ignore
  const one = await usher('queues', 'get', queue, ...by(own));
  assert.match(one.output, /^name +Sales$/m);
  assert.match(one.output, /^capacity_policy +\{"type":"fixed","capacity":10\}$/m);
  assert.match(
    (await usher('hours', 'get', 'x', ...by(own))).errors,
    /^usher: "x" is not an id\. usher hours list prints/,
  );
  assert.match((await usher('hours', 'get', queue, ...by(own))).errors, /^usher: .*(?:not exist|There is no)/);
});
