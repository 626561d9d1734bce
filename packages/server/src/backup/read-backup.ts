import type { Readable } from 'node:stream';
import { StartError } from '../platform/errors.ts';
import { isUuid, type FileId } from '../platform/ids.ts';
import {
  formats,
  readRecords,
  type BackedUpTable,
  type BackupHeader,
  type BackupRecord,
  type FormatName,
  type SequenceValue,
} from './format.ts';

type Body = AsyncGenerator<Buffer, void>;

/** What is done with the content of a backup. Each step reads its body to the end. */
export interface BackupVisitor {
  header(header: BackupHeader): Promise<void>;
  table(table: BackedUpTable, rows: Body): Promise<void>;
  sequences(values: readonly SequenceValue[]): Promise<void>;
  file(id: FileId, bytes: Body): Promise<void>;
}

export interface Reading {
  readonly from: Readable;
  readonly format: FormatName;
  readonly signal: AbortSignal;
}

/** Reads a backup once, in bounded memory. Rejects if it is damaged; the visitor must then undo everything it did. */
export async function readBackup({ from, format, signal }: Reading, visitor: BackupVisitor): Promise<BackupHeader> {
  const records = readRecords(from, signal);
  try {
    const header = headerIn(await records.next(), format);
    await visitor.header(header);
    for (let next = await records.next(); next.done !== true; next = await records.next()) {
      const { kind, body } = next.value;
      if (kind === 'table') await visitor.table(tableIn(header, body), bodyIn(records));
      else if (kind === 'file') await visitor.file(fileIn(body), bodyIn(records));
      else if (kind === 'sequences') await visitor.sequences(parse(body) as SequenceValue[]);
      else throw unexpected();
    }
    return header;
  } finally {
    await records.return();
  }
}

function headerIn(first: IteratorResult<BackupRecord, void>, expected: FormatName): BackupHeader {
  if (first.done === true || first.value.kind !== 'header') throw unexpected();
  const header = parse(first.value.body) as BackupHeader;
  const { format, usher } = header;
  if (format === formats[expected]) return header;
  if (format === formats.account)
    throw new StartError('The file is the export of one account. Import it with: usher accounts import <file>');
  if (format === formats.backup)
    throw new StartError('The file is the backup of a whole installation. Restore it with: usher restore <file>');
  throw new StartError(
    `The backup has format ${format}, made by Usher ${usher}; this Usher reads format ${formats[expected]}. Use the version of Usher that made it.`,
  );
}

function tableIn({ tables }: BackupHeader, body: Buffer): BackedUpTable {
  const { name } = parse(body) as { name?: unknown };
  const table = tables.find((each) => each.name === name);
  if (table === undefined) throw unexpected();
  return table;
}

function fileIn(body: Buffer): FileId {
  const { id } = parse(body) as { id?: unknown };
  if (typeof id !== 'string' || !isUuid(id)) throw unexpected();
  return id as FileId;
}

async function* bodyIn(records: AsyncGenerator<BackupRecord, void>): Body {
  for (;;) {
    const next = await records.next();
    if (next.done === true) throw unexpected();
    const { kind, body } = next.value;
    if (kind === 'close') return;
    if (kind !== 'data') throw unexpected();
    yield body;
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw unexpected(cause);
  }
}

function unexpected(cause?: unknown): StartError {
  return new StartError('The file is not a backup of Usher. Name a file that "usher backup" has written.', { cause });
}
