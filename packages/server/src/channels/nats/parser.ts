/** The operations of a NATS server that a publisher needs. */
export type NatsOperation =
  | {
      readonly name: 'INFO';
      readonly maxBytes: number;
      readonly hasHeaders: boolean;
      readonly offersTls: boolean;
      readonly requiresTls: boolean;
    }
  | { readonly name: 'PING' | 'PONG' }
  /** `status` is from the headers; `null`: the message has none. */
  | { readonly name: 'MSG'; readonly subject: string; readonly status: number | null; readonly body: Buffer }
  | { readonly name: '-ERR'; readonly error: string };

/** INFO lists every server of a cluster. */
const maxLineBytes = 65_536;
/** Acknowledgements have about a hundred bytes. */
const maxMessageBytes = 16_384;

const lineEnd = '\r\n';

/**
 * Parses the client protocol of NATS incrementally. Throws on anything else, and on lines or messages over the limits: a server
 * must not fill our memory.
 */
export class NatsParser {
  #unread: Buffer = Buffer.alloc(0);

  /** Whether everything received has been parsed. */
  get isEmpty(): boolean {
    return this.#unread.length === 0;
  }

  *read(chunk: Buffer): Generator<NatsOperation> {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    for (let line = this.#peekLine(); line !== null; line = this.#peekLine()) {
      const [word = ''] = line.split(/\s/, 1);
      const name = word.toUpperCase();
      const rest = line.slice(word.length).trimStart();
      const lineBytes = Buffer.byteLength(line) + lineEnd.length;
      if (name === 'MSG' || name === 'HMSG') {
        const message = this.#peekMessage(rest.split(/\s+/), name === 'HMSG', lineBytes);
        if (message === null) return;
        yield message;
      } else {
        this.#unread = this.#unread.subarray(lineBytes);
        if (name !== '+OK') yield parseLine(name, rest);
      }
    }
  }

  /** `null`: the line is not complete yet. */
  #peekLine(): string | null {
    const end = this.#unread.indexOf(lineEnd);
    if (end > maxLineBytes || (end < 0 && this.#unread.length > maxLineBytes)) throw new Error('the line is too long');
    return end < 0 ? null : this.#unread.toString('utf8', 0, end);
  }

  /** `MSG <subject> <sid> [reply] <bytes>`, `HMSG <subject> <sid> [reply] <bytes of headers> <bytes>`. */
  #peekMessage(words: readonly string[], hasHeaders: boolean, start: number): NatsOperation | null {
    const size = Number(words.at(-1));
    const headSize = hasHeaders ? Number(words.at(-2)) : 0;
    if (!(size >= headSize && headSize >= 0)) throw new Error('the message has no valid size');
    if (size > maxMessageBytes) throw new Error('the message is too long');
    const end = start + size;
    if (this.#unread.length < end + lineEnd.length) return null;
    const head = this.#unread.toString('latin1', start, start + headSize);
    const body = Buffer.from(this.#unread.subarray(start + headSize, end));
    this.#unread = this.#unread.subarray(end + lineEnd.length);
    const [, status] = /^NATS\/1\.0 (\d{3})\b/.exec(head) ?? [];
    return { name: 'MSG', subject: words[0] ?? '', status: status === undefined ? null : Number(status), body };
  }
}

function parseLine(name: string, rest: string): NatsOperation {
  switch (name) {
    case 'INFO':
      return parseInfo(JSON.parse(rest));
    case 'PING':
    case 'PONG':
      return { name };
    case '-ERR':
      return { name, error: rest.replaceAll(/^'|'$/g, '').slice(0, 300) };
    default:
      throw new Error('unknown operation');
  }
}

function parseInfo(info: unknown): NatsOperation {
  const given: Readonly<Record<string, unknown>> = typeof info === 'object' && info !== null ? { ...info } : {};
  const { max_payload: maxBytes, headers, tls_required: required, tls_available: available } = given;
  if (typeof maxBytes !== 'number') throw new Error('INFO has no max_payload');
  return {
    name: 'INFO',
    maxBytes,
    hasHeaders: headers === true,
    offersTls: required === true || available === true,
    requiresTls: required === true,
  };
}
