import { createHash } from 'node:crypto';
import type { Sql } from '../../../platform/database/database.ts';
import type { FileId } from '../../../platform/ids.ts';
import type { FileBucket } from './bucket.ts';
import type { FileDisk } from '../disk.ts';
import { filesToMove, type FileToMove } from '../store.ts';

const filesPerRead = 100;
const concurrency = 4;

interface Move {
  readonly sql: Sql;
  readonly from: FileDisk;
  readonly to: FileBucket;
  /** Whether each file is read from the bucket again before it is removed from the disk. */
  readonly isVerified: boolean;
  readonly signal: AbortSignal;
  readonly onMoved: (id: FileId, bytes: number) => void;
}

export interface MoveSummary {
  moved: number;
  bytes: number;
  /** Files of the disk without a row, which stay. */
  unknown: number;
  /** Files whose bytes in the bucket are not those that were uploaded. They stay on disk. */
  readonly damaged: FileId[];
}

/**
 * Moves files from the disk to the bucket while the service runs. A file is removed from the disk when it is in the bucket, so a move that was
 * interrupted continues where it stopped. Rejects with the first failure of the bucket or the disk.
 */
export async function moveFiles(move: Move): Promise<MoveSummary> {
  const summary: MoveSummary = { moved: 0, bytes: 0, unknown: 0, damaged: [] };
  for await (const ids of batchesOf(move.from.list(), filesPerRead)) {
    const rows = await filesToMove(move.sql, ids);
    summary.unknown += ids.filter((id) => !rows.has(id)).length;
    const waiting = [...rows];
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        move.signal.throwIfAborted();
        await moveFile(move, next, summary);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  }
  return summary;
}

async function moveFile(
  { sql, from, to, isVerified, onMoved }: Move,
  [id, { sha256, isRemoved }]: [FileId, FileToMove],
  summary: MoveSummary,
): Promise<void> {
  // Housekeeping removes it, wherever it is.
  if (isRemoved) return;
  const written = await from.readStored(id);
  if (written === null) return;
  await to.adopt(id, written);
  if (isVerified && !(await hasHash(to, id, sha256))) {
    await to.discardObject(id);
    summary.damaged.push(id);
    return;
  }
  // If the file was deleted meanwhile, its bytes may have been removed before they were in the bucket.
  const now = (await filesToMove(sql, [id])).get(id);
  if (now === undefined || now.isRemoved) return to.discardObject(id);
  await from.remove(id);
  summary.moved += 1;
  summary.bytes += written.size;
  return onMoved(id, summary.bytes);
}

async function hasHash(bucket: FileBucket, id: FileId, sha256: Buffer): Promise<boolean> {
  const stored = await bucket.openObject(id);
  if (stored === null) return false;
  const hash = createHash('sha256');
  for await (const chunk of stored.createReadStream() as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest().equals(sha256);
}

async function* batchesOf<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[], void> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
