import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { invalid } from '../../platform/errors.ts';
import type { FileId } from '../../platform/ids.ts';
import { fileTooLarge, readFilePart } from '../../platform/http/multipart.ts';
import { diskFull } from '../../platform/http/problem.ts';
import { contentTypeOf, isAllowed, type FileEvidence } from './content-type.ts';
import type { FileStore } from './file-store.ts';
import { maxFileBytes } from './file.ts';
import { safeName } from './file-name.ts';
import { removeMetadata } from './remove-metadata.ts';
import { signatureOf } from './signature.ts';
import { TextDetector } from './text-detector.ts';

const contentField = 'content';

export interface ReceivedFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Stores the bytes of an upload, before its row exists. Refuses types that the site does not allow. The metadata of pictures is removed;
 * size and digest are those of what is stored.
 */
export async function receiveFile(
  raw: IncomingMessage,
  { fileStore, id }: { readonly fileStore: FileStore; readonly id: FileId },
  allowed: readonly string[],
): Promise<ReceivedFile> {
  await fileStore.begin(id);
  const { name, declared, bytes, sha256, text } = await readFilePart(raw, {
    field: contentField,
    maxBytes: maxFileBytes,
    save: async ({ fileName, declaredType }, incoming) => {
      const measured = await write(fileStore, id, incoming);
      return { name: safeName(fileName), declared: declaredType, ...measured };
    },
  });
  if (bytes === 0) throw invalid([{ attribute: `/${contentField}`, detail: 'must not be empty' }]);
  const signature = await signatureOf(await fileStore.openWritten(id));
  const contentType = contentTypeOf({ name, declared, text, signature }, allowed);
  if (!isAllowed(contentType, allowed)) throw typeNotAllowed(contentType, allowed);
  const stored = (await removeMetadata(fileStore, id, contentType)) ?? { bytes, sha256 };
  await fileStore.keep(id);
  return { name, contentType, ...stored };
}

interface Measured extends Pick<FileEvidence, 'text'> {
  readonly bytes: number;
  readonly sha256: string;
}

async function write(fileStore: FileStore, id: FileId, incoming: Readable): Promise<Measured> {
  const hash = createHash('sha256');
  const detector = new TextDetector();
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxFileBytes) return done(fileTooLarge(maxFileBytes));
      if (fileStore.isFull) return done(diskFull());
      hash.update(chunk);
      detector.write(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(incoming, measure, fileStore.write(id));
  } catch (error) {
    throw fileStore.faultOf(error);
  }
  return { bytes, sha256: hash.digest('hex'), text: detector.end() };
}

function typeNotAllowed(contentType: string, allowed: readonly string[]) {
  const types = allowed.length === 0 ? 'none' : allowed.join(', ');
  return invalid([
    {
      attribute: `/${contentField}`,
      detail: `is of type ${contentType}, by its bytes and name; the site allows ${types}`,
    },
  ]);
}
