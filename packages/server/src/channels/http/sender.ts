import type { buildConnector } from 'undici';
import type { Attempt } from '../attempt.ts';
import { HttpConnection } from './connection.ts';
import { ConnectionError } from './errors.ts';
import { Exchange, type HttpRequest } from './exchange.ts';

/** Timeouts are checked this often. */
const checkEveryMs = 250;

interface PlannedRequest {
  readonly exchange: Exchange;
  readonly connection: HttpConnection;
  /** The connection was opened for this request. */
  readonly isNew: boolean;
}

/**
 * Sends requests to one origin, each over an idle connection. The connection used last is reused first, so that connections
 * that are not needed time out. The caller limits the number of concurrent requests.
 */
export class HttpSender {
  readonly #connect: buildConnector.connector;
  readonly #target: buildConnector.Options;
  readonly #connections = new Set<HttpConnection>();
  #idle: HttpConnection[] = [];
  readonly #exchanges = new Set<Exchange>();
  readonly #soon: PlannedRequest[] = [];
  #watch: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(origin: string, connect: buildConnector.connector) {
    const { host, hostname, protocol, port } = new URL(origin);
    this.#connect = connect;
    this.#target = { host, hostname: hostname.replace(/^\[|\]$/g, ''), protocol, port };
  }

  /** Never rejects: every error is a failed attempt. */
  send(request: HttpRequest, answerMs: number): Promise<Attempt> {
    return new Promise((resolve) => {
      const exchange = new Exchange(request, answerMs, (attempt) => {
        this.#exchanges.delete(exchange);
        resolve(attempt);
      });
      if (this.#isClosed) return exchange.fail(destroyed());
      this.#exchanges.add(exchange);
      this.#watch ??= setInterval(() => this.#check(), checkEveryMs).unref();
      const connection = this.#takeIdle();
      if (connection === null) this.#open(exchange);
      else this.#sendSoon({ exchange, connection, isNew: false });
    });
  }

  /** Closes all connections and aborts their requests. */
  close(): void {
    this.#isClosed = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    for (const connection of this.#connections) connection.close();
    for (const exchange of this.#exchanges) exchange.fail(destroyed());
  }

  #takeIdle(): HttpConnection | null {
    const now = performance.now();
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) return null;
      if (connection.isClosed) continue;
      if (now < connection.idleUntil) return connection;
      connection.close();
    }
  }

  /**
   * Sends after the events that the socket already has: the receiver may have closed the connection, or sent something that belongs
   * to no request. Nothing of the request was sent before, so if the connection was idle, another one can be opened.
   */
  #sendSoon(planned: PlannedRequest): void {
    this.#soon.push(planned);
    if (this.#soon.length > 1) return;
    setImmediate(() => {
      for (const each of this.#soon.splice(0)) this.#sendNow(each);
    });
  }

  #sendNow({ connection, exchange, isNew }: PlannedRequest): void {
    if (exchange.isSettled) {
      if (isNew) connection.close();
      else if (!connection.isClosed) this.#idle.push(connection);
    } else if (!connection.isClosed) connection.send(exchange);
    else if (isNew) exchange.fail(connection.error);
    else this.#open(exchange);
  }

  #open(exchange: Exchange): void {
    try {
      this.#connect(this.#target, (error, socket) => {
        if (error !== null) return exchange.fail(error);
        // The request timed out before it began, or the sender was closed.
        if (exchange.isSettled) return void socket.on('error', () => undefined).destroy();
        const connection = new HttpConnection(socket, {
          onIdle: (idle) => this.#idle.push(idle),
          onClosed: (closed) => this.#connections.delete(closed),
        });
        this.#connections.add(connection);
        this.#sendSoon({ exchange, connection, isNew: true });
      });
    } catch (error) {
      exchange.fail(error);
    }
  }

  #check(): void {
    const now = performance.now();
    for (const exchange of this.#exchanges) if (now >= exchange.begunAt + exchange.answerMs) exchange.timeOut();
    for (const connection of this.#idle) if (now >= connection.idleUntil) connection.close();
    this.#idle = this.#idle.filter(({ isClosed }) => !isClosed);
    if (this.#exchanges.size + this.#idle.length > 0 || this.#watch === null) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }
}

function destroyed(): ConnectionError {
  return new ConnectionError('The client is destroyed', 'UND_ERR_DESTROYED');
}
