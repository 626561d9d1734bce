import type { Socket } from 'node:net';
import { AnswerParser, hasOnlyLineBreaks } from './answer-parser.ts';
import { ConnectionError } from './errors.ts';
import type { Exchange } from './exchange.ts';

interface ConnectionOwner {
  /** The connection can be used for the next request. */
  onIdle(connection: HttpConnection): void;
  onClosed(connection: HttpConnection): void;
}

/**
 * An open connection to a receiver, for one request at a time.
 *
 *   idle    waits for a request
 *   busy    a request was sent, and its answer is not complete
 *   closed
 *
 *           send  answer complete  bytes          closed by the receiver, close
 *   idle    busy  –                closed         closed
 *   busy    –     idle or closed   of the answer  closed; the request has failed
 *
 * Requests are never repeated here: a request that was sent may have arrived, so its failure is a failed attempt.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #parser = new AnswerParser();
  #exchange: Exchange | null = null;
  #isClosed = false;
  #error: unknown = null;
  /** An idle connection is closed at this time. */
  idleUntil = 0;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('end', () => this.#onEnd(new ConnectionError('other side closed')));
    socket.on('error', (error) => this.#onError(error));
    socket.on('close', () => this.#fail(new ConnectionError('closed')));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Why a connection was closed that had no request. */
  get error(): unknown {
    return this.#error;
  }

  send(exchange: Exchange): void {
    const socket = this.#socket;
    const { head, body, isAscii } = exchange.request;
    this.#exchange = exchange;
    this.#parser.reset();
    exchange.begin(this, this.#parser);
    socket.ref();
    if (isAscii) {
      socket.write(head + body, 'utf8');
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body, 'utf8');
    socket.uncork();
  }

  /** Closes the connection. The caller settles the request, if there is one. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange = null;
    this.#socket.destroy();
    this.#owner.onClosed(this);
  }

  #onData(chunk: Buffer): void {
    if (this.#isClosed) return;
    if (this.#exchange === null) {
      // These bytes would be taken for the answer to the next request.
      if (!hasOnlyLineBreaks(chunk)) this.#fail(new ConnectionError('the receiver sent data before the request'));
      return;
    }
    try {
      this.#parser.feed(chunk);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#parser.isComplete || this.#parser.isTooLong) this.#complete(this.#exchange);
  }

  #complete(exchange: Exchange): void {
    const socket = this.#socket;
    const { idleMs, isTooLong } = this.#parser;
    // An answer that came before the whole request was sent says nothing about whether the rest will be read.
    if (!isTooLong && idleMs > 0 && !exchange.request.isLast && socket.writableLength === 0) {
      this.#exchange = null;
      this.idleUntil = performance.now() + idleMs;
      socket.unref();
      this.#owner.onIdle(this);
    } else this.close();
    exchange.complete();
  }

  /** The connection has ended. Only some answers are complete then. */
  #onEnd(error: Error): void {
    if (this.#exchange !== null && this.#parser.end()) this.#complete(this.#exchange);
    else this.#fail(error);
  }

  #onError(error: Error): void {
    // Some receivers reset the connection instead of closing it.
    if ('code' in error && error.code === 'ECONNRESET') this.#onEnd(error);
    else this.#fail(error);
  }

  #fail(error: unknown): void {
    const exchange = this.#exchange;
    if (!this.#isClosed) this.#error = error;
    this.close();
    exchange?.fail(error);
  }
}
