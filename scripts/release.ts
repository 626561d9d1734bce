import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';

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
  return `${text.slice(0, begin)}${heading}\n## ${version}, ${date}\n${after}`;
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
  writeFileSync('CHANGELOG.md', releasedChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, date));
  for (const file of ['package.json', ...globSync('packages/*/package.json')]) setVersion(file, current, version);
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
  run('git', 'commit', '--all', '--message', `Release ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Usher ${version}`);
  console.log(`Tagged v${version}. To publish: git push --follow-tags`);
}
