import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DiskSpace } from '../../platform/disk-room.ts';
import { Refusal } from '../../platform/errors.ts';
import { isUuid, type FileId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { diskFull } from '../../platform/problem.ts';

const ownerOnly = { directory: 0o700, file: 0o600 } as const;

/**
 * The bytes of files, in a folder that all processes share: `files/ab/cd/<id>`, by the id's first digits. Until its row is
 * committed, a file has a mark, `files/incoming/<id>`, and while it comes in it is `<id>.part` beside it: so what a crash leaves
 * behind is found without looking at everything.
 */
export class FileDisk {
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

  pathOf(id: FileId): string {
    return join(this.#root, id.slice(0, 2), id.slice(2, 4), id);
  }

  #markOf(id: FileId): string {
    return join(this.#root, 'incoming', id);
  }

  partOf(id: FileId): string {
    return `${this.#markOf(id)}.part`;
  }

  /** Makes the mark. Nothing of the file may be on the disk before it. */
  async begin(id: FileId): Promise<void> {
    if (this.isFull) throw diskFull();
    await this.#try(async () => {
      const mark = this.#markOf(id);
      await mkdir(dirname(mark), { recursive: true, mode: ownerOnly.directory });
      await (await open(mark, 'wx', ownerOnly.file)).close();
      await syncDirectory(dirname(mark));
    });
  }

  /** Takes the bytes; they are on the disk when it has closed. */
  write(id: FileId): WriteStream {
    return createWriteStream(this.partOf(id), { flags: 'wx', mode: ownerOnly.file, flush: true });
  }

  /** Gives what was written its name. */
  async keep(id: FileId): Promise<void> {
    await this.#try(async () => {
      const path = this.pathOf(id);
      const made = await mkdir(dirname(path), { recursive: true, mode: ownerOnly.directory });
      await rename(this.partOf(id), path);
      await syncDirectory(dirname(path));
      if (made === undefined) return;
      await syncDirectory(dirname(dirname(path)));
      await syncDirectory(this.#root);
    });
  }

  /** The row is committed: the mark goes. If it does not, the sweep sees to it. */
  async settle(id: FileId): Promise<void> {
    await rm(this.#markOf(id), { force: true }).catch((error: unknown) => this.#tell(error));
  }

  /** Takes away whatever there is of it, the mark last. */
  async discard(id: FileId): Promise<void> {
    try {
      for (const path of [this.partOf(id), this.pathOf(id), this.#markOf(id)]) await rm(path, { force: true });
    } catch (error) {
      this.#tell(error);
    }
  }

  async remove(id: FileId): Promise<void> {
    await this.#try(async () => rm(this.pathOf(id), { force: true }));
  }

  /** `null` where there is no such file in this folder. */
  async open(id: FileId): Promise<FileHandle | null> {
    return this.#try(async () =>
      open(this.pathOf(id), 'r').catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
    );
  }

  /** Ids of files that have been on their way in since before that instant. */
  async unsettled(before: Date): Promise<FileId[]> {
    const folder = join(this.#root, 'incoming');
    const names = await readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const ids = new Set(names.map((name) => name.replace(/\.part$/, '')).filter((name) => isUuid(name)));
    const old: FileId[] = [];
    for (const id of ids as Set<FileId>) {
      const found = await stat(this.#markOf(id)).catch(async () => stat(this.partOf(id)).catch(() => null));
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

  /** What a failure of the file system means to a caller; anything else as it is. */
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
