import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { describeFault, type Operation } from '../backup/describe-fault.ts';
import { StartError } from '../platform/errors.ts';

/**
 * Writes a file that nobody else may read. `write` calls `keep` when the file is complete: only then it gets its name. If `write` fails,
 * nothing is left.
 */
export async function writeNewFile<T>(
  file: string,
  operation: Operation,
  write: (to: NodeJS.WritableStream, keep: () => Promise<void>) => Promise<T>,
): Promise<T> {
  if (existsSync(file)) throw new StartError(`${file} exists. Name another file, or remove it first.`);
  const partial = `${file}.${process.pid}.partial`;
  const handle = await open(partial, 'wx', 0o600).catch((error: unknown) => {
    throw describeFault(error, operation, file);
  });
  const to = handle.createWriteStream({ flush: true });
  try {
    return await write(to, async () => {
      await rename(partial, file);
      await syncDirectory(dirname(resolve(file)));
    });
  } catch (error) {
    to.destroy();
    await rm(partial, { force: true });
    throw error;
  }
}

/** The name of a new file survives a crash only after its directory is synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
