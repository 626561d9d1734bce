import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { kindOf } from '../../packages/server/src/platform/database/migrations/migration-kinds.ts';

/**
 * `npm run release -- <version>`: prepares a release. Sets the version of every package, dates the changelog, commits and tags. Pushing the
 * tag starts the workflow that tests, builds and publishes; nothing is pushed here.
 */
const heading = '## Unreleased\n';

/** The changelog with what was unreleased under the new version. */
export function releasedChangelog(text: string, version: string, date: string): string {
  const begin = text.indexOf(heading);
  if (begin === -1) throw new Error('CHANGELOG.md has no section "Unreleased"');
  const after = text.slice(begin + heading.length);
  const next = after.indexOf('\n## ');
  const unreleased = next === -1 ? after : after.slice(0, next);
  if (unreleased.trim() === '') throw new Error('nothing is unreleased: CHANGELOG.md says nothing about this version');
  const fault = versionFault(version, lastReleaseOf(after), isBreaking(unreleased));
  if (fault !== null) throw new Error(fault);
  return `${text.slice(0, begin)}${heading}\n## ${version}, ${date}\n${after}`;
}

/** The newest version that the changelog dates; `null` before the first release. */
function lastReleaseOf(text: string): string | null {
  return /^## (\d+\.\d+\.\d+), /m.exec(text)?.[1] ?? null;
}

/** Whether the section "Breaking" lists something. */
function isBreaking(unreleased: string): boolean {
  return /^### Breaking\n+- /m.test(unreleased);
}

/** Versions only rise. What breaks something raises the first number that is not 0. */
function versionFault(version: string, last: string | null, breaks: boolean): string | null {
  if (last === null) return null;
  const [one, other] = [numbersOf(version), numbersOf(last)];
  const raised = one.findIndex((part, index) => part !== other[index]);
  if (raised === -1 || (one[raised] ?? 0) < (other[raised] ?? 0)) return `${version} must be higher than ${last}`;
  if (!breaks || raised <= other.findIndex((part) => part > 0)) return null;
  return `CHANGELOG.md lists breaking changes since ${last}: ${version} must raise its first number that is not 0`;
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map(Number);
}

/** Breaking migrations since the last release that the section "Breaking" does not name. */
export function unnamedMigrations(changelog: string, files: ReadonlyMap<string, string>): readonly string[] {
  const [, unreleased = ''] = changelog.split(/^## .*$/m);
  const [, breaking = ''] = unreleased.split(/^### Breaking$/m);
  const section = breaking.split(/^### /m)[0] ?? '';
  return [...files]
    .filter(([name, text]) => kindOf(text).compatibility === 'breaking' && !section.includes(name))
    .map(([name]) => name);
}

/** The migrations that were added since the tag; all of them are part of a first release, which upgrades nothing. */
function newMigrations(last: string | null): ReadonlyMap<string, string> {
  if (last === null) return new Map();
  const folder = 'packages/server/migrations';
  const names = run('git', 'diff', '--name-only', '--diff-filter=A', `v${last}`, '--', folder)
    .split('\n')
    .filter(Boolean);
  return new Map(names.map((name) => [basename(name), readFileSync(name, 'utf8')]));
}

function run(command: string, ...args: string[]): string {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
  return stdout;
}

/** Packages depend on each other by their exact version. */
function setVersion(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text
      .replace(`"version": "${from}"`, `"version": "${to}"`)
      .replaceAll(/("@usher\/\w+": )"[^"]+"/g, (_, name: string) => `${name}"${to}"`),
  );
}

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name the version: npm run release -- 1.2.3');
  if (run('git', 'status', '--porcelain') !== '') throw new Error('the working tree has changes: commit them first');
  const { version: current } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const date = new Date().toISOString().slice(0, 10);
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  const unnamed = unnamedMigrations(changelog, newMigrations(lastReleaseOf(changelog)));
  if (unnamed.length > 0) throw new Error(`CHANGELOG.md must name under Breaking: ${unnamed.join(', ')}`);
  writeFileSync('CHANGELOG.md', releasedChangelog(changelog, version, date));
  for (const file of ['package.json', ...globSync('packages/*/package.json')]) setVersion(file, current, version);
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
  run('git', 'commit', '--all', '--message', `Release ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Usher ${version}`);
  console.log(`Tagged v${version}. To publish: git push --follow-tags`);
}
