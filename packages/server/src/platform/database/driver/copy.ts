import { Readable, Writable } from 'node:stream';
import type { Connection as Wire } from 'pg';
import { serialize as messages } from 'pg-protocol';
import { Exchange, textBytes } from './exchange.ts';
import type { CopiedRows } from './messages.ts';
import type { Order } from './template.ts';

/** COPY … TO STDOUT: the order gets a stream of the rows, and the connection is paused while nobody reads it. */
export class CopyOut extends Exchange {
  readonly #order: Order;
  #wire: Wire | null = null;
  readonly #stream = new Readable({
    read: () => this.#wire?.stream.resume(),
    // The server sends the rest, which nobody reads.
    destroy: (error, done) => {
      this.#wire?.stream.resume();
      done(error);
    },
  });

  constructor(order: Order, onSettled: (error: Error | null) => void) {
    super(textBytes(order.text), onSettled);
    this.#order = order;
  }

  override handleCopyOutResponse(wire: Wire): void {
    this.#wire = wire;
    this.#order.resolve(this.#stream);
  }

  override handleCopyData({ chunk }: CopiedRows): void {
    if (this.#stream.destroyed) return;
    // The parser uses its buffer again.
    if (!this.#stream.push(Buffer.from(chunk))) this.#wire?.stream.pause();
  }

  override settle(lost: Error | null): void {
    const error = lost ?? this.error;
    this.#wire?.stream.resume();
    if (error === null) this.#stream.push(null);
    else this.#stream.destroy(this.#wire === null ? undefined : error);
    super.settle(lost);
  }
}

/**
 * COPY … FROM STDIN: the order gets a stream to write the rows to, which finishes after the server has stored them. Destroying the stream makes
 * the statement fail.
 */
export class CopyIn extends Exchange {
  readonly #order: Order;
  #stream: Writable | null = null;
  /** Ends the stream, which has sent all rows. */
  #finish: ((error?: Error | null) => void) | null = null;
  #isSettled = false;

  constructor(order: Order, onSettled: (error: Error | null) => void) {
    super(textBytes(order.text), onSettled);
    this.#order = order;
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
    this.#order.resolve(this.#stream);
  }

  override settle(lost: Error | null): void {
    const error = lost ?? this.error;
    this.#isSettled = true;
    if (this.#finish !== null) this.#finish(error);
    else if (this.#stream !== null) this.#stream.destroy(error ?? undefined);
    super.settle(lost);
  }
}
