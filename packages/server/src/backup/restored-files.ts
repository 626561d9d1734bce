import { createHash, type Hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { FileStore } from '../engagements/files/file-store.ts';
import { StartError } from '../platform/errors.ts';
import type { FileId } from '../platform/ids.ts';

/** Stores the files of a backup and remembers which of them are new. */
export class RestoredFiles {
  readonly #store: FileStore;
  readonly #new: FileId[] = [];
  #count = 0;

  constructor(store: FileStore) {
    this.#store = store;
  }

  get count(): number {
    return this.#count;
  }

  /** When only the database moves, its files are there already: such a file is compared, and stays whatever happens. */
  async store(id: FileId, bytes: AsyncGenerator<Buffer, void>): Promise<void> {
    const present = await this.#store.open(id);
    if (present === null) await this.#add(id, bytes);
    else if (!(await hashOf(bytes)).equals(await hashOf(present.createReadStream())))
      throw new StartError(
        `The file store already has other bytes for the file ${id}. Name an empty folder by USHER_DATA_DIR.`,
      );
    this.#count += 1;
  }

  async #add(id: FileId, bytes: AsyncGenerator<Buffer, void>): Promise<void> {
    // A restore that was killed may have left a mark and a part of the file.
    await this.#store.discard(id);
    this.#new.push(id);
    await this.#store.begin(id);
    await pipeline(bytes, this.#store.write(id)).catch((error: unknown) => {
      throw this.#store.faultOf(error);
    });
    await this.#store.keep(id);
  }

  async confirm(): Promise<void> {
    for (const id of this.#new.splice(0)) await this.#store.confirm(id);
  }

  async discard(): Promise<void> {
    for (const id of this.#new.splice(0)) await this.#store.discard(id);
  }
}

async function hashOf(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const hash: Hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest();
}
