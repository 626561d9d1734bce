import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian installs servers. These folders are not on the PATH of every user. */
const serverFolders = ['/usr/sbin', '/usr/local/sbin'];

/** The path of an installed program; `null` if it is not installed. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...serverFolders];
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
