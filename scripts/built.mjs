// Tells whether the console, the widget and the server were built from the current sources. Plain JavaScript, because run.mjs imports it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const builtStamp = join(root, 'packages', 'console', 'dist', '.built');

const pageSources = [
  'packages/console/src',
  'packages/console/index.html',
  'packages/console/vite.config.ts',
  'packages/widget/src',
  'packages/widget/demo',
  'packages/widget/vite.config.ts',
  'packages/reference/src',
  'packages/reference/vite.config.ts',
  'packages/client/src',
  'packages/sdk/src',
  'packages/call/src',
  'packages/contract/src',
  'package-lock.json',
  'scripts/build.ts',
];

const serverSources = [
  'packages/server/src',
  'packages/sample/src',
  'packages/sdk/src',
  'packages/contract/src',
  'package-lock.json',
  'scripts/build-server.ts',
  'scripts/release/commit.ts',
  'scripts/unused-module.mjs',
];

/** Every build of the server has its own folder, named by what it was built from. */
export const serverBuilds = join(root, 'packages', 'server', 'dist');
/** The file of a build that is run. */
export const serverEntry = 'usher.js';

/** @param {string} path @returns {string[]} */
function filesOf(path) {
  if (!existsSync(join(root, path))) return [];
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
}

/** A hash of all these sources. @param {string[]} sources */
function hashOf(sources) {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(filesOf)) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

export function builtFrom() {
  return hashOf(pageSources);
}

export function isBuilt() {
  return existsSync(builtStamp) && readFileSync(builtStamp, 'utf8') === builtFrom();
}

/** @type {string | undefined} */
let currentBuild;
/** The folder of the build from the sources as they were when first asked, whether or not it is there. */
export function serverBuild() {
  return (currentBuild ??= join(serverBuilds, hashOf(serverSources).slice(0, 16)));
}

/**
 * Settings of the memory allocator (glibc) for the process of the server. Blocks of 128 KiB and more are returned to the system as soon as
 * they are free. By default glibc keeps freed blocks of up to 32 MB after the first one, such as those of each sign-in (8 MB).
 */
export const allocatorSettings = { MALLOC_MMAP_THRESHOLD_: '131072' };

/** What runs the server: its build, or the sources if they have changed since. */
export function serverProgram() {
  const built = join(serverBuild(), serverEntry);
  return existsSync(built) ? built : join(root, 'packages', 'server', 'bin', 'usher.mjs');
}
