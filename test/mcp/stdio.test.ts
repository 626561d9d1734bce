import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { weekdays } from '@usher/contract/opening-times';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { serverProgram } from '../../scripts/built.mjs';
import { openWorld } from '../support/fixture.ts';
import { failTool, modernRevision, useTool } from '../support/people/mcp.ts';
import { freePort } from '../support/network/free-port.ts';
import { call, type Json } from '../support/server.ts';
import { expectStatus, makePolicy } from '../support/world.ts';

/** `/mcp` is off by default; `usher mcp` needs only the API. */
const { server, account } = await openWorld();
const { key, admin } = account;

const environment = { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: '/nowhere' };

async function connect(
  args: readonly string[],
  { env = {}, mode = 'legacy' }: { env?: Record<string, string>; mode?: 'legacy' | { pin: string } } = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const command = {
    command: process.execPath,
    args: [serverProgram(), 'mcp', ...args],
    env: { ...environment, ...env },
  };
  await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }));
  return client;
}

const flags = ['--url', server.url, '--key-id', key.id, '--key-secret', key.secret];

test('/mcp does not exist unless it is switched on', async () => {
  const { status, body } = await call(server, 'POST /mcp', { token: admin, body: {} });
  assert.deepEqual([status, body.error], [404, 'not_found']);
});

test('usher mcp reads and changes with the key that it is given, in both revisions of the protocol', async () => {
  const daily = [{ opens_at: '09:00', closes_at: '17:00', days_of_week: [...weekdays] }];
  const policy = await makePolicy(server, account, { timezone: 'UTC', business_hours: daily });
  const stored = async (): Promise<Json> =>
    expectStatus(await call(server, `GET /queues/scheduling_policies/${policy}`, { token: admin }), 200).body
      .exceptions;
  const settings = { USHER_ADMIN_KEY_ID: key.id, USHER_ADMIN_KEY_SECRET: key.secret };
  for (const [date, client] of [
    ['2031-05-01', await connect(flags)],
    ['2031-05-02', await connect(['--url', server.url], { env: settings, mode: { pin: modernRevision } })],
  ] as const) {
    assert.equal((await client.listTools()).tools.length, 10);
    const change = { policy_id: policy, set_exceptions: [{ date }] };
    const { version, changed_days } = (await useTool(client, 'preview_hours_change', change)).data;
    assert.deepEqual(changed_days, [{ date, before: ['09:00-17:00'], after: [] }]);
    await useTool(client, 'change_hours', { ...change, version });
    assert.deepEqual((await stored()).at(-1), { date });
    assert.match(await failTool(client, 'change_hours', { ...change, version }), /changed since the preview/);
    await client.close();
  }
});

test('a wrong key or a server that is away is the answer of the tool, which says what to do', async () => {
  const wrong = await connect(['--url', server.url, '--key-id', key.id, '--key-secret', 'x'.repeat(20)]);
  assert.match(await failTool(wrong, 'list_queues'), /Use another key with --key-id and --key-secret/);
  await wrong.close();
  const url = `http://127.0.0.1:${await freePort()}`;
  const away = await connect(['--url', url, '--key-id', key.id, '--key-secret', key.secret]);
  assert.match(await failTool(away, 'list_queues'), /No server responds at .*Start it, or set its URL with --url/);
  await away.close();
});

test('standard output carries only the protocol, and the end of the input ends the program', async () => {
  const child = spawn(process.execPath, [serverProgram(), 'mcp', ...flags], { env: environment });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: Json): unknown => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const answer = async (): Promise<Json> => JSON.parse((await lines.next()).value ?? '');
  const clientInfo = { name: 'test', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  assert.equal((await answer()).result.serverInfo.name, 'usher');
  child.stdin.write('this is no message\n');
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'list_queues', arguments: {} } });
  const { id, result } = await answer();
  assert.deepEqual([id, result.isError], [2, undefined]);
  child.stdin.end();
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
  assert.equal((await lines.next()).done, true, 'nothing else was written');
  assert.match(errors, /^usher: MCP tools for http/);
});

test('a signal ends the program', async () => {
  const child = spawn(process.execPath, [serverProgram(), 'mcp', ...flags], { env: environment });
  await once(child.stderr, 'data');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('without a key the command says how to give one', async () => {
  const child = spawn(process.execPath, [serverProgram(), 'mcp'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts[0] += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts[1] += text));
  const [code] = await once(child, 'close');
  assert.deepEqual([code, texts[0]], [1, '']);
  assert.match(
    texts[1] ?? '',
    /^usher: Give an API key with --key-id and --key-secret, .* or log in with usher login\.\n$/,
  );
});
