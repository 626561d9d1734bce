import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DiskSpace } from '../../platform/embedded/disk-watch.ts';
import { Refusal } from '../../platform/errors.ts';
import { isUuid, type FileId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { sourceOfFile } from '../../platform/pictures/picture-copy.ts';
import { diskFull } from '../../platform/http/problem.ts';
import type { ByteRange } from './byte-range.ts';
import type { FileStore, StoredFile, WrittenBytes } from './file-store.ts';

/** The bytes of a file, and how many there are. */
export interface SizedStream {
  readonly stream: ReadStream;
  readonly size: number;
}

const ownerOnly = { directory: 0o700, file: 0o600 } as const;

/**
 * Stores files in a folder that all processes share: `files/ab/cd/<id>`, by the first digits of the id. The mark of a file is
 * `files/incoming/<id>`. While the file is received, its bytes are in `<id>.part` next to the mark,
 * and those that replace them in `<id>.part.new`.
 */
export class FileDisk implements FileStore {
  readonly #root: string;
  readonly #log: Log;
  readonly #diskSpace: DiskSpace | null;

  constructor(dataDir: string, log: Log, diskSpace: DiskSpace | null = null) {
    this.#root = join(dataDir, 'files');
    this.#log = log;
    this.#diskSpace = diskSpace;
  }

  /** Files share the disk with the embedded database, so they must not fill it. */
  get isFull(): boolean {
    return this.#diskSpace?.isFull === true;
  }

  #pathOf(id: FileId): string {
    return join(this.#root, id.slice(0, 2), id.slice(2, 4), id);
  }

  #markOf(id: FileId): string {
    return join(this.#root, 'incoming', id);
  }

  #incomingPath(id: FileId): string {
    return `${this.#markOf(id)}.part`;
  }

  /** The mark is written before any byte of the file. */
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
    return createWriteStream(this.#incomingPath(id), { flags: 'wx', mode: ownerOnly.file, flush: true });
  }

  async openWritten(id: FileId): Promise<WrittenBytes> {
    return this.#try(async () => {
      const file = await open(this.#incomingPath(id), 'r');
      const { size } = await file.stat();
      return { ...sourceOfFile(file, size), close: async () => file.close() };
    });
  }

  /** The written bytes from the first to the last. */
  async readWritten(id: FileId): Promise<SizedStream> {
    return this.#try(async () => sizedStream(this.#incomingPath(id)));
  }

  /** The stored bytes from the first to the last; `null`: there are none. */
  async readStored(id: FileId): Promise<SizedStream | null> {
    return sizedStream(this.#pathOf(id)).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
  }

  /** The ids of all stored files. */
  async *list(): AsyncGenerator<FileId, void> {
    for (const outer of await foldersIn(this.#root))
      for (const inner of await foldersIn(join(this.#root, outer)))
        for (const name of await readdir(join(this.#root, outer, inner))) if (isUuid(name)) yield name as FileId;
  }

  async replace(id: FileId, bytes: Readable): Promise<void> {
    await this.#try(async () => {
      const path = this.#replacementPath(id);
      await pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: ownerOnly.file, flush: true }));
      await rename(path, this.#incomingPath(id));
    });
  }

  #replacementPath(id: FileId): string {
    return `${this.#incomingPath(id)}.new`;
  }

  async keep(id: FileId): Promise<void> {
    await this.#try(async () => {
      const path = this.#pathOf(id);
      const made = await mkdir(dirname(path), { recursive: true, mode: ownerOnly.directory });
      await rename(this.#incomingPath(id), path);
      await syncDirectory(dirname(path));
      if (made === undefined) return;
      await syncDirectory(dirname(dirname(path)));
      await syncDirectory(this.#root);
    });
  }

  async confirm(id: FileId): Promise<void> {
    await rm(this.#markOf(id), { force: true }).catch((error: unknown) => this.#logFailure(error));
  }

  async discard(id: FileId): Promise<void> {
    await this.#removeAll([this.#replacementPath(id), this.#incomingPath(id), this.#pathOf(id), this.#markOf(id)]);
  }

  /** Removes what was written and not kept. */
  async discardWritten(id: FileId): Promise<void> {
    await this.#removeAll([this.#replacementPath(id), this.#incomingPath(id), this.#markOf(id)]);
  }

  /** The mark is the last, so that an interrupted call is repeated by the sweep. */
  async #removeAll(paths: readonly string[]): Promise<void> {
    try {
      for (const path of paths) await rm(path, { force: true });
    } catch (error) {
      this.#logFailure(error);
    }
  }

  async remove(id: FileId): Promise<void> {
    await this.#try(async () => rm(this.#pathOf(id), { force: true }));
  }

  async open(id: FileId, range: ByteRange | null = null): Promise<StoredFile | null> {
    const file = await this.#try(async () =>
      open(this.#pathOf(id), 'r').catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
    );
    if (file === null) return null;
    return { createReadStream: () => file.createReadStream(range ?? {}), close: async () => file.close() };
  }

  missing(): Refusal {
    return new Refusal(
      'file_elsewhere',
      'The file is not in the USHER_DATA_DIR of this process. All processes must share one USHER_DATA_DIR, or a bucket: see USHER_FILES.',
    );
  }

  async unconfirmed(before: Date): Promise<FileId[]> {
    const folder = join(this.#root, 'incoming');
    const names = await readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const ids = new Set(names.map((name) => name.replace(/\.part$/, '')).filter((name) => isUuid(name)));
    const old: FileId[] = [];
    for (const id of ids as Set<FileId>) {
      const found = await stat(this.#markOf(id)).catch(async () => stat(this.#incomingPath(id)).catch(() => null));
      if (found !== null && found.mtime < before) old.push(id);
    }
    return old;
  }

  /** Turns an error of the file system into a refusal, and logs the error. */
  async #try<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  faultOf(error: unknown): unknown {
    if (!isFileSystemError(error)) return error;
    this.#logFailure(error);
    if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(error.code ?? ''))
      return new Refusal('storage_full', 'The file storage is full. Try again later.');
    return new Refusal('storage_unavailable', 'The file storage is unavailable. Try again later.');
  }

  #logFailure(error: unknown): void {
    this.#log.error({ err: error }, 'could not read or write uploaded files; check USHER_DATA_DIR');
  }
}

function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'errno' in error && 'syscall' in error && 'code' in error;
}

function isMissing(error: unknown): boolean {
  return isFileSystemError(error) && error.code === 'ENOENT';
}

async function sizedStream(path: string): Promise<SizedStream> {
  const { size } = await stat(path);
  return { stream: createReadStream(path), size };
}

/** The folders of files are named by two digits. */
async function foldersIn(path: string): Promise<string[]> {
  const names = await readdir(path).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return names.filter((name) => /^[0-9a-f]{2}$/.test(name));
}

/** A new directory entry survives a crash only after its directory is synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
