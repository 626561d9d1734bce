import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { serverProgram } from '../../scripts/built.mjs';
import { forThisFile } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { startTestServer } from '../support/server.ts';
import { makeAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const home = temporaryDirectory();
after(() => home.remove());
const profile = join(home.path, 'usher/profile.json');

interface Result {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs a command and writes the input, once the command has printed `prompt`. */
async function run(command: readonly string[], input = '', prompt = ''): Promise<Result> {
  const [file = '', ...args] = command;
  const env = { PATH: process.env['PATH'], XDG_CONFIG_HOME: home.path };
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  // The command may end without reading.
  child.stdin.on('error', () => undefined);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (output.length < prompt.length && output.length + chunk.length >= prompt.length) child.stdin.end(input);
    output += chunk;
  });
  if (prompt === '') child.stdin.end(input);
  const errors = await text(child.stderr);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, output, errors };
}

const usher = async (args: readonly string[], input = ''): Promise<Result> =>
  run([process.execPath, serverProgram(), ...args], input);

test('login keeps a checked key in a file that only its owner reads, and commands use it', async () => {
  const { key } = await makeAccount(server);
  const login = ['login', '--url', `${server.url}/`, '--key-id', key.id];
  const missing = await usher(['events']);
  assert.equal(missing.code, 1);
  assert.ok(missing.errors.endsWith('or log in with usher login.\n'), missing.errors);
  const wrong = await usher(login, 'usk_wrong\n');
  assert.match(wrong.errors, /^usher: The API key \S+ is unknown, its secret is wrong/);
  assert.match((await usher(login)).errors, /^usher: No secret was given\. Type it when asked, or pipe it/);
  assert.match((await usher(['login'])).errors, /^usher: Give the id of an API key with --key-id\.\n$/);
  assert.equal(statSync(profile, { throwIfNoEntry: false }), undefined);

  const { code, output, errors } = await usher(login, `${key.secret}\n`);
  assert.deepEqual([code, errors, output], [0, '', `Logged in to ${server.url}. The key is kept in ${profile}.\n`]);
  assert.equal(statSync(profile).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse(readFileSync(profile, 'utf8')), { url: server.url, key });
  const events = await usher(['events', '--json']);
  assert.deepEqual([events.code, events.errors], [0, 'No matching events.\n']);

  const elsewhere = await usher(['events', '--url', 'http://127.0.0.1:1']);
  assert.match(elsewhere.errors, /^usher: You are logged in to \S+\. For another URL, log in there/);
  chmodSync(profile, 0o644);
  assert.match((await usher(['events'])).errors, /^usher: Other users can read \S+, .* Run: chmod 600 \S+\n$/);
  chmodSync(profile, 0o600);
  writeFileSync(profile, '{}');
  assert.match((await usher(['events'])).errors, /profile\.json is damaged\. Write it again with usher login\.\n$/);
  assert.equal((await usher(['logout'])).output, `Deleted ${profile}.\n`);
  assert.equal((await usher(['logout'])).output, 'Nobody is logged in.\n');
});

/** `script` runs a command on a terminal of its own. */
const hasScript = (await run(['script', '--version']).catch(() => null))?.code === 0;

test('on a terminal the secret is not shown', { skip: !hasScript && 'needs script of util-linux' }, async () => {
  const { key } = await makeAccount(server);
  const command = [process.execPath, serverProgram(), 'login', '--url', server.url, '--key-id', key.id].join(' ');
  // The last character is erased.
  const prompt = `Secret of the API key ${key.id}: `;
  const { code, output } = await run(['script', '-qec', command, '/dev/null'], `${key.secret}x\u007F\r`, prompt);
  assert.equal(code, 0, output);
  assert.ok(output.startsWith(`${prompt}\r\nLogged in to`), output);
  assert.ok(!output.includes(key.secret.slice(4)), 'the secret was shown');
  await usher(['logout']);
});
