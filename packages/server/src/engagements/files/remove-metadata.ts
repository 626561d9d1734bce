import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FileId } from '../../platform/ids.ts';
import { hasRemovableMetadata, withoutMetadata } from '../../platform/pictures/without-metadata.ts';
import type { FileStore } from './file-store.ts';

interface StoredBytes {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Replaces a picture that was received by a copy without metadata. A chunk of it is in memory at a time. Returns `null` if there is nothing
 * to remove.
 */
export async function removeMetadata(
  fileStore: FileStore,
  id: FileId,
  contentType: string,
): Promise<StoredBytes | null> {
  if (!hasRemovableMetadata(contentType)) return null;
  const written = await fileStore.openWritten(id);
  try {
    const copy = await withoutMetadata(written, contentType);
    if (copy === null) return null;
    const hash = createHash('sha256');
    const measured = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of copy.bytes()) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await fileStore.replace(id, Readable.from(measured(), { objectMode: false }));
    return { bytes: copy.size, sha256: hash.digest('hex') };
  } finally {
    await written.close();
  }
}
