import type { Config } from '../../config.ts';
import type { DiskSpace } from '../../platform/embedded/disk-watch.ts';
import type { Log } from '../../platform/log.ts';
import { FileBucket } from './bucket/bucket.ts';
import { FileDisk } from './disk.ts';
import type { FileStore } from './file-store.ts';

/** The file store that the settings name, for the server and for commands. */
export function openFileStore({ dataDir, files }: Config, log: Log, diskSpace: DiskSpace | null): FileStore {
  const disk = new FileDisk(dataDir, log, diskSpace);
  return files.kind === 's3' ? new FileBucket(files, disk, log) : disk;
}
