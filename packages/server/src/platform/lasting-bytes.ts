/**
 * The bytes of a text, for a cache or anything else that keeps them. `Buffer.from` and `Buffer.concat` cut small buffers from a slab of
 * 64 KiB, which stays in memory as long as one of them does.
 */
export function lastingBytes(text: string, encoding: BufferEncoding = 'utf8'): Buffer {
  const bytes = Buffer.alloc(Buffer.byteLength(text, encoding));
  bytes.write(text, encoding);
  return bytes;
}
