import { Readable, Writable } from 'node:stream';
import type { Connection as Wire } from 'pg';
import { serialize as messages } from 'pg-protocol';
import { Exchange, textBytes } from './exchange.ts';
import type { CopiedRows } from './messages.ts';
import type { PendingStatement } from './template.ts';

/**
 * COPY … TO STDOUT: the caller gets a stream of the rows with the first row or the end, and the connection is paused while nobody reads the
 * stream.
 */
export class CopyOut extends Exchange {
  readonly #pending: PendingStatement;
  readonly #socket: Wire['stream'];
  readonly #stream: Readable;
  #isStarted = false;

  constructor(pending: PendingStatement, { stream: socket }: Wire, onEnd: (error: Error | null) => void) {
    super(textBytes(pending.text), onEnd);
    this.#pending = pending;
    this.#socket = socket;
    this.#stream = new Readable({
      read: () => socket.resume(),
      // The server sends the rest, which nobody reads.
      destroy: (error, done) => {
        socket.resume();
        done(error);
      },
    });
  }

  override handleCopyData({ chunk }: CopiedRows): void {
    this.#start();
    if (this.#stream.destroyed) return;
    // The parser uses its buffer again.
    if (!this.#stream.push(Buffer.from(chunk))) this.#socket.pause();
  }

  override handleCommandComplete(): void {
    this.#start();
  }

  #start(): void {
    this.#isStarted = true;
    this.#pending.resolve(this.#stream);
  }

  override end(lost: Error | null): void {
    const error = lost ?? this.error;
    this.#socket.resume();
    if (error === null) this.#stream.push(null);
    else this.#stream.destroy(this.#isStarted ? error : undefined);
    super.end(lost);
  }
}

/**
 * COPY … FROM STDIN: the caller gets a stream to write the rows to, which finishes after the server has stored them. Destroying the stream makes
 * the statement fail.
 */
export class CopyIn extends Exchange {
  readonly #pending: PendingStatement;
  #stream: Writable | null = null;
  /** Ends the stream, which has sent all rows. */
  #finish: ((error?: Error | null) => void) | null = null;
  #isSettled = false;

  constructor(pending: PendingStatement, onEnd: (error: Error | null) => void) {
    super(textBytes(pending.text), onEnd);
    this.#pending = pending;
  }

  override handleCopyInResponse({ stream: socket }: Wire): void {
    this.#stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => void socket.write(messages.copyData(chunk), done),
      final: (done) => {
        this.#finish = done;
        socket.write(messages.copyDone());
      },
      destroy: (error, done) => {
        if (!this.#isSettled) socket.write(messages.copyFail('the rows ended early'));
        done(error);
      },
    });
    this.#pending.resolve(this.#stream);
  }

  override end(lost: Error | null): void {
    const error = lost ?? this.error;
    this.#isSettled = true;
    if (this.#finish !== null) this.#finish(error);
    else if (this.#stream !== null) this.#stream.destroy(error ?? undefined);
    super.end(lost);
  }
}
