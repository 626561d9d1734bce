import { fileTypeFromTokenizer } from 'file-type';
import { AbstractTokenizer, EndOfStreamError, type IReadChunkOptions } from 'strtok3';
import type { WrittenBytes } from './file-store.ts';

/** Limits of the type detection, which reads parts of the file. */
const limits = { maxBufferSize: 1024 * 1024, timeoutMs: 5_000 } as const;

/** The type that the bytes indicate. An error of the detection counts as an unknown type. Closes the bytes. */
export async function signatureOf(bytes: WrittenBytes): Promise<string | null> {
  const { maxBufferSize, timeoutMs } = limits;
  const options = { maxBufferSize, abortSignal: AbortSignal.timeout(timeoutMs) };
  try {
    const found = await fileTypeFromTokenizer(new PositionedTokenizer(bytes, options), {
      maxBufferSize,
      signal: options.abortSignal,
    });
    return found?.mime ?? null;
  } catch {
    return null;
  } finally {
    await bytes.close();
  }
}

interface TokenizerOptions {
  readonly maxBufferSize: number;
  readonly abortSignal: AbortSignal;
}

/** How `file-type` reads bytes at any position, wherever they are stored. */
class PositionedTokenizer extends AbstractTokenizer {
  readonly fileInfo: { readonly size: number };
  readonly #bytes: WrittenBytes;

  constructor(bytes: WrittenBytes, options: TokenizerOptions) {
    super(options);
    this.fileInfo = { size: bytes.size };
    this.#bytes = bytes;
  }

  async readBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    this.position = options?.position ?? this.position;
    const read = await this.peekBuffer(target, options);
    this.position += read;
    return read;
  }

  async peekBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { position, length, mayBeLess } = this.normalizeOptions(target, options);
    const read = await this.#bytes.read(position, length);
    if (read.length < length && mayBeLess !== true) throw new EndOfStreamError();
    target.set(read);
    return read.length;
  }

  setPosition(position: number): void {
    this.position = position;
  }

  supportsRandomAccess(): boolean {
    return true;
  }
}
