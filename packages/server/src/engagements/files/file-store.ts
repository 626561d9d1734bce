import type { Readable, Writable } from 'node:stream';
import type { FileId } from '../../platform/ids.ts';

/**
 * Where the bytes of files are; their rows are in the database. A file comes in step by step, so that a row always has its bytes,
 * and what a crash leaves behind is found without looking at every file:
 *
 *   begin    the file is marked as coming in;
 *   write    its bytes are taken;
 *   keep     the bytes are stored under its id, and survive a crash from then on;
 *   settle   its row is committed, and the mark goes.
 *
 * Whatever is left in between is listed by `unsettled` and ended by `discard`, or by `settle` where the row is there.
 * All processes see the same files. What fails is a `Refusal` in words for the caller (`storage_full`, `storage_unavailable`).
 */
export interface FileStore {
  /** Whether there is no room for more. */
  readonly isFull: boolean;
  begin(id: FileId): Promise<void>;
  /** Takes the bytes; they survive a crash once the stream has closed. Its errors mean to a caller what `faultOf` says. */
  write(id: FileId): Writable;
  /** A local file with the bytes that were written, until they are kept or discarded: their type is told from parts of it. */
  incomingPath(id: FileId): string;
  keep(id: FileId): Promise<void>;
  /** Does not fail: what it leaves is found by the sweep. */
  settle(id: FileId): Promise<void>;
  /** Removes whatever there is of the file. Does not fail, as `settle`. */
  discard(id: FileId): Promise<void>;
  /** Removes the bytes that were kept, if there are any. */
  remove(id: FileId): Promise<void>;
  /** `null`: there are no bytes of this file, or none that this process can reach. */
  open(id: FileId): Promise<StoredFile | null>;
  /** Ids of files that began to come in before that instant and are not settled. */
  unsettled(before: Date): Promise<FileId[]>;
  /** What a failure of the storage means to a caller; any other error as it is. */
  faultOf(error: unknown): unknown;
}

/** Is to be read or closed. */
export interface StoredFile {
  createReadStream(): Readable;
  close(): Promise<void>;
}
