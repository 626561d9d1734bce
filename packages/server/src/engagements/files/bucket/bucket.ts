import type { Readable, Writable } from 'node:stream';
import type { Bucket } from '../../../config-files.ts';
import { Refusal } from '../../../platform/errors.ts';
import { isUuid, type FileId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import { BucketClient } from './bucket-client.ts';
import type { ByteRange } from '../byte-range.ts';
import type { FileDisk, SizedStream } from '../disk.ts';
import type { FileStore, StoredFile, WrittenBytes } from '../file-store.ts';

const markFolder = 'incoming/';
const markOf = (id: FileId): string => `${markFolder}${id}`;
const keyOf = (id: FileId): string => `files/${id}`;

/** What stores answer that have no room. */
const fullErrors = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage', 'StorageFull']);
const insufficientStorage = 507;

/**
 * Stores files in a bucket: `files/<id>`. While a file is received it is on the disk of this process, because its type is detected and its
 * metadata removed before it is stored. The mark in the bucket, `incoming/<id>`, is made before the object, so that another process finds
 * what a crash has left. Files that were stored on disk before are read from there.
 */
export class FileBucket implements FileStore {
  readonly #client: BucketClient;
  readonly #disk: FileDisk;
  readonly #log: Log;

  constructor(bucket: Bucket, disk: FileDisk, log: Log) {
    this.#client = new BucketClient(bucket);
    this.#disk = disk;
    this.#log = log;
  }

  get isFull(): boolean {
    return this.#disk.isFull;
  }

  async begin(id: FileId): Promise<void> {
    await this.#disk.begin(id);
  }

  write(id: FileId): Writable {
    return this.#disk.write(id);
  }

  async openWritten(id: FileId): Promise<WrittenBytes> {
    return this.#disk.openWritten(id);
  }

  async replace(id: FileId, bytes: Readable): Promise<void> {
    await this.#disk.replace(id, bytes);
  }

  async keep(id: FileId): Promise<void> {
    await this.#try(async () => {
      await this.#client.put(markOf(id), '', 0);
      const { stream, size } = await this.#disk.readWritten(id);
      await this.#client.put(keyOf(id), stream, size);
    });
  }

  /**
   * Stores the bytes of a file that has a row. The mark stays: the sweep removes it, or the object if the file was deleted meanwhile. Rejects
   * with the error of the store.
   */
  async adopt(id: FileId, { stream, size }: SizedStream): Promise<void> {
    await this.#client.put(markOf(id), '', 0);
    await this.#client.put(keyOf(id), stream, size);
  }

  /** Removes the object, and not what is on disk. Rejects with the error of the store. */
  async discardObject(id: FileId): Promise<void> {
    await this.#client.delete(keyOf(id));
    await this.#client.delete(markOf(id));
  }

  /** Bytes that are stored on disk stay there: they are the only ones if they were about to be moved. */
  async confirm(id: FileId): Promise<void> {
    await this.#disk.discardWritten(id);
    await this.#client.delete(markOf(id)).catch((error: unknown) => this.#logFailure(error));
  }

  /** Removes the mark last, so that an interrupted call is repeated by the sweep. */
  async discard(id: FileId): Promise<void> {
    await this.#disk.discard(id);
    try {
      await this.discardObject(id);
    } catch (error) {
      this.#logFailure(error);
    }
  }

  async remove(id: FileId): Promise<void> {
    await this.#try(async () => this.#client.delete(keyOf(id)));
    await this.#disk.remove(id);
  }

  /** A file may be moved to the bucket while it is looked for on disk. */
  async open(id: FileId, range: ByteRange | null = null): Promise<StoredFile | null> {
    return (
      (await this.openObject(id, range)) ?? (await this.#disk.open(id, range)) ?? (await this.openObject(id, range))
    );
  }

  /** As `open`, of the bucket alone. */
  async openObject(id: FileId, range: ByteRange | null = null): Promise<StoredFile | null> {
    const bytes = await this.#try(async () => this.#client.get(keyOf(id), range));
    return bytes === null ? null : { createReadStream: () => bytes, close: async () => void bytes.destroy() };
  }

  missing(id: FileId): Refusal {
    return new Refusal(
      'storage_unavailable',
      `The file ${id} is not in the bucket. Tell the people who run the service.`,
    );
  }

  async unconfirmed(before: Date): Promise<FileId[]> {
    const old = new Set(await this.#disk.unconfirmed(before));
    for await (const { key, at } of this.#client.list(markFolder))
      if (isUuid(key) && at < before) old.add(key as FileId);
    return [...old];
  }

  async #try<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      this.#logFailure(error);
      throw isFullError(error)
        ? new Refusal('storage_full', 'The file storage is full. Try again later.')
        : new Refusal('storage_unavailable', 'The file storage is unavailable. Try again later.');
    }
  }

  /** Only the disk has streams for which the caller needs this. */
  faultOf(error: unknown): unknown {
    return this.#disk.faultOf(error);
  }

  #logFailure(error: unknown): void {
    this.#log.error({ err: error }, 'could not read or write uploaded files in the bucket; check USHER_FILES');
  }
}

function isFullError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return fullErrors.has(error.name) || $metadata?.httpStatusCode === insufficientStorage;
}
