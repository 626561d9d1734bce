import type { FileHandle } from 'node:fs/promises';

/** The bytes of a picture. */
export interface PictureSource {
  readonly size: number;
  /** Fewer bytes than asked for only at the end. */
  read(position: number, length: number): Promise<Buffer>;
}

/** A picture is read and copied in chunks of this size. */
export const chunkBytes = 65_536;

/**
 * A picture may have this many segments; what follows is copied unchanged. Real pictures of the largest accepted size have a few thousand;
 * more would keep the process busy.
 */
export const maxSegments = 20_000;

export function sourceOfBuffer(bytes: Buffer): PictureSource {
  return { size: bytes.length, read: async (at, length) => Promise.resolve(bytes.subarray(at, at + length)) };
}

/** Reads whole chunks, because the headers of segments have only a few bytes. */
export function sourceOfFile(file: FileHandle, size: number): PictureSource {
  let from = 0;
  let chunk = Buffer.alloc(0);
  const load = async (position: number, length: number): Promise<void> => {
    const next = Buffer.allocUnsafe(Math.max(length, chunkBytes));
    let filled = 0;
    while (filled < next.length) {
      const { bytesRead } = await file.read(next, filled, next.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    [from, chunk] = [position, next.subarray(0, filled)];
  };
  return {
    size,
    async read(position, length) {
      const wanted = Math.max(Math.min(length, size - position), 0);
      if (position < from || position + wanted > from + chunk.length) await load(position, wanted);
      return chunk.subarray(position - from, position - from + wanted);
    },
  };
}

interface Range {
  readonly from: number;
  to: number;
}

/** What a copy consists of: ranges of the source, and new bytes between them. */
export class PictureCopy {
  readonly #source: PictureSource;
  readonly #pieces: (Range | Buffer)[] = [];
  #size = 0;
  #isChanged = false;

  constructor(source: PictureSource) {
    this.#source = source;
  }

  keep(from: number, to: number): void {
    if (to <= from) return;
    this.#size += to - from;
    const last = this.#pieces.at(-1);
    if (last !== undefined && !Buffer.isBuffer(last) && last.to === from) last.to = to;
    else this.#pieces.push({ from, to });
  }

  /** Copies everything from here on. */
  keepRest(from: number): void {
    this.keep(from, this.#source.size);
  }

  drop(from: number, to: number): void {
    if (to > from) this.#isChanged = true;
  }

  dropRest(from: number): void {
    this.drop(from, this.#source.size);
  }

  /** The caller may change the bytes later, but not their number. */
  insert(bytes: Buffer): void {
    this.#size += bytes.length;
    this.#pieces.push(bytes);
  }

  get size(): number {
    return this.#size;
  }

  /** Whether something was dropped. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  async *bytes(): AsyncGenerator<Buffer> {
    for (const piece of this.#pieces) {
      if (Buffer.isBuffer(piece)) yield piece;
      else yield* this.#bytesOf(piece);
    }
  }

  async *#bytesOf({ from, to }: Range): AsyncGenerator<Buffer> {
    for (let at = from; at < to; at += chunkBytes) yield this.#source.read(at, Math.min(chunkBytes, to - at));
  }
}
