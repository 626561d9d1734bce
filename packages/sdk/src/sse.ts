/** A block of a Server-Sent Events stream. A block without data carries only a new position, or is a keep-alive. */
export interface Block {
  readonly id: string | null;
  readonly type: string;
  readonly data: string | null;
}

/** Limit in characters of an unfinished block. A longer one is not an event stream. */
const maxBlockLength = 16 * 1024 * 1024;

/** Splits a stream into blocks. Text after the last blank line is incomplete and dropped. */
export async function* blocksOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  let rest = '';
  let lines: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = part.endsWith('\r') ? part.slice(0, -1) : part;
      if (line !== '') {
        lines.push(line);
        length += line.length;
        continue;
      }
      if (lines.length > 0) yield blockOf(lines);
      lines = [];
      length = 0;
    }
    if (length + rest.length > maxBlockLength) throw new Error('a block of the stream does not end');
  }
}

function blockOf(lines: readonly string[]): Block {
  let id: string | null = null;
  let type = 'message';
  const data: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') id = value;
    if (name === 'event') type = value;
    if (name === 'data') data.push(value);
  }
  return { id, type, data: data.length === 0 ? null : data.join('\n') };
}
