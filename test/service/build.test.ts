import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type * as Built from '../../scripts/built.mjs';
import { serverBuild } from '../../scripts/built.mjs';
import { commitOf } from '../../scripts/release/commit.ts';
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
