import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import type { DiskSpace } from '../../platform/disk-watch.ts';
import { Refusal } from '../../platform/errors.ts';
import { isUuid, type FileId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { diskFull } from '../../platform/problem.ts';
import type { FileStore, StoredFile } from './file-store.ts';

const ownerOnly = { directory: 0o700, file: 0o600 } as const;

/**
 * Files in a folder that all processes share: `files/ab/cd/<id>`, by the id's first digits. The mark of a file is
 * `files/incoming/<id>`, and while the file comes in its bytes are `<id>.part` beside the mark.
 */
export class FileDisk implements FileStore {
  readonly #root: string;
  readonly #log: Log;
  readonly #room: DiskSpace | null;

  constructor(dataDir: string, log: Log, room: DiskSpace | null = null) {
    this.#root = join(dataDir, 'files');
    this.#log = log;
    this.#room = room;
  }

  /** Files share the disk of the embedded database, which must not be filled by them. */
  get isFull(): boolean {
    return this.#room?.isFull === true;
  }

  #pathOf(id: FileId): string {
    return join(this.#root, id.slice(0, 2), id.slice(2, 4), id);
  }

  #markOf(id: FileId): string {
    return join(this.#root, 'incoming', id);
  }

  incomingPath(id: FileId): string {
    return `${this.#markOf(id)}.part`;
  }

  /** Nothing of the file may be on the disk before its mark. */
  async begin(id: FileId): Promise<void> {
    if (this.isFull) throw diskFull();
    await this.#try(async () => {
      const mark = this.#markOf(id);
      await mkdir(dirname(mark), { recursive: true, mode: ownerOnly.directory });
      await (await open(mark, 'wx', ownerOnly.file)).close();
      await syncDirectory(dirname(mark));
    });
  }

  write(id: FileId): Writable {
    return createWriteStream(this.incomingPath(id), { flags: 'wx', mode: ownerOnly.file, flush: true });
  }

  async keep(id: FileId): Promise<void> {
    await this.#try(async () => {
      const path = this.#pathOf(id);
      const made = await mkdir(dirname(path), { recursive: true, mode: ownerOnly.directory });
      await rename(this.incomingPath(id), path);
      await syncDirectory(dirname(path));
      if (made === undefined) return;
      await syncDirectory(dirname(dirname(path)));
      await syncDirectory(this.#root);
    });
  }

  async settle(id: FileId): Promise<void> {
    await rm(this.#markOf(id), { force: true }).catch((error: unknown) => this.#tell(error));
  }

  /** The mark goes last. */
  async discard(id: FileId): Promise<void> {
    try {
      for (const path of [this.incomingPath(id), this.#pathOf(id), this.#markOf(id)]) await rm(path, { force: true });
    } catch (error) {
      this.#tell(error);
    }
  }

  async remove(id: FileId): Promise<void> {
    await this.#try(async () => rm(this.#pathOf(id), { force: true }));
  }

  async open(id: FileId): Promise<StoredFile | null> {
    return this.#try(async () =>
      open(this.#pathOf(id), 'r').catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
    );
  }

  async unsettled(before: Date): Promise<FileId[]> {
    const folder = join(this.#root, 'incoming');
    const names = await readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const ids = new Set(names.map((name) => name.replace(/\.part$/, '')).filter((name) => isUuid(name)));
    const old: FileId[] = [];
    for (const id of ids as Set<FileId>) {
      const found = await stat(this.#markOf(id)).catch(async () => stat(this.incomingPath(id)).catch(() => null));
      if (found !== null && found.mtime < before) old.push(id);
    }
    return old;
  }

  /** What the file system refuses is told in our words, and logged in its own. */
  async #try<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  faultOf(error: unknown): unknown {
    if (!isFileSystemError(error)) return error;
    this.#tell(error);
    if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(error.code ?? ''))
      return new Refusal('storage_full', 'There is no room for files at the moment. Try again later.');
    return new Refusal('storage_unavailable', 'Files cannot be stored or read at the moment. Try again later.');
  }

  #tell(error: unknown): void {
    this.#log.error({ err: error }, 'the folder of uploaded files fails; see USHER_DATA_DIR');
  }
}

function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'errno' in error && 'syscall' in error && 'code' in error;
}

function isMissing(error: unknown): boolean {
  return isFileSystemError(error) && error.code === 'ENOENT';
}

/** A new name is on the disk once its folder is. */
async function syncDirectory(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
