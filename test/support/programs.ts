import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian has servers; they are not on the PATH of every user. */
const more = ['/usr/sbin', '/usr/local/sbin'];

/** The path of an installed program; `null` where there is none. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...more];
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
