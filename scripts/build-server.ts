import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'vite';
import { serverBuild, serverBuilds } from './built.mjs';
import { commitOf } from './release/commit.ts';

/**
 * Bundles the server with its dependencies: a start then reads a few files instead of 1,400, and strips no types. Done by `npm start`,
 * `npm test` and `npm run bench` when there is no build of the sources. A build gets its name last, so it is complete or not there.
 *
 * The chunks are as deep in `packages/server` as the sources are, so that paths relative to `import.meta.url` stay right.
 */
const folder = serverBuild();
const draft = `${folder}.${process.pid}.new`;
const hourAgo = Date.now() - 3_600_000;
const isOfSample = (module: string): boolean => module.includes('/packages/sample/');

await build({
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: draft,
    target: 'esnext',
    sourcemap: true,
    reportCompressedSize: false,
    rolldownOptions: {
      // What is started by its name: a worker would be another one.
      input: { usher: 'packages/server/src/cli/bundled.ts' },
      output: {
        entryFileNames: '[name].js',
        // The test that the package of sample data is loaded only when it is used knows its chunks by their names.
        chunkFileNames: ({ moduleIds }) => `${moduleIds.some(isOfSample) ? 'sample-' : ''}[name]-[hash].js`,
        // Names are kept: Fastify shows those of plugins, and errors show those of classes.
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: true, legalComments: 'none' } },
        sourcemapExcludeSources: true,
      },
    },
  },
});
// platform/version.ts reads it.
writeFileSync(join(draft, 'commit'), commitOf(join(import.meta.dirname, '..')) ?? '');
// Another process may have built the same at the same time.
if (!existsSync(folder)) renameSync(draft, folder);
removeOldBuilds();

/** Keeps the last build before this one: a server that runs from it may still import a part of it. */
function removeOldBuilds(): void {
  const time = (name: string): number => statSync(join(serverBuilds, name)).mtimeMs;
  const others = readdirSync(serverBuilds).filter((name) => name !== basename(folder));
  const [, ...old] = others.filter((name) => !name.endsWith('.new')).toSorted((one, other) => time(other) - time(one));
  // A draft is this one, one that another process works on, or one that a killed build has left.
  const drafts = others.filter((name) => name === basename(draft) || (name.endsWith('.new') && time(name) < hourAgo));
  for (const name of [...old, ...drafts]) rmSync(join(serverBuilds, name), { recursive: true, force: true });
}
