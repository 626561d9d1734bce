import type { Readable, Writable } from 'node:stream';
import type { Refusal } from '../../platform/errors.ts';
import type { FileId } from '../../platform/ids.ts';
import type { ByteRange } from './byte-range.ts';

/**
 * Stores the bytes of files; their rows are in the database. A file is stored in steps, so that a row always has its bytes, and
 * leftovers of a crash are found without a scan of all files:
 *
 *   begin    marks the file as incoming;
 *   write    receives the bytes; `replace` may replace them;
 *   keep     stores the bytes under the file's id; from then on they survive a crash;
 *   confirm  removes the mark, after the row was committed.
 *
 * `unconfirmed` lists files that stopped in between. The sweep calls `confirm` for those with a row and `discard` for the others.
 * All processes see the same files. A failure is a `Refusal` for the caller (`storage_full`, `storage_unavailable`).
 */
export interface FileStore {
  /** Whether the storage is full. */
  readonly isFull: boolean;
  begin(id: FileId): Promise<void>;
  /** Receives the bytes. They survive a crash once the stream has closed. `faultOf` translates errors of the stream. */
  write(id: FileId): Writable;
  /** The written bytes, until `keep` or `discard`. Parts of them are read to detect the content type and to remove metadata. */
  openWritten(id: FileId): Promise<WrittenBytes>;
  /** Replaces the written bytes, before `keep`. They are read while the new ones are written. */
  replace(id: FileId, bytes: Readable): Promise<void>;
  keep(id: FileId): Promise<void>;
  /** Never rejects: the sweep finds what remains. */
  confirm(id: FileId): Promise<void>;
  /** Removes everything stored for the file. Never rejects: the sweep finds what remains. */
  discard(id: FileId): Promise<void>;
  /** Removes the stored bytes, if there are any. */
  remove(id: FileId): Promise<void>;
  /** The stored bytes, or a part of them. `null`: the file has no bytes, or this process cannot reach them. */
  open(id: FileId, range?: ByteRange | null): Promise<StoredFile | null>;
  /** Why `open` found nothing, though the file was not deleted. */
  missing(id: FileId): Refusal;
  /** Ids of files that began before this time and are not confirmed. */
  unconfirmed(before: Date): Promise<FileId[]>;
  /** Turns a storage failure into a refusal for the caller; returns any other error unchanged. */
  faultOf(error: unknown): unknown;
}

/** Bytes that were written and not kept yet, read by position. The owner must close them. */
export interface WrittenBytes {
  readonly size: number;
  /** Fewer bytes than asked for only at the end. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** An open file. The owner must read it to the end or close it. */
export interface StoredFile {
  createReadStream(): Readable;
  close(): Promise<void>;
}
