import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { SourceMap } from 'node:module';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as undici from 'undici';
import { escapeForeign } from '../../scripts/ascii.ts';
import type * as Built from '../../scripts/built.mjs';
import { serverBuild } from '../../scripts/built.mjs';
import { commitOf } from '../../scripts/release/commit.ts';
import { lineMappings } from '../../scripts/source-map.ts';
import * as parts from '../../scripts/undici-parts.mjs';
import { urlOf } from '../support/processes/cluster.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { launch, temporaryDirectory } from '../support/processes/process.ts';

/** The build of the server. That it runs is shown by every test that starts processes. */

test('the build is used as long as the sources are those that it was made from', async () => {
  const directory = temporaryDirectory();
  try {
    const clone = directory.path;
    const source = join(clone, 'packages/server/src/main.ts');
    mkdirSync(join(clone, 'packages/server/src'), { recursive: true });
    cpSync('scripts/built.mjs', join(clone, 'scripts/built.mjs'));
    const url = pathToFileURL(join(clone, 'scripts/built.mjs')).href;
    let asked = 0;
    const inClone = async (): Promise<typeof Built> => import(`${url}?${(asked += 1)}`);
    const fromSources = join(clone, 'packages/server/bin/usher.mjs');

    writeFileSync(source, '1;');
    const { serverBuild: folderOf, serverEntry, serverProgram } = await inClone();
    assert.equal(serverProgram(), fromSources);
    mkdirSync(folderOf(), { recursive: true });
    writeFileSync(join(folderOf(), serverEntry), '');
    assert.equal(serverProgram(), join(folderOf(), serverEntry));
    assert.equal((await inClone()).serverProgram(), join(folderOf(), serverEntry));

    writeFileSync(source, '2;');
    assert.equal((await inClone()).serverProgram(), fromSources);
    writeFileSync(source, '1;');
    assert.equal((await inClone()).serverProgram(), join(folderOf(), serverEntry));
  } finally {
    directory.remove();
  }
});

test('a build knows its commit, unless its sources have changed since', () => {
  const directory = temporaryDirectory();
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', directory.path, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      encoding: 'utf8',
    }).trim();
  try {
    assert.equal(commitOf(directory.path, ''), null, 'there is no repository');
    assert.equal(commitOf(directory.path, 'abc'), 'abc', 'the build of an image is given the commit');
    git('init', '--quiet');
    writeFileSync(join(directory.path, 'main.ts'), '1;');
    git('add', '.');
    git('commit', '--quiet', '--message', 'One');
    assert.equal(commitOf(directory.path, ''), git('rev-parse', 'HEAD'));
    writeFileSync(join(directory.path, 'main.ts'), '2;');
    assert.equal(commitOf(directory.path, ''), null);
  } finally {
    directory.remove();
  }
});

test('a script in ASCII means the same, and its source map leads to the same lines', () => {
  const code = 'a("–…");b(`é🙂`);\nc("ü");d();';
  // Columns 0, 8 of the first line and 0, 7 of the second lead to lines 0, 2, 1 and 3; column 2 of the first to line 0, too.
  const mappings = 'AAAA,EAAE,MAEF;AADA,OAEA';
  const escaped = escapeForeign(code);
  assert.equal(escaped, 'a("\\u2013\\u2026");b(`\\u00e9\\ud83d\\ude42`);\nc("\\u00fc");d();');
  const map = new SourceMap({
    version: 3,
    file: 'out.js',
    sources: ['in.ts'],
    sourcesContent: [],
    names: [],
    sourceRoot: '',
    mappings: lineMappings(mappings, code),
  });
  const lines = escaped.split('\n');
  const lineAt = (line: number, call: string): unknown => {
    const entry = map.findEntry(line, lines[line]?.indexOf(call) ?? -1);
    return 'originalLine' in entry ? [entry.originalLine, entry.generatedColumn] : null;
  };
  assert.deepEqual(lineAt(0, 'a('), [0, 0]);
  assert.deepEqual(lineAt(0, '"'), [0, 0]);
  assert.deepEqual(lineAt(0, 'b('), [2, 18]);
  assert.deepEqual(lineAt(1, 'c('), [1, 0]);
  assert.deepEqual(lineAt(1, 'd('), [3, 12]);
  for (const unsafe of ['/\\–/', 'String.raw`–`']) assert.throws(() => escapeForeign(unsafe), /cannot be written/);
});

test(
  'the source maps of the build lead to the sources',
  { skip: !existsSync(serverBuild()) && 'there is no build of these sources: npm run build' },
  () => {
    const texts = [
      'Usher cannot continue and stops; restart it',
      'the embedded database exited and could not be restarted',
    ];
    const found = readdirSync(serverBuild()).filter((name) => name.startsWith('serve-') && name.endsWith('.js'));
    assert.equal(found.length, 1);
    const file = join(serverBuild(), found[0] ?? '');
    const code = readFileSync(file, 'utf8').split('\n');
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    const original = 'packages/server/src/cli/commands/serve.ts';
    const source = readFileSync(original, 'utf8').split('\n');
    for (const text of texts) {
      const line = code.findIndex((each) => each.includes(text));
      const entry = map.findEntry(line, code[line]?.indexOf(text) ?? -1);
      assert.ok('originalSource' in entry);
      assert.equal(resolve(serverBuild(), entry.originalSource), resolve(original));
      assert.ok(source[entry.originalLine]?.includes(text), `${text}: line ${entry.originalLine}`);
    }
  },
);

/** Node loads its own copy of undici with `fetch`, and with any import of node:http. */
const reportClient = `process.once('exit', () => {
  const client = process.moduleLoadList.some((name) => name.includes('/undici/'));
  process.stderr.write(client ? 'a second client' : 'no second client');
});`;

test('a start loads no second HTTP client', async () => {
  const directory = temporaryDirectory();
  try {
    const report = `--import "data:text/javascript,${encodeURIComponent(reportClient)}"`;
    const DATABASE_URL = urlOf(await cloneDatabase());
    const usher = launch({ dataDir: directory.path, environment: { DATABASE_URL, NODE_OPTIONS: report } });
    await usher.ready();
    assert.equal(await usher.stop(), 0);
    assert.match(usher.errors, /no second client$/);
  } finally {
    directory.remove();
  }
});

test('the parts of undici in the build send the same requests as the whole', async () => {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => response.end(JSON.stringify({ method: request.method, url: request.url, body })));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const url = `http://127.0.0.1:${address.port}/a%20b?c=%C3%A9&d`;
  const ask = async ({ Agent, request, fetch }: typeof parts): Promise<unknown[]> => {
    const dispatcher = new Agent();
    const answers = [
      await (await request(url, { dispatcher })).body.json(),
      await (await request(new URL(url), { dispatcher, body: 'x' })).body.json(),
      await (await request(url, { dispatcher, method: 'POST', body: 'y', headers: { a: 'b' } })).body.json(),
      await (await fetch(url, { dispatcher, method: 'POST', body: 'z' })).json(),
    ];
    await dispatcher.close();
    return answers;
  };
  try {
    const answers = await ask(parts);
    assert.deepEqual(answers, await ask(undici));
    assert.deepEqual(answers[1], { method: 'PUT', url: '/a%20b?c=%C3%A9&d', body: 'x' });
  } finally {
    server.close();
  }
});
