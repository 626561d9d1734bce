import { spawnSync } from 'node:child_process';

/**
 * The commit that the sources in this folder are of. `null`: they have been changed since, or there is no repository, as in a build of
 * the image, which is given the commit by the variable COMMIT.
 */
export function commitOf(folder: string, given = process.env['COMMIT'] ?? ''): string | null {
  if (given !== '') return given;
  const head = git(folder, 'rev-parse', '--verify', 'HEAD');
  return head !== null && git(folder, 'status', '--porcelain') === '' ? head : null;
}

function git(folder: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout.trim() : null;
}
