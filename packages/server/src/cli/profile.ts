import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../platform/errors.ts';

/** What `usher login` keeps. Only the owner may read the file. */
export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: { readonly id: string; readonly secret: string };
}

/** `null`: nobody has logged in. */
export function readProfile(path: string): Connection | null {
  const text = readPrivate(path);
  if (text === null) return null;
  try {
    const { url, key } = JSON.parse(text) as Connection;
    if ([url, key.id, key.secret].every((each) => typeof each === 'string'))
      return { url, key: { id: key.id, secret: key.secret } };
  } catch {
    // Reported below.
  }
  throw new StartError(`${path} is damaged. Write it again with usher login.`);
}

function readPrivate(path: string): string | null {
  try {
    if ((statSync(path).mode & 0o077) !== 0)
      throw new StartError(`Other users can read ${path}, which contains a secret. Run: chmod 600 ${path}`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof StartError) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new StartError(`${path} cannot be read (${code}).`, { cause: error });
  }
}

/** The file is complete at every moment, and was never readable by others. */
export function writeProfile(path: string, profile: Connection): void {
  const partial = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(partial, `${JSON.stringify(profile)}\n`, { mode: 0o600 });
    // The mode above applies only to a new file.
    chmodSync(partial, 0o600);
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new StartError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? ''}).`, {
      cause: error,
    });
  }
}

/** `false`: there was none. */
export function deleteProfile(path: string): boolean {
  const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
  rmSync(path, { force: true });
  return exists;
}
