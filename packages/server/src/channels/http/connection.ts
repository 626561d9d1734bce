import type { Socket } from 'node:net';
import { Client, errors, type buildConnector } from 'undici';
import type { Exchange } from './exchange.ts';
import type { HttpRequest } from './request.ts';

/** How long an unused connection is kept, at most. A receiver may announce less. */
const keepAliveMs = 4_000;
/** Of one head. `Exchange` limits all heads of an answer together. */
const maxHeadBytes = 16_384;

interface ConnectionOwner {
  /** The connection can be used for the next request. */
  onIdle(connection: HttpConnection): void;
  onClosed(connection: HttpConnection): void;
}

/**
 * A connection to a receiver, for one request at a time: a client of undici. If the receiver closes it before the next request is sent,
 * undici opens it again. A request that was sent is never repeated, because it may have arrived.
 */
export class HttpConnection {
  readonly #client: Client;
  readonly #connect: buildConnector.connector;
  readonly #owner: ConnectionOwner;
  #socket: Socket | null = null;
  #exchange: Exchange | null = null;
  #isClosed = false;

  constructor(origin: string, connect: buildConnector.connector, owner: ConnectionOwner) {
    this.#connect = connect;
    this.#owner = owner;
    this.#client = new Client(origin, {
      connect: (options, callback) => this.#open(options, callback),
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      maxHeaderSize: maxHeadBytes,
      // The exchange has one limit for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => {
      if (this.#exchange === null) this.close();
    });
  }

  send(request: HttpRequest, exchange: Exchange): void {
    this.#exchange = exchange;
    if (this.#socket !== null) exchange.useSocket(this.#socket);
    this.#client.dispatch({ ...request }, exchange);
  }

  /** Called when the exchange is over. */
  release(): void {
    const isClean = this.#exchange?.leavesConnectionClean ?? false;
    this.#exchange = null;
    if (isClean) this.#owner.onIdle(this);
    else this.close();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#owner.onClosed(this);
    void this.#client.destroy();
  }

  #open(options: buildConnector.Options, callback: buildConnector.Callback): void {
    this.#connect(options, (error, socket) => {
      if (error !== null) return callback(error, null);
      // What the receiver has sent by then belongs to no request, and would be taken for the answer to the first one.
      setImmediate(() => {
        if (socket.readableLength > 0) {
          const early = new errors.SocketError('the receiver sent data before the request');
          this.#exchange?.fail(early);
          socket.destroy();
          return callback(early, null);
        }
        this.#socket = socket;
        this.#exchange?.useSocket(socket);
        callback(null, socket);
        // After the listener of undici, which has then read what was received.
        socket.on('readable', () => this.#exchange?.checkReceived());
      });
    });
  }
}
