import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serverBuild } from '../built.mjs';

/**
 * `npm run pack -- [--out <folder>]`: makes the npm package of Usher: the bundled server, the pages and the migrations. It depends only on
 * what is not in the bundle: the PostgreSQL binaries, which are optional.
 *
 * The folders inside are those of the repository, because the server finds the pages and the migrations by their relative paths.
 */
const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist' } } });
const out = resolve(values.out);
const folder = join(out, 'package');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const server = JSON.parse(readFileSync('packages/server/package.json', 'utf8')) as Manifest;
const { description } = JSON.parse(readFileSync('package.json', 'utf8')) as { description: string };
const oldestNode = 26;

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, 'bin'), { recursive: true });
// What V8 has compiled belongs to this machine.
cpSync(serverBuild(), join(folder, 'packages/server/dist/program'), {
  recursive: true,
  filter: (source) => basename(source) !== 'compiled',
});
for (const path of [
  'packages/server/migrations',
  'packages/server/api-examples.json',
  'packages/console/dist',
  'packages/widget/dist',
  'packages/reference/dist',
])
  cpSync(path, join(folder, path), { recursive: true });
for (const file of ['LICENSE', 'NOTICE', 'README.md', 'CHANGELOG.md']) cpSync(file, join(folder, file));

const { name, version, license, optionalDependencies } = server;
writeJson('packages/server/package.json', { name: `${name}-program`, version, private: true, type: 'module' });
writeJson('package.json', {
  name,
  version,
  description,
  license,
  type: 'module',
  bin: { usher: 'bin/usher.mjs' },
  engines: { node: `>=${oldestNode}` },
  optionalDependencies,
});
writeFileSync(
  join(folder, 'bin/usher.mjs'),
  `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < ${oldestNode}) {
  console.error(\`Usher needs Node ${oldestNode} or newer; this is Node \${process.versions.node}.\`);
  process.exit(1);
}
await import('../packages/server/dist/program/usher.js');
`,
  { mode: 0o755 },
);

const { status, stdout } = spawnSync('npm', ['pack', '--silent', '--pack-destination', out, folder], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (status !== 0) process.exit(1);
rmSync(folder, { recursive: true });
console.log(join(out, stdout.trim()));

function writeJson(path: string, content: unknown): void {
  writeFileSync(join(folder, path), `${JSON.stringify(content, null, 2)}\n`);
}
