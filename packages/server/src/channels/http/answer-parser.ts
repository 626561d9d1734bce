import { maxAnswerBytes } from '../attempt.ts';
import { ConnectionError, ProtocolError, tooLargeHead } from './errors.ts';

/** Bytes of an answer's body that are read. The rest is read only so that the connection can be reused. */
const maxBodyBytes = 65_536;
/**
 * Bytes of any line, of the names and values of all heads of one answer together with what precedes the last of them, and of chunk
 * extensions and trailers together: the limit of Node for one head.
 */
const maxHeadBytes = 16_384;
/** A longer chunk line has an extension or leading zeros. */
const usualChunkLine = 16;
/** How long an unused connection is kept. */
const keepAliveMs = 4_000;
/** A receiver that announces how long it keeps a connection may close it that much earlier. */
const keepAliveMarginMs = 2_000;
/** The first length that 64 bits cannot hold. */
const lengthOverflow = 2 ** 64;

/**
 *   status_line, headers     the head; an informational head (1xx) is followed by another one
 *   body                     as many bytes as Content-Length says
 *   body_until_close         neither a length nor chunks: the body ends with the connection
 *   chunk_size, chunk,       a body in chunks
 *   chunk_end, trailers
 *   complete                 the answer has ended
 */
type State =
  | 'status_line'
  | 'headers'
  | 'body'
  | 'body_until_close'
  | 'chunk_size'
  | 'chunk'
  | 'chunk_end'
  | 'trailers'
  | 'complete';

const statusLine = /^HTTP\/(0\.9|1\.0|1\.1|2\.0) (\d{3})(?: .*)?$/;
/** A header, without the line break. A line that begins with a space would continue the one before it, which is no longer allowed. */
export const headerLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;
const chunkLine = /^[0-9a-f]+(?:;[\t\x20-\x7e\x80-\xff]*)?$/i;
/** The beginnings of such lines: a receiver that speaks another protocol is found out before it sends a whole line. */
const beginnings: Partial<Record<State, RegExp>> = {
  status_line: /^(?:H|HT|HTT|HTTP|HTTP\/.*\r?)$/,
  headers: /^(?:\r|[!#$%&'*+.^_`|~0-9A-Za-z-]+(?::[\t\x20-\x7e\x80-\xff]*\r?)?)$/,
  chunk_size: /^[0-9a-f]+(?:;[\t\x20-\x7e\x80-\xff]*)?\r?$/i,
  chunk_end: /^\r$/,
  trailers: /^(?:\r|[!#$%&'*+.^_`|~0-9A-Za-z-]+(?::[\t\x20-\x7e\x80-\xff]*\r?)?)$/,
};
const faults: Partial<Record<State, string>> = {
  status_line: 'Expected HTTP/, RTSP/ or ICE/',
  headers: 'Invalid header token',
  chunk_size: 'Invalid character in chunk size',
  chunk_end: 'Expected LF after chunk data',
  trailers: 'Invalid header token',
};

const lf = 10;
const cr = 13;

/**
 * Reads the answer to one request after the other from the bytes of a connection. Independent of sockets and time. It accepts and
 * refuses the same answers as undici, with which `test/channels/answers.test.ts` compares it.
 */
export class AnswerParser {
  #state: State = 'status_line';
  /** The beginning of a line whose end has not been received. */
  #partial = '';
  #headBytes = 0;
  /** The status line that was parsed last, with its version and status. */
  #statusLine = '';
  #isHttp11 = false;
  #headStatus = 0;
  #length: number | null = null;
  #transferEncoding = '';
  #connection = '';
  #keepAlive = '';
  #hasUpgrade = false;
  readonly #connectionOptions = new LastResult(optionsOf);
  readonly #idleTime = new LastResult(idleTime);
  /** Bytes of the body or chunk that have not been received. */
  #left = 0;
  #bodyBytes = 0;
  #chunks: Buffer[] = [];
  #status: number | null = null;
  #retryAfter: string | undefined;
  #idleMs = 0;
  #hasExcess = false;
  #hasInformational = false;

  /** Prepares for the answer to the next request. */
  reset(): void {
    this.#state = 'status_line';
    this.#partial = '';
    this.#bodyBytes = 0;
    if (this.#chunks.length > 0) this.#chunks = [];
    this.#status = null;
    this.#retryAfter = undefined;
    this.#idleMs = 0;
    this.#hasExcess = false;
    this.#hasInformational = false;
    this.#headBytes = 0;
    this.#resetHead();
  }

  /** `null` until the head of the answer has been received. Informational answers do not count. */
  get status(): number | null {
    return this.#status;
  }

  get retryAfter(): string | undefined {
    return this.#retryAfter;
  }

  /** At least the first `maxAnswerBytes` of the body, as far as they have been received. */
  get body(): Buffer {
    const [first = Buffer.alloc(0)] = this.#chunks;
    return this.#chunks.length <= 1 ? first : Buffer.concat(this.#chunks);
  }

  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  get isTooLong(): boolean {
    return this.#bodyBytes > maxBodyBytes;
  }

  /**
   * How long the connection may be kept after the answer; 0: it must be closed. Only a clean 2xx keeps it. After anything else, such
   * as a proxy's 504 or an informational head, the receiver may still send an answer that belongs to this request.
   */
  get idleMs(): number {
    const isClean = isSuccess(this.#status) && !this.#hasExcess && !this.#hasInformational;
    return isClean ? this.#idleMs : 0;
  }

  /** Throws if the bytes are not HTTP/1.1. */
  feed(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.#state !== 'complete' && !this.isTooLong) at = this.#take(chunk, at);
    if (this.#state === 'complete') this.#hasExcess = !hasOnlyLineBreaks(chunk, at);
  }

  /** The receiver closed the connection. Returns whether the answer is complete. */
  end(): boolean {
    if (this.#state === 'body_until_close') this.#state = 'complete';
    return this.isComplete;
  }

  /** Takes a part of the chunk; returns where the next part begins. */
  #take(chunk: Buffer, at: number): number {
    switch (this.#state) {
      case 'body_until_close':
        return this.#takeBody(chunk, at, chunk.length);
      case 'body':
      case 'chunk': {
        const end = Math.min(chunk.length, at + this.#left);
        this.#left -= end - at;
        if (this.#left === 0) this.#state = this.#state === 'body' ? 'complete' : 'chunk_end';
        return this.#takeBody(chunk, at, end);
      }
      default:
        return this.#takeLines(chunk, at);
    }
  }

  #takeBody(chunk: Buffer, at: number, end: number): number {
    if (this.#bodyBytes < maxAnswerBytes) this.#chunks.push(chunk.subarray(at, end));
    this.#bodyBytes += end - at;
    return end;
  }

  /** Takes lines, as long as the state expects lines. */
  #takeLines(chunk: Buffer, from: number): number {
    const text = chunk.toString('latin1', from, from + maxHeadBytes);
    let at = 0;
    while (at < text.length && this.#expectsLine()) {
      const code = text.charCodeAt(at);
      // Line breaks before an answer are ignored.
      if (this.#state === 'status_line' && this.#partial === '' && (code === cr || code === lf)) {
        at += 1;
        this.#countHeadBytes(1);
        continue;
      }
      const end = text.indexOf('\n', at);
      if (end < 0) {
        this.#keepPartial(text.slice(at));
        return from + text.length;
      }
      const line = this.#partial + text.slice(at, end);
      this.#partial = '';
      if (!line.endsWith('\r')) throw new ProtocolError('Missing expected CR before LF');
      this.#takeLine(line.slice(0, -1));
      at = end + 1;
    }
    return from + at;
  }

  #expectsLine(): boolean {
    const state = this.#state;
    return state === 'headers' || state === 'status_line' || faults[state] !== undefined;
  }

  #keepPartial(text: string): void {
    this.#partial += text;
    if (this.#partial.length > maxHeadBytes) throw tooLargeHead();
    if (beginnings[this.#state]?.test(this.#partial) !== true)
      throw new ProtocolError(faults[this.#state] ?? 'Unexpected character');
  }

  #takeLine(line: string): void {
    switch (this.#state) {
      case 'status_line':
        return this.#takeStatus(line);
      case 'headers':
        return line === '' ? this.#endHead() : this.#takeHeader(line);
      case 'chunk_size':
        return this.#takeChunkSize(line);
      case 'chunk_end':
        if (line !== '') throw new ProtocolError('Expected LF after chunk data');
        this.#state = 'chunk_size';
        return;
      case 'trailers':
        if (line === '') this.#state = 'complete';
        else this.#takeTrailer(line);
        return;
      default:
        throw new Error(`no line is expected in the state ${this.#state}`);
    }
  }

  #takeStatus(line: string): void {
    this.#state = 'headers';
    if (line === this.#statusLine) return;
    const [, version, status] = statusLine.exec(line) ?? [];
    if (version === undefined || status === undefined || status < '100') {
      throw new ProtocolError(line.startsWith('HTTP/') ? 'Invalid status line' : 'Expected HTTP/, RTSP/ or ICE/');
    }
    this.#isHttp11 = version === '1.1';
    this.#headStatus = Number(status);
    this.#statusLine = line;
  }

  #takeHeader(line: string): void {
    const colon = this.#checkHeader(line);
    switch (colon) {
      case 7:
        if (isNamed(line, 'upgrade')) this.#hasUpgrade = true;
        return;
      case 10:
        if (isNamed(line, 'connection')) this.#connection += `,${line.slice(colon + 1)}`;
        else if (isNamed(line, 'keep-alive')) this.#keepAlive += `,${line.slice(colon + 1)}`;
        return;
      case 11:
        if (this.#retryAfter === undefined && isNamed(line, 'retry-after'))
          this.#retryAfter = line.slice(colon + 1).trim();
        return;
      case 14:
        if (isNamed(line, 'content-length')) this.#takeLength(line.slice(colon + 1).trim());
        return;
      case 16:
        if (isNamed(line, 'proxy-connection')) this.#connection += `,${line.slice(colon + 1)}`;
        return;
      case 17:
        if (isNamed(line, 'transfer-encoding')) this.#transferEncoding += `,${line.slice(colon + 1)}`;
        return;
      default:
    }
  }

  /** Returns the index of the colon. */
  #checkHeader(line: string): number {
    if (!headerLine.test(line)) throw new ProtocolError('Invalid header token');
    this.#countHeadBytes(line.length);
    return line.indexOf(':');
  }

  #countHeadBytes(count: number): void {
    this.#headBytes += count;
    if (this.#headBytes >= maxHeadBytes) throw tooLargeHead();
  }

  #takeLength(value: string): void {
    if (this.#length !== null) throw new ProtocolError('Content-Length already present');
    if (!/^\d+$/.test(value)) throw new ProtocolError('Invalid character in Content-Length');
    this.#length = Number(value);
    if (this.#length >= lengthOverflow) throw new ProtocolError('Content-Length overflow');
  }

  #endHead(): void {
    const options = this.#connectionOptions.of(this.#connection);
    const isPersistent = !options.includes('close') && (this.#isHttp11 || options.includes('keep-alive'));
    if (this.#length !== null && this.#transferEncoding !== '')
      throw new ProtocolError("Content-Length can't be present with Transfer-Encoding");
    if (this.#headStatus < 200) return this.#endInformational(isPersistent, options.includes('upgrade'));
    this.#status = this.#headStatus;
    this.#headBytes = 0;
    this.#state = this.#stateOfBody();
    const hasUnwantedBody = hasNoBody(this.#headStatus) && (this.#transferEncoding !== '' || (this.#length ?? 0) > 0);
    if (isPersistent && !hasUnwantedBody && this.#state !== 'body_until_close')
      this.#idleMs = this.#idleTime.of(this.#keepAlive);
  }

  #stateOfBody(): State {
    if (hasNoBody(this.#headStatus)) return 'complete';
    if (this.#transferEncoding !== '')
      return optionsOf(this.#transferEncoding).at(-1) === 'chunked' ? 'chunk_size' : 'body_until_close';
    if (this.#length === null) return 'body_until_close';
    this.#left = this.#length;
    return this.#left === 0 ? 'complete' : 'body';
  }

  #endInformational(isPersistent: boolean, hasUpgradeOption: boolean): void {
    // No request expects it.
    if (this.#headStatus === 100) throw new ConnectionError('bad response');
    if (this.#headStatus === 101 && this.#hasUpgrade && hasUpgradeOption) throw new ConnectionError('bad upgrade');
    if (!isPersistent) throw new ProtocolError('Data after `Connection: close`');
    // The status line counts too: otherwise a receiver could send such heads without end.
    this.#countHeadBytes(this.#statusLine.length);
    this.#hasInformational = true;
    this.#retryAfter = undefined;
    this.#state = 'status_line';
    this.#resetHead();
  }

  #resetHead(): void {
    this.#length = null;
    this.#transferEncoding = '';
    this.#connection = '';
    this.#keepAlive = '';
    this.#hasUpgrade = false;
  }

  #takeChunkSize(line: string): void {
    if (!chunkLine.test(line)) throw new ProtocolError('Invalid character in chunk size');
    this.#left = Number.parseInt(line, 16);
    if (this.#left >= lengthOverflow) throw new ProtocolError('Chunk size overflow');
    this.#state = this.#left === 0 ? 'trailers' : 'chunk';
    this.#countHeadBytes(Math.max(0, line.length - usualChunkLine));
  }

  #takeTrailer(line: string): void {
    const name = line.slice(0, this.#checkHeader(line)).toLowerCase();
    if (name === 'content-length' || name === 'transfer-encoding')
      throw new ProtocolError(`${name} can't be present in trailers`);
  }
}

/** Remembers the last result, because a receiver says the same in every answer. */
class LastResult<T> {
  readonly #compute: (text: string) => T;
  #text = '';
  #result: T;

  constructor(compute: (text: string) => T) {
    this.#compute = compute;
    this.#result = compute('');
  }

  of(text: string): T {
    if (text === this.#text) return this.#result;
    this.#text = text;
    this.#result = this.#compute(text);
    return this.#result;
  }
}

/** Whether the header line has this name, which is in lower case and as long as the name of the line. */
function isNamed(line: string, name: string): boolean {
  return line.slice(0, name.length).toLowerCase() === name;
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 304;
}

function optionsOf(value: string): readonly string[] {
  return value === '' ? [] : value.split(',').map((option) => option.trim().toLowerCase());
}

function idleTime(keepAlive: string): number {
  const seconds = keepAlive === '' ? undefined : /timeout=(\d+)/.exec(keepAlive)?.[1];
  if (seconds === undefined) return keepAliveMs;
  return Math.max(0, Math.min(Number(seconds) * 1_000 - keepAliveMarginMs, keepAliveMs));
}

/** Whether the rest of the chunk has nothing but line breaks, which are allowed between answers. */
export function hasOnlyLineBreaks(chunk: Buffer, from = 0): boolean {
  for (let at = from; at < chunk.length; at += 1) if (chunk[at] !== cr && chunk[at] !== lf) return false;
  return true;
}
