import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress, type ZstdCompress } from 'node:zlib';
import type { JsonValue } from '../platform/database/database.ts';
import { StartError } from '../platform/errors.ts';
import type { AccountId } from '../platform/ids.ts';

/**
 * A backup is one Zstandard stream. Its content is a sequence of records; each is a kind (1 byte), the length of its body (4 bytes,
 * big-endian) and the body:
 *
 *   header      JSON, `BackupHeader`
 *   table       JSON, `{ name }`: the rows of the table follow
 *   file        JSON, `{ id }`: the bytes of the file follow
 *   data        part of the rows, in the text format of COPY, or of the bytes
 *   close       the rows or bytes are complete
 *   sequences   JSON, `SequenceValue[]`
 *   end         the SHA-256 of everything before this record
 *
 * The records are in this order: header, tables, sequences, files, end. A length is written before its bytes are read from the
 * database, so rows and files are divided into parts.
 */
const recordKinds = {
  header: 'H',
  table: 'T',
  file: 'F',
  data: 'D',
  close: 'C',
  sequences: 'S',
  end: 'E',
} as const;
type RecordKind = keyof typeof recordKinds;
const kinds = Object.keys(recordKinds) as RecordKind[];

/**
 * A program reads only its own formats. A change of the records or of their meaning needs another number. The export of one account has the
 * same records with another number, so that it is never restored as a backup.
 */
export const formats = { backup: 1, account: 101 } as const;
export type FormatName = keyof typeof formats;

export interface BackedUpTable {
  readonly name: string;
  /** The partitioned table to which this table belongs. */
  readonly parent: string | null;
  readonly columns: readonly string[];
}

export interface BackupHeader {
  readonly format: number;
  /** The version of Usher that made the backup. */
  readonly usher: string;
  /** The version of PostgreSQL that it was made from. */
  readonly postgres: string;
  readonly created_at: string;
  /** File names of the applied migrations, from number 1 on. */
  readonly migrations: readonly string[];
  readonly tables: readonly BackedUpTable[];
  /** Only in the export of an account. */
  readonly account?: ExportedAccount;
}

/** What an installation needs in order to go on with an account of another one. */
export interface ExportedAccount {
  readonly id: AccountId;
  readonly name: string;
  /**
   *   copy      all of it, as of one instant; the account was in use
   *   move      all of it, and nothing of it changes any more
   *   history   what happened before `boundary` and does not change, so that it can be copied before the move
   *   rest      as `move`, without the history before `boundary`
   */
  readonly part: 'copy' | 'move' | 'history' | 'rest';
  /** In epoch milliseconds; `null` for `copy` and `move`. */
  readonly boundary: number | null;
  /** All recorded steps of the database's clock, and all recorded outages, in milliseconds. */
  readonly shiftMs: number;
  readonly outageMs: number;
  /** When the rows were read, in epoch milliseconds. */
  readonly takenAt: number;
  /** The public halves of the keys that sign tokens. */
  readonly signingKeys: readonly { readonly id: string; readonly publicJwk: JsonValue }[];
  /** The keys that seal secrets, in hexadecimal digits. */
  readonly sealingKeys: readonly { readonly id: string; readonly key: string }[];
}

export interface SequenceValue {
  readonly name: string;
  /** A bigint as text. */
  readonly last: string;
  readonly isCalled: boolean;
}

const headBytes = 5;
/** A larger record is not from Usher. Headers have the names of all tables; data is written in parts of `partBytes`. */
const maxBodyBytes = 16 * 1024 * 1024;
const partBytes = 256 * 1024;
/** Zstandard's own default. Events take half the processor time of gzip, for the same size. */
const compressionLevel = 3;

/** Writes records and compresses them into a stream. Waits when the stream cannot take more. */
export class BackupWriter {
  readonly #compressor: ZstdCompress;
  readonly #hash = createHash('sha256');
  readonly #written: Promise<void>;
  #failure: unknown = null;
  #rejectWaiting: ((error: unknown) => void) | null = null;
  #parts: Buffer[] = [];
  #partsBytes = 0;

  constructor(to: NodeJS.WritableStream, signal: AbortSignal) {
    this.#compressor = createZstdCompress({
      params: { [constants.ZSTD_c_compressionLevel]: compressionLevel, [constants.ZSTD_c_checksumFlag]: 1 },
    });
    this.#written = pipeline(this.#compressor, to, { signal });
    // A stream that fails does not call back the writes that it has not finished.
    this.#written.catch((error: unknown) => {
      this.#failure = error;
      this.#rejectWaiting?.(error);
    });
  }

  async json(kind: RecordKind, value: unknown): Promise<void> {
    await this.#record(kind, Buffer.from(JSON.stringify(value)));
  }

  /** Adds rows or bytes. Small pieces are written together. */
  async data(bytes: Buffer): Promise<void> {
    this.#parts.push(bytes);
    this.#partsBytes += bytes.length;
    if (this.#partsBytes >= partBytes) await this.#writeParts();
  }

  async close(): Promise<void> {
    await this.#writeParts();
    await this.#record('close', Buffer.alloc(0));
  }

  /** Writes the checksum. Resolves when everything was written to the stream. */
  async end(): Promise<void> {
    await this.#record('end', this.#hash.copy().digest());
    this.#compressor.end();
    await this.#written;
  }

  /** Ends the stream without a checksum, so that the backup is refused. */
  abandon(error: unknown): void {
    this.#compressor.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  async #writeParts(): Promise<void> {
    const all = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partsBytes = 0;
    for (let at = 0; at < all.length; at += partBytes) await this.#record('data', all.subarray(at, at + partBytes));
  }

  async #record(kind: RecordKind, body: Buffer): Promise<void> {
    const head = Buffer.alloc(headBytes);
    head.write(recordKinds[kind], 'latin1');
    head.writeUInt32BE(body.length, 1);
    const record = Buffer.concat([head, body]);
    this.#hash.update(record);
    if (this.#failure !== null) throw this.#failure;
    await new Promise<void>((resolve, reject) => {
      this.#rejectWaiting = reject;
      this.#compressor.write(record, (error) => (error ? reject(this.#failure ?? error) : resolve()));
    });
    this.#rejectWaiting = null;
  }
}

export interface BackupRecord {
  readonly kind: RecordKind;
  readonly body: Buffer;
}

/**
 * The records of a backup, up to `end` and without it. The generator ends only if the checksum is right; a reader must not keep
 * anything before that.
 */
export async function* readRecords(from: Readable, signal?: AbortSignal): AsyncGenerator<BackupRecord, void> {
  // Chunks as large as most records, so that few records are put together from many chunks.
  const plain = createZstdDecompress({ chunkSize: partBytes });
  // A failure of `from` destroys `plain`, which then throws it.
  pipeline(from, plain, signal === undefined ? {} : { signal }).catch(() => undefined);
  const hash = createHash('sha256');
  let hasEnded = false;
  try {
    for await (const bytes of wholeRecords(plain)) {
      if (hasEnded) throw damaged('there is something after its end');
      const record = recordIn(bytes);
      hasEnded = record.kind === 'end';
      if (hasEnded && !record.body.equals(hash.digest())) throw damaged('its checksum is wrong');
      if (hasEnded) continue;
      hash.update(bytes);
      yield record;
    }
  } catch (error) {
    throw isCompressionFault(error) ? damaged('it cannot be decompressed', error) : error;
  } finally {
    from.destroy();
  }
  if (!hasEnded) throw damaged('its end is missing');
}

async function* wholeRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let buffered: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    buffered = Buffer.concat([buffered, chunk]);
    for (let length = lengthOfFirst(buffered); length !== null; length = lengthOfFirst(buffered)) {
      yield buffered.subarray(0, length);
      buffered = buffered.subarray(length);
    }
  }
  if (buffered.length > 0) throw damaged('its end is missing');
}

/** `null` if the buffer does not contain a whole record. */
function lengthOfFirst(buffered: Buffer): number | null {
  if (buffered.length < headBytes) return null;
  const length = headBytes + buffered.readUInt32BE(1);
  if (length > maxBodyBytes) throw damaged('it has a record that is too long');
  return buffered.length < length ? null : length;
}

function recordIn(bytes: Buffer): BackupRecord {
  const letter = bytes.toString('latin1', 0, 1);
  const kind = kinds.find((each) => recordKinds[each] === letter);
  if (kind === undefined) throw damaged('it has an unknown record');
  return { kind, body: bytes.subarray(headBytes) };
}

function damaged(reason: string, cause?: unknown): StartError {
  return new StartError(
    `The file is not a complete backup of Usher: ${reason}. Use another backup, or copy this one again.`,
    { cause },
  );
}

function isCompressionFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:ZSTD_|Z_)/.test(String(error.code));
}
