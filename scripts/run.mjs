// What `npm start`, `npm test` and the other scripts do first: install what is missing, then hand over to the pinned Node.
// Plain JavaScript without dependencies, because nothing is installed yet and the machine's own Node may be as old as 20.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, serverBuild, serverProgram } from './built.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stamp = join(modules, '.usher-installed');
const runtime = join(modules, 'node', 'bin', 'node');

const programs = {
  start: ['serve'],
  usher: [],
  check: ['scripts/check.ts'],
  test: ['scripts/test.ts'],
  bench: ['bench/run.ts'],
  prove: ['scripts/prove.ts'],
  openapi: ['scripts/openapi.ts'],
  screenshots: ['scripts/screenshots.ts'],
  build: [],
};

/** Changes whenever the lock file, the platform or the machine's architecture does. */
function wanted() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
}

function install() {
  if (existsSync(stamp) && existsSync(runtime) && readFileSync(stamp, 'utf8') === wanted()) return;
  process.stderr.write('Installing what Usher needs; this takes a moment the first time.\n');
  // Warnings are left out: they are about the machine's own Node, which only runs this script.
  const { status } = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) {
    process.stderr.write(
      'The installation failed: see above. Is the package registry reachable and the folder writable?\n',
    );
    process.exit(1);
  }
  writeFileSync(stamp, wanted());
}

/** The pages that the server serves, and the server itself. */
function build() {
  if (!isBuilt()) runBuild('console', 'scripts/build.ts');
  if (!existsSync(serverBuild())) runBuild('server', 'scripts/build-server.ts');
}

function runBuild(what, script) {
  process.stderr.write(`Building the ${what}.\n`);
  const { status } = spawnSync(runtime, [script], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}

/** Those that start the server or open its pages. */
const withBuild = ['start', 'test', 'build', 'bench', 'prove', 'screenshots'];
/** Those that are commands of the server itself. */
const ofServer = ['start', 'usher'];

const [name, ...rest] = process.argv.slice(2);
const program = programs[name];
if (program === undefined) throw new Error(`there is no script ${name}`);
install();
if (withBuild.includes(name)) build();
if (name === 'build') process.exit(0);
const own = ofServer.includes(name) ? [serverProgram()] : [];
const child = spawn(runtime, [...own, ...program, ...rest], { cwd: root, stdio: 'inherit' });
// A signal to npm must reach the server; one sent twice does no harm.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
