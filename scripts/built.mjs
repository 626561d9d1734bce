// Tells whether the console and the widget were built from the current sources. Plain JavaScript, because run.mjs imports it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const builtStamp = join(root, 'packages', 'console', 'dist', '.built');

const sources = [
  'packages/console/src',
  'packages/console/index.html',
  'packages/console/vite.config.ts',
  'packages/widget/src',
  'packages/widget/demo',
  'packages/widget/vite.config.ts',
  'packages/client/src',
  'packages/call/src',
  'packages/contract/src',
  'package-lock.json',
  'scripts/build.ts',
];

/** @param {string} path @returns {string[]} */
function filesOf(path) {
  if (!existsSync(join(root, path))) return [];
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
}

/** A hash of all sources. */
export function builtFrom() {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(filesOf)) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

export function isBuilt() {
  return existsSync(builtStamp) && readFileSync(builtStamp, 'utf8') === builtFrom();
}
