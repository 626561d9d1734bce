import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { buildConnector } from 'undici';
import type { RawAnswer } from './raw-answers.ts';

/** The body of every request, by which the end of a request is found. */
export const requestBody = '{"event":"õ"}';

const secondAnswer = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecond';

/** The receiver's end and ours of a connection in memory: what is pushed is read in exactly these pieces. */
class ScriptedSocket extends Duplex {
  /** Resolves when the first answer has been sent completely, or the connection was closed before. */
  readonly answered: Promise<void>;
  readonly #answer: (count: number) => readonly Buffer[];
  readonly #closing: RawAnswer['closing'];
  readonly #onAnswered: () => void;
  #received = '';
  #requests = 0;

  constructor(answer: (count: number) => readonly Buffer[], closing: RawAnswer['closing']) {
    super();
    this.#answer = answer;
    this.#closing = closing;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.answered = promise;
    this.#onAnswered = resolve;
  }

  override _read(): void {
    // Everything is pushed by `#reply`.
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#received += chunk.toString('utf8');
    done();
    if (!this.#received.endsWith(`\r\n\r\n${requestBody}`)) return;
    this.#received = '';
    this.#requests += 1;
    void this.#reply(this.#requests);
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  async #reply(count: number): Promise<void> {
    for (const piece of this.#answer(count)) {
      await nextTurn();
      if (this.destroyed) break;
      this.push(piece);
    }
    await nextTurn();
    if (count > 1) return;
    if (!this.destroyed && this.#closing === 'end') this.push(null);
    if (!this.destroyed && this.#closing === 'reset')
      this.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    if (this.#closing !== undefined && !this.closed) await once(this, 'close').catch(() => undefined);
    this.#onAnswered();
  }
}

/** Opens connections to a receiver that gives the raw answer to the first request, and a usual one to all others. */
export class ScriptedReceiver {
  readonly #raw: RawAnswer;
  readonly #pieceBytes: number;
  readonly #sockets: ScriptedSocket[] = [];

  constructor(raw: RawAnswer, pieceBytes: number) {
    this.#raw = raw;
    this.#pieceBytes = pieceBytes;
  }

  get connections(): number {
    return this.#sockets.length;
  }

  readonly connect: buildConnector.connector = (_, callback) => {
    const isFirst = this.#sockets.length === 0;
    const closing = isFirst ? this.#raw.closing : undefined;
    const socket = new ScriptedSocket((count) => this.#piecesOf(isFirst && count === 1), closing);
    this.#sockets.push(socket);
    setImmediate(() => callback(null, socket as unknown as Socket));
  };

  /** Waits until everything that follows the first answer has happened, so that the next request cannot be in a race with it. */
  async settled(): Promise<void> {
    await this.#sockets[0]?.answered;
    await nextTurn();
  }

  #piecesOf(isRaw: boolean): readonly Buffer[] {
    const bytes = Buffer.from(isRaw ? this.#raw.bytes : secondAnswer, 'latin1');
    const size = isRaw ? this.#pieceBytes : bytes.length;
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
  }
}
