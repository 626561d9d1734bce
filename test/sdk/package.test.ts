import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { openWorld } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { findProgram } from '../support/processes/programs.ts';

const { server, account } = await openWorld();

/** Does not block this process, which serves the requests of the program. */
async function run(command: string, args: readonly string[], cwd = process.cwd()): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd })).stdout;
}

const program = `
import { createUsher, UsherError } from '@usher/sdk';
import { verify } from '@usher/sdk/webhooks';
const [url, id, secret] = process.argv.slice(2);
const usher = createUsher({ url, key: { id, secret } });
for await (const site of usher.sites.list()) console.log(site.id);
for await (const item of usher.feed.subscribe()) {
  console.log(item.type);
  break;
}
await usher.queues.get({ queueId: site() }).catch((error) => console.log(error instanceof UsherError, error.code));
await verify({ headers: {}, body: '' }, 'whsec_AAAA').catch((error) => console.log(error.reason));
function site() { return '00000000-0000-4000-8000-000000000000'; }
`;

const typed = `
import { createUsher, type Queue } from '@usher/sdk';
import { verify } from '@usher/sdk/webhooks';
export async function use(request: Request): Promise<string> {
  const usher = createUsher({ url: 'http://usher', token: 'token' });
  const queues: Queue[] = [];
  for await (const queue of usher.queues.list({ siteIds: [] })) queues.push(queue);
  const event = await verify(request, 'secret');
  return event.event_type === 'engagement.chat.message' ? event.message.content : '';
}
`;

/** The Node of the machine is the oldest supported one in CI. The others are used where they are installed. */
const runtimes: readonly (readonly [name: string, flags: readonly string[]])[] = [
  ['node', []],
  ['deno', ['run', '--quiet', '--allow-net', '--allow-env', '--allow-read']],
  ['bun', ['run']],
];

test('the package is small, installs in an empty folder, has types and runs on the oldest Node', async (t) => {
  const directory = temporaryDirectory();
  t.after(() => directory.remove());
  const tarball = (await run(process.execPath, ['scripts/build-sdk.ts', '--out', directory.path])).trim();
  writeFileSync(join(directory.path, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', ['install', '--no-audit', '--no-fund', '--offline', '--loglevel=error', tarball], directory.path);
  const modules = join(directory.path, 'node_modules');
  assert.deepEqual(
    readdirSync(modules).filter((name) => !name.startsWith('.')),
    ['@usher'],
  );

  assert.match(readFileSync(join(modules, '@usher/sdk/README.md'), 'utf8'), /ESM only/);
  const dist = join(modules, '@usher/sdk/dist');
  const scripts = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const bytes = scripts.map((name) => gzipSync(readFileSync(join(dist, name))).length);
  assert.ok(bytes.reduce((sum, each) => sum + each, 0) < 15_000, `the scripts have ${bytes.join(' + ')} bytes`);

  writeFileSync(join(directory.path, 'program.mjs'), program);
  const { id, secret } = account.key;
  const args = ['program.mjs', server.url, id, secret];
  const expected = [account.siteId, 'feed.open', 'true not_found', 'missing_header'];
  for (const [runtime, flags] of runtimes) {
    const path = findProgram(runtime);
    if (path === null) {
      t.diagnostic(`${runtime} is not installed, so the SDK was not run on it`);
      continue;
    }
    const printed = await run(path, [...flags, ...args], directory.path);
    assert.deepEqual(printed.trim().split('\n'), expected, runtime);
  }

  writeFileSync(join(directory.path, 'typed.ts'), typed);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', '', 'typed.ts'];
  await run(process.execPath, [join(process.cwd(), 'node_modules/typescript/bin/tsc'), ...options], directory.path);
});
