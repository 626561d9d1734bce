import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { newSecret } from '../../packages/server/src/channels/webhook-secret.ts';
import { rotateSigningKey } from '../../packages/server/src/identity/signing-keys.ts';
import { acknowledge, end, engage, sendText, type Engaged } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { freePort } from '../support/network/free-port.ts';
import { launch, type UsherProcess } from '../support/processes/process.ts';
import { startProxy } from '../support/network/proxy.ts';
import { startReceiver, type Received } from '../support/receivers/verifying-receiver.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  offersOf,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

const running: UsherProcess[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop('SIGKILL');
});

async function usher(...args: string[]): Promise<UsherProcess> {
  const process = launch({ dataDir: '/nowhere', args });
  running.push(process);
  return process;
}

function by({ key }: Pick<TestAccount, 'key'>, url = server.url): string[] {
  return ['--url', url, '--key-id', key.id, '--key-secret', key.secret];
}

/** Starts `usher listen` and resolves when it receives events. */
async function startListening(own: TestAccount, args: string[] = [], url = server.url): Promise<UsherProcess> {
  const process = await usher('listen', ...by(own, url), ...args);
  await until(() => process.errors.includes('Press Ctrl-C to stop') || process.child.exitCode !== null, 20_000);
  assert.equal(process.child.exitCode, null, process.errors);
  return process;
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const contents = (events: readonly Json[]): string[] =>
  events.filter(({ event_type }) => event_type === 'engagement.chat.message').map(({ message }) => message.content);
const bodies = (received: readonly Received[]): Json[] => received.map(({ verified }) => verified);

async function sayAll(chat: Engaged, from: number, to: number): Promise<string[]> {
  const spoken: string[] = [];
  for (let number = from; number < to; number += 1) {
    await sendText(chat, number % 2 === 0 ? chat.visitor : chat.operator, `message ${number}`);
    spoken.push(`message ${number}`);
  }
  return spoken;
}

test('listen prints events as they happen, one per line, and stops at Ctrl-C', async () => {
  const chat = await engage(server);
  const process = await startListening(chat.own);
  await sendText(chat, chat.visitor, 'Hello \u001B[31mthere\u009B');
  await end(chat);
  await until(() => process.output.includes('engagement.end'));
  assert.equal(await process.stop('SIGINT'), 0);
  const [message, ended, ...more] = lines(process.output);
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]{12}Z`;
  assert.match(
    message ?? '',
    new RegExp(`^${time} +engagement\\.chat\\.message +engagement ${chat.id} +visitor: "Hello `),
  );
  assert.ok(!process.output.includes('\u001B') && !process.output.includes('\u009B'));
  assert.match(
    ended ?? '',
    new RegExp(`^${time} +engagement\\.end +engagement ${chat.id} +operator_hung_up, operator ${chat.operator.id}$`),
  );
  assert.deepEqual(more, []);
  assert.deepEqual(lines(process.errors), [`Listening to ${server.url}. Press Ctrl-C to stop.`]);
});

test('D8.5 a forwarded event is sent like a webhook, and the response is printed', async () => {
  const chat = await engage(server);
  const secret = newSecret();
  await using receiver = await startReceiver(secret);
  const process = await startListening(chat.own, ['--forward-to', receiver.url, '--secret', secret, '--json']);
  assert.doesNotMatch(process.errors, /whsec_/);
  const beganSec = Math.floor(Date.now() / 1_000);
  await sendText(chat, chat.visitor, 'Tere õhtust');
  await until(() => process.errors.includes('-> 204'));
  const [{ method, path, headers, body, verified }] = receiver.received as [Received];
  assert.deepEqual([method, path, headers['content-type']], ['POST', '/hook?from=usher', 'application/json']);
  assert.equal(headers['webhook-id'], verified.event_id);
  const sentAt = Number(headers['webhook-timestamp']);
  assert.ok(sentAt >= beganSec && sentAt <= Date.now() / 1_000);
  const [stored] = await server.database.sql`SELECT payload FROM events WHERE id = ${verified.event_id}`;
  assert.equal(body, JSON.stringify(stored?.['payload']));
  assert.deepEqual(
    lines(process.output).map((line) => JSON.parse(line)),
    [stored?.['payload']],
  );
  assert.match(process.errors, new RegExp(`-> 204 in \\d+ ms, ${verified.event_id}\n`));
});

test('without --secret a new secret is printed and signs the forwarded events', async () => {
  const chat = await engage(server);
  await using foreign = await startReceiver(newSecret());
  const process = await startListening(chat.own, ['--forward-to', foreign.url]);
  const [secret = ''] = /whsec_[\w+/=]+/.exec(process.errors) ?? [];
  await sendText(chat, chat.visitor, 'Hello');
  await until(() => foreign.received.length === 1);
  assert.equal(foreign.received[0]?.verified, null);
  await using receiver = await startReceiver(secret);
  const again = await fetch(receiver.url, {
    method: 'POST',
    headers: Object.fromEntries(
      Object.entries(foreign.received[0]?.headers ?? {}).filter(([name]) => name.startsWith('webhook-')) as [
        string,
        string,
      ][],
    ),
    body: foreign.received[0]?.body ?? '',
  });
  assert.equal(again.status, 204);
  assert.deepEqual(contents(bodies(receiver.received)), ['Hello']);
});

test('D8.3 only the chosen event types are printed, the message status under the chosen name', async () => {
  const chat = await engage(server);
  const secret = newSecret();
  const filters: [string, string[]][] = [
    ['engagement.chat.message.status,engagement.end', ['engagement.chat.message.status', 'engagement.end']],
    ['engagement.chat.message_status', ['engagement.chat.message_status']],
    ['engagement.chat.message.status,engagement.chat.message_status', ['engagement.chat.message_status']],
  ];
  const receivers = await Promise.all(filters.map(async () => startReceiver(secret)));
  const everything = await startListening(chat.own, ['--json']);
  for (const [index, [types]] of filters.entries())
    await startListening(chat.own, [
      '--events',
      types,
      '--forward-to',
      receivers[index]?.url ?? '',
      '--secret',
      secret,
    ]);
  const message = await sendText(chat, chat.visitor, 'Hello');
  expectStatus(await acknowledge(chat, chat.operator, message), 200);
  await end(chat);
  await until(() => everything.output.includes('engagement.end'));
  for (const [index, [, types]] of filters.entries()) {
    const receiver = receivers[index];
    assert.ok(receiver);
    await until(() => receiver.received.length >= types.length);
    assert.deepEqual(
      bodies(receiver.received).map(({ event_type }) => event_type),
      types,
    );
    await receiver[Symbol.asyncDispose]();
  }
  assert.deepEqual(
    lines(everything.output).map((line) => JSON.parse(line).event_type),
    ['engagement.chat.message', 'engagement.chat.message_status', 'engagement.end'],
  );
});

test('after every lost connection all events arrive, once and in order', async () => {
  const chat = await engage(server);
  const secret = newSecret();
  await using proxy = await startProxy(server);
  await using receiver = await startReceiver(secret);
  const process = await startListening(
    chat.own,
    ['--forward-to', receiver.url, '--secret', secret, '--json'],
    proxy.url,
  );
  const expected: string[] = [];
  for (let round = 0; round < 9; round += 1) {
    // Each cut is in the middle of another item, or of the items sent after a reconnect.
    const cut = proxy.cutAfter(500 + round * 397);
    expected.push(...(await sayAll(chat, expected.length, expected.length + 8)));
    await cut;
    if (round % 3 === 0) {
      proxy.shut(true);
      expected.push(...(await sayAll(chat, expected.length, expected.length + 4)));
      proxy.shut(false);
    }
  }
  await until(() => receiver.received.length >= expected.length, 20_000);
  await end(chat);
  await until(() => bodies(receiver.received).at(-1).event_type === 'engagement.end');
  assert.deepEqual(contents(bodies(receiver.received)), expected);
  assert.deepEqual(contents(lines(process.output).map((line) => JSON.parse(line))), expected);
  assert.ok(proxy.connections() > 9);
  assert.equal(await process.stop('SIGINT'), 0);
});

test('listen signs in again when its token is revoked, and stops with an error when its key is deleted', async () => {
  const chat = await engage(server);
  await using proxy = await startProxy(server);
  const process = await startListening(chat.own, ['--json'], proxy.url);
  await sendText(chat, chat.visitor, 'before');
  await until(() => process.output.includes('before'));
  await rotateSigningKey(server.database.sql, 'revoke');
  // All tokens are invalid now.
  proxy.cut();
  await until(() => process.errors.includes('Reconnected.'));
  const renewed = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: chat.own.key.id, api_key_secret: chat.own.key.secret },
  });
  const { token } = expectStatus(renewed, 200).body;
  const site = { site_id: chat.own.siteId, domain: 'cut.example.com' };
  const domain = expectStatus(await call(server, 'POST /sip_domains', { token, body: site }), 201).body;
  expectStatus(await call(server, `DELETE /sip_domains/${domain.id}`, { token }), 204);
  await until(() => process.output.includes('sip_domain.delete'));

  await server.database.sql`DELETE FROM api_keys WHERE id = ${chat.own.key.id}`;
  proxy.cut();
  assert.equal(await process.ended(), 1);
  assert.match(
    lines(process.errors).at(-1) ?? '',
    /^usher: The API key \S+ is unknown, .* --key-id and --key-secret\.$/,
  );
});

test('listen continues when the server is back, and warns when events may be missing', async () => {
  const chat = await engage(server);
  await using proxy = await startProxy(server);
  const process = await startListening(chat.own, ['--json'], proxy.url);
  await sendText(chat, chat.visitor, 'first');
  await until(() => process.output.includes('first'));
  proxy.shut(true);
  await until(() => process.errors.includes('No server responds'));
  await sendText(chat, chat.visitor, 'second');
  proxy.shut(false);
  await until(() => process.output.includes('second'), 15_000);
  assert.doesNotMatch(process.errors, /may be missing/);

  proxy.shut(true);
  const later = process.errors.length;
  await until(() => process.errors.slice(later).includes('No server responds'));
  // The database begins another epoch without the events that were printed, like a standby that lagged.
  const { sql } = server.database;
  await sql`DELETE FROM events WHERE site_id = ${chat.own.siteId}`;
  await sql`DELETE FROM log_epoch_begun`;
  await sql`SELECT log_epoch()`;
  proxy.shut(false);
  await until(() => process.errors.includes('may be missing'), 15_000);
  assert.match(process.errors, /List them with usher events --since \d{4}-\S+Z\.\n/);
  await sendText(chat, chat.visitor, 'third');
  await until(() => process.output.includes('third'));
  assert.equal(await process.stop('SIGTERM'), 0);
});

test('a failed event is reported and not retried, and the next events are forwarded', async () => {
  const chat = await engage(server);
  const secret = newSecret();
  await using receiver = await startReceiver(secret);
  const answers = [500, null, 302, 200, 204];
  receiver.answer = () => answers[receiver.received.length - 1] ?? null;
  const process = await startListening(chat.own, ['--forward-to', receiver.url, '--secret', secret]);
  const expected = await sayAll(chat, 0, 5);
  await until(() => process.output.includes('-> 204'));
  assert.deepEqual(contents(bodies(receiver.received)), expected);
  const forwarded = lines(process.output).filter((line) => line.startsWith('  -> '));
  assert.deepEqual(
    forwarded.map((line) => line.replace(/(?: in \d+ ms)?, [\da-f-]{36}$/, '')),
    ['  -> 500', '  -> not forwarded (UND_ERR_SOCKET)', '  -> 302', '  -> 200', '  -> 204'],
  );
});

test('a receiver that does not respond delays only its engagement, and Ctrl-C does not wait for it', async () => {
  const chat = await engage(server);
  const { own } = chat;
  const operator = await makeAvailableOperator(server, own);
  const { visitor } = await enqueue(server, own, chat.queue);
  await until(async () => (await offersOf(server, operator)).length === 1);
  const other = { ...chat, operator, visitor, id: await acceptOffer(server, operator) };
  const secret = newSecret();
  await using receiver = await startReceiver(secret);
  receiver.answer = async ({ verified }) =>
    verified.message.engagement_id === chat.id ? new Promise<number>(() => undefined) : 200;
  const process = await startListening(own, ['--forward-to', receiver.url, '--secret', secret]);
  await sayAll(chat, 0, 3);
  await sayAll(other, 3, 6);
  await until(() => receiver.received.length === 4);
  assert.deepEqual(contents(bodies(receiver.received)).toSorted(), [
    'message 0',
    'message 3',
    'message 4',
    'message 5',
  ]);
  const began = performance.now();
  assert.equal(await process.stop('SIGINT'), 0);
  assert.ok(performance.now() - began < 5_000);
  assert.match(process.errors, /3 events were not forwarded\./);
});

/** Asserts that the command exited with a single line that says what to do. */
/** A wrong option exits with 64, anything else that goes wrong with 1. */
async function assertRefusal(process: UsherProcess, code: 1 | 64, line: RegExp): Promise<void> {
  assert.equal(await process.ended(), code);
  assert.match(process.errors.trimEnd(), line);
  assert.equal(lines(process.errors).length, 1, process.errors);
  assert.equal(process.output, '');
}

test('every error is one line that says what to do', async (t) => {
  const own = await makeAccount(server);
  const foreign = createServer((_request, response) => response.writeHead(404).end('nothing')).listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  const elsewhere = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
  const closedUrl = `http://127.0.0.1:${await freePort()}`;
  const wrong = { key: { id: own.key.id, secret: 'wrong' } };
  const cases: [1 | 64, string[], RegExp][] = [
    [1, by(wrong), /^usher: The API key \S+ is unknown, its secret is wrong, or .*\. Use another key with --key-id /],
    [
      1,
      by(own, closedUrl),
      /^usher: No server responds at \S+ \(ECONNREFUSED\)\. Start it, or set its URL with --url\.$/,
    ],
    [1, by(own, elsewhere), /^usher: \S+ is not an Usher server \(status 404\)\. Set the URL of Usher with --url\.$/],
    [1, [], /^usher: Give an API key with --key-id and --key-secret, set USHER_ADMIN_KEY_ID and /],
    [64, ['--loud'], /^usher: Unknown option '--loud'\. See usher listen --help\.$/],
    [64, [...by(own), '--secret', newSecret()], /^usher: --secret signs forwarded events and needs --forward-to\.$/],
    [
      64,
      [...by(own), '--forward-to', closedUrl, '--secret', 'whsec_short'],
      /^usher: --secret must be whsec_ followed by /,
    ],
  ];
  for (const [code, args, line] of cases)
    await t.test(line.source, async () => assertRefusal(await usher('listen', ...args), code, line));
  foreign.close();
});

test('both commands have a --help text', async () => {
  for (const command of ['listen', 'events']) {
    const process = await usher(command, '--help');
    assert.equal(await process.ended(), 0);
    assert.match(process.output, new RegExp(`^usher ${command} `));
    assert.equal(process.errors, '');
  }
  const all = await usher('help');
  assert.equal(await all.ended(), 0);
  assert.match(all.output, /^ {2}listen +print .*\n {2}events +print /m);
});

test('usher events prints the log, newest last', async () => {
  const chat = await engage(server);
  const expected = await sayAll(chat, 0, 4);
  await end(chat);
  const run = async (...args: string[]): Promise<UsherProcess> => {
    const process = await usher('events', ...by(chat.own), ...args);
    assert.equal(await process.ended(), 0, process.errors);
    return process;
  };
  const whole = lines((await run('--json')).output).map((line) => JSON.parse(line));
  assert.deepEqual(
    whole.map(({ type }) => type),
    ['engagement.start', ...expected.map(() => 'engagement.chat.message'), 'engagement.end'],
  );
  assert.deepEqual(contents(whole.map(({ event }) => event)), expected);
  const shown = lines((await run()).output);
  assert.equal(shown.length, whole.length);
  for (const [index, line] of shown.entries())
    assert.match(line, new RegExp(`^${whole[index].occurred_at} +${whole[index].type} +engagement ${chat.id}  `));

  const ids = async (...args: string[]): Promise<string[]> =>
    lines((await run('--json', ...args)).output).map((line) => JSON.parse(line).id);
  const all = whole.map(({ id }) => id);
  assert.deepEqual(await ids('--limit', '2'), all.slice(-2));
  assert.deepEqual(await ids('--type', 'engagement.start,engagement.end'), [all[0], all.at(-1)]);
  assert.deepEqual(await ids('--engagement', chat.id, '--since', '10m'), all);
  assert.deepEqual(await ids('--visitor', chat.visitor.id, '--since', whole[2].occurred_at), all.slice(2));
  assert.deepEqual(await ids('--until', whole[2].occurred_at), all.slice(0, 2));
  const none = await run('--until', '1h');
  assert.deepEqual([none.output, none.errors], ['', 'No matching events.\n']);
});

test('usher events reads several pages and refuses invalid options', async (t) => {
  const own = await makeAccount(server);
  await server.database.sql`
    INSERT INTO events (account_id, id, type, site_id, occurred_at, payload)
    SELECT o.account_id, gen_random_uuid(), 'engagement.event', ${own.siteId}, now(), json_build_object('n', n)
      FROM operators o, generate_series(1, 2500) AS n WHERE o.id = ${own.adminId} ORDER BY n`;
  const process = await usher('events', ...by(own), '--json', '--limit', '2200');
  assert.equal(await process.ended(), 0, process.errors);
  assert.deepEqual(
    lines(process.output).map((line) => JSON.parse(line).event.n),
    Array.from({ length: 2200 }, (_, index) => index + 301),
  );

  const manager = await makeOperator(server, own, [{ site_id: own.siteId, role: 'manager' }]);
  const made = await call(server, `POST /operators/${manager.id}/api_keys`, { token: own.admin });
  const { id, secret } = expectStatus(made, 201).body;
  const cases: [1 | 64, string[], RegExp][] = [
    [
      1,
      by({ key: { id, secret } }),
      /^usher: This request needs the role super_manager on at least one site\. Use the API key of /,
    ],
    [64, [...by(own), '--limit', '0'], /^usher: --limit must be a whole number from 1 to 10000, not "0"\.$/],
    [64, [...by(own), '--engagement', '7'], /^usher: --engagement must be an id such as /],
  ];
  for (const [code, args, line] of cases)
    await t.test(line.source, async () => assertRefusal(await usher('events', ...args), code, line));
});
