import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vite';

/**
 * `npm run pack-sdk -- [--out <folder>]`: makes the npm package of the SDK, compiled modules with their types, and prints the path of
 * the tarball. The package in the repository exports its sources, which the other packages use.
 */
const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist' } } });
const out = resolve(values.out);
const folder = join(out, 'sdk');
const source = 'packages/sdk';

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await build({
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: join(folder, 'dist'),
    emptyOutDir: true,
    // Node 20 and the browsers of its time.
    target: 'es2022',
    minify: false,
    reportCompressedSize: false,
    lib: {
      entry: { index: `${source}/src/index.ts`, webhooks: `${source}/src/webhooks.ts` },
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
  },
});
const types = [
  '--noEmit',
  'false',
  '--declaration',
  '--emitDeclarationOnly',
  '--rewriteRelativeImportExtensions',
  '--rootDir',
  `${source}/src`,
];
run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', source, ...types, '--outDir', join(folder, 'dist')]);

const { name, version, description, license } = JSON.parse(readFileSync(`${source}/package.json`, 'utf8')) as Record<
  string,
  string
>;
const entry = (file: string) => ({ types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` });
const manifest = {
  name,
  version,
  description,
  license,
  type: 'module',
  engines: { node: '>=20' },
  sideEffects: false,
  exports: { '.': entry('index'), './webhooks': entry('webhooks') },
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
cpSync('LICENSE', join(folder, 'LICENSE'));
cpSync('docs/guide/sdk.md', join(folder, 'README.md'));
const tarball = run('npm', ['pack', '--silent', '--pack-destination', out, folder]).trim();
rmSync(folder, { recursive: true });
console.log(join(out, tarball));

function run(command: string, args: readonly string[]): string {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) {
    console.error(stdout);
    process.exit(1);
  }
  return stdout;
}
