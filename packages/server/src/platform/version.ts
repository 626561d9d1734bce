import { readFileSync } from 'node:fs';

/** The version of this program. */
export const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** The commit that this program was built from. `null`: it runs from sources, or they were not committed when it was built. */
export const commit = readCommit();

/** Beside the chunks of a build (`scripts/build-server.ts`). */
function readCommit(): string | null {
  try {
    return readFileSync(new URL('./commit', import.meta.url), 'utf8') || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
