import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { freePort } from '../support/network/free-port.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { until } from '../support/server.ts';
import { snippets, type Snippet } from '../support/api/snippets.ts';
import { makeQueue } from '../support/world.ts';

/** Every program in the documentation is compiled and run as it is written, with the package of the SDK. */
const { server, account } = await openWorld();
const all = snippets();
const programs = all.filter(({ language }) => ['ts', 'js'].includes(language));
const folder = await forThisFile(install());

/** A project with the SDK's tarball and the frameworks, and the programs as files. */
async function install(): Promise<{ readonly path: string; close(): Promise<void> }> {
  const directory = temporaryDirectory();
  const { path } = directory;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['scripts/build-sdk.ts', '--out', path]);
  writeFileSync(join(path, 'package.json'), '{ "private": true, "type": "module" }');
  const flags = ['--no-audit', '--no-fund', '--offline', '--loglevel=error'];
  await run('npm', ['install', ...flags, stdout.trim()], { cwd: path });
  const linked = { bench: ['express', '@types/express', 'hono', '@hono/node-server'], '.': ['fastify', '@types/node'] };
  for (const [from, names] of Object.entries(linked))
    for (const name of names) {
      const link = join(path, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(resolve(from, 'node_modules', name), link);
    }
  for (const program of programs) writeFileSync(join(path, fileOf(program)), program.text);
  return { path, close: async () => directory.remove() };
}

function fileOf({ page, line, language }: Snippet): string {
  return `${page.replaceAll(/\W/g, '-')}-${line}.${language}`;
}

/** The only program whose text contains this. */
function programWith(text: string): Snippet {
  const found = programs.filter((program) => program.text.includes(text));
  assert.equal(found.length, 1, `${found.length} programs contain ${text}`);
  return found[0] ?? assert.fail();
}

const secret = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;

/** Starts a program, which ends with the test. */
function start(t: TestContext, program: Snippet, more: Record<string, string> = {}): { text: string } {
  const { id, secret: keySecret } = account.key;
  const own = { USHER_URL: server.url, USHER_KEY_ID: id, USHER_KEY_SECRET: keySecret, USHER_SITE_ID: account.siteId };
  const secrets = { USHER_WEBHOOK_SECRET: secret, WEBHOOK_SECRET: secret };
  const env = { ...process.env, ...own, ...secrets, ...more };
  const child: ChildProcess = spawn(process.execPath, [fileOf(program)], { cwd: folder.path, env });
  const printed = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed.text += String(chunk)));
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  return printed;
}

test('every program in the documentation compiles', () => {
  const files = programs.filter(({ language }) => language === 'ts').map(fileOf);
  assert.ok(files.length >= 6);
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
  const compile = [resolve('node_modules/typescript/bin/tsc'), ...flags, '--types', 'node', ...files];
  const { stdout } = spawnSync(process.execPath, compile, { cwd: folder.path, encoding: 'utf8' });
  assert.equal(stdout, '');
});

test('the programs that read run', async (t) => {
  await makeQueue(server, account, { name: 'Snippets' });
  const list = start(t, programWith('console.log(queue.name)'));
  await until(() => list.text.includes('Snippets'));
  const feed = start(t, programWith('usher.feed.subscribe'));
  await until(() => feed.text.includes('0 active engagements'));
});

/** What marks the receiver of each framework. */
const receivers = { Express: "from 'express'", Fastify: "from 'fastify'", Hono: "from 'hono'", Node: 'createHmac' };

for (const [name, mark] of Object.entries(receivers))
  test(`the receiver with ${name} accepts what Usher signs, and refuses anything else`, async (t) => {
    const port = String(await freePort());
    const program = programWith(mark);
    // The receiver without a library has a fixed port.
    writeFileSync(join(folder.path, fileOf(program)), program.text.replace('listen(3000)', `listen(${port})`));
    const printed = start(t, program, { PORT: port });
    const isUp = async (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      );
    await until(isUp);
    const send = async (request: RequestInit): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', ...request })).status;
    const { body, headers } = signedEvent();
    assert.equal(await send({ body, headers }), 204, printed.text);
    await until(() => printed.text.includes('engagement.end'));
    assert.equal(await send({ body: body.replace('engagement.end', 'engagement.start'), headers }), 401);
  });

test('the route of Next accepts what Usher signs, and refuses anything else', async () => {
  process.env['USHER_WEBHOOK_SECRET'] = secret;
  try {
    const file = pathToFileURL(join(folder.path, fileOf(programWith('export async function POST'))));
    const { POST: post } = (await import(file.href)) as { POST: (request: Request) => Promise<Response> };
    const { body, headers } = signedEvent();
    const request = (text: string): Request => new Request('http://hook/', { method: 'POST', headers, body: text });
    assert.equal((await post(request(body))).status, 204);
    assert.equal((await post(request(`${body} `))).status, 401);
  } finally {
    delete process.env['USHER_WEBHOOK_SECRET'];
  }
});

function signedEvent(): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify({
    event_type: 'engagement.end',
    event_id: 'one',
    dispatched_at: new Date().toISOString(),
  });
  const at = new Date();
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'one',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('one', at, body),
    },
  };
}

test('every shell command in the documentation is complete, and every JSON document is valid', () => {
  const shell = all.filter(({ language }) => language === 'sh');
  assert.ok(shell.length > 40);
  for (const { page, line, text } of shell) {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
    assert.equal(status, 0, `${page}:${line}: ${stderr}`);
  }
  const documents = all.filter(({ language }) => language === 'json');
  assert.ok(documents.length > 0);
  for (const { text } of documents) JSON.parse(text);
});
