import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run notice`: writes NOTICE, the licences of everything that the package and the image contain. That is what the server and the
 * pages depend on at run time, directly or through others. `npm test` fails if the file is outdated.
 */
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Licensed {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly text: string;
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Finds a package as Node does: in `node_modules` of the folder, or of one above it. */
function findPackage(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return found;
    if (folder === root) throw new Error(`${name} is not installed; run npm ci`);
  }
}

/** Adds the packages that the one in this folder depends on. Our own are under the licence of the project. */
function collect(folder: string, found: Map<string, Licensed>): void {
  for (const name of Object.keys(readManifest(folder).dependencies ?? {})) {
    const dependency = findPackage(name, folder);
    const { version, license } = readManifest(dependency);
    const key = `${name}@${version}`;
    if (name.startsWith('@usher/') || found.has(key)) continue;
    if (license === undefined) throw new Error(`${key} names no licence`);
    found.set(key, { name, version, license, text: licenceText(dependency) });
    collect(dependency, found);
  }
}

function licenceText(folder: string): string {
  const [file] = readdirSync(folder)
    .filter((name) => /^licen[cs]e/i.test(name))
    .toSorted();
  return file === undefined ? '' : readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
}

/** Everything that the package and the image contain, by name. */
export function bundledPackages(): readonly Licensed[] {
  const found = new Map<string, Licensed>();
  for (const manifest of globSync('packages/*/package.json', { cwd: root }))
    collect(join(root, dirname(manifest)), found);
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Packages with the same text share it. Some packages come without a file and only name their licence. */
export function makeNotice(): string {
  const sections = [...Map.groupBy(bundledPackages(), ({ license, text }) => `${license}\n${text}`).values()].map(
    (sharing) => {
      const [{ license, text } = { license: '', text: '' }] = sharing;
      const names = sharing.map(({ name, version }) => `${name} ${version}`).join('\n');
      return `${names}\n\n${text === '' ? `Licence: ${license}` : text}\n`;
    },
  );
  const line = `\n${'-'.repeat(80)}\n\n`;
  return `Usher\nLicensed under the Apache License 2.0: see LICENSE.\n\nUsher contains the following software.\n${line}${sections.join(line)}`;
}

if (import.meta.main) {
  writeFileSync(join(root, 'NOTICE'), makeNotice());
}
