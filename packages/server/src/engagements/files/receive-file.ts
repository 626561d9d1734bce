import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileTypeFromFile } from 'file-type';
import { invalid } from '../../platform/errors.ts';
import type { FileId } from '../../platform/ids.ts';
import { fileTooLarge, readFilePart } from '../../platform/multipart.ts';
import { diskFull } from '../../platform/problem.ts';
import { contentTypeOf, isAllowed, type Seen } from './content-type.ts';
import type { FileStore } from './file-store.ts';
import { mostFileBytes } from './file.ts';
import { safeName } from './file-name.ts';
import { TextWatch } from './text-watch.ts';

/** Telling a type by its bytes reads a little of the file here and there. */
const sniffing = { maxBufferSize: 1024 * 1024, timeoutMs: 5_000 } as const;

const contentField = 'content';

export interface ReceivedFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Takes the file of an upload to the disk, where it has its name but no row yet. Refuses what the site does not take. */
export async function receiveFile(
  raw: IncomingMessage,
  { disk, id }: { readonly disk: FileStore; readonly id: FileId },
  allowed: readonly string[],
): Promise<ReceivedFile> {
  await disk.begin(id);
  const { name, declared, bytes, sha256, text } = await readFilePart(raw, {
    field: contentField,
    mostBytes: mostFileBytes,
    save: async ({ fileName, declaredType }, incoming) => {
      const measured = await write(disk, id, incoming);
      return { name: safeName(fileName), declared: declaredType, ...measured };
    },
  });
  if (bytes === 0) throw invalid([{ attribute: `/${contentField}`, detail: 'must not be empty' }]);
  const contentType = contentTypeOf(
    { name, declared, text, signature: await signatureOf(disk.incomingPath(id)) },
    allowed,
  );
  if (!isAllowed(contentType, allowed)) throw notTaken(contentType, allowed);
  await disk.keep(id);
  return { name, contentType, bytes, sha256 };
}

interface Measured extends Pick<Seen, 'text'> {
  readonly bytes: number;
  readonly sha256: string;
}

async function write(disk: FileStore, id: FileId, incoming: Readable): Promise<Measured> {
  const hash = createHash('sha256');
  const watch = new TextWatch();
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > mostFileBytes) return done(fileTooLarge(mostFileBytes));
      if (disk.isFull) return done(diskFull());
      hash.update(chunk);
      watch.watch(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(incoming, measure, disk.write(id));
  } catch (error) {
    throw disk.faultOf(error);
  }
  return { bytes, sha256: hash.digest('hex'), text: watch.end() };
}

/** What the file's beginning is typical of. What confuses the detector is nothing it knows. */
async function signatureOf(path: string): Promise<string | null> {
  const { maxBufferSize, timeoutMs } = sniffing;
  try {
    const found = await fileTypeFromFile(path, { maxBufferSize, signal: AbortSignal.timeout(timeoutMs) });
    return found?.mime ?? null;
  } catch {
    return null;
  }
}

function notTaken(contentType: string, allowed: readonly string[]) {
  const taken = allowed.length === 0 ? 'none' : allowed.join(', ');
  return invalid([
    { attribute: `/${contentField}`, detail: `is ${contentType} by its bytes and name; the site takes ${taken}` },
  ]);
}
