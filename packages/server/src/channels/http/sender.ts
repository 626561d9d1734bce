import { errors, type buildConnector } from 'undici';
import type { Attempt } from '../attempt.ts';
import { HttpConnection } from './connection.ts';
import { Exchange } from './exchange.ts';
import type { HttpRequest } from './request.ts';

/**
 * Sends requests to one origin, each over an idle connection. The connection used last is reused first, so that connections
 * that are not needed time out. The caller limits the number of concurrent requests.
 */
export class HttpSender {
  readonly #origin: string;
  readonly #connect: buildConnector.connector;
  #idle: HttpConnection[] = [];
  readonly #exchanges = new Set<Exchange>();
  #isClosed = false;

  constructor(origin: string, connect: buildConnector.connector) {
    this.#origin = origin;
    this.#connect = connect;
  }

  /** Never rejects: every error is a failed attempt. */
  send(request: HttpRequest, answerMs: number): Promise<Attempt> {
    return new Promise((resolve) => {
      const idle = this.#idle.pop();
      let connection = idle ?? this.#newConnection();
      const exchange = new Exchange(answerMs, {
        onOver: (attempt) => {
          this.#exchanges.delete(exchange);
          connection.release();
          resolve(attempt);
        },
        onUnsent: (error) => {
          if (connection !== idle || this.#isClosed) return exchange.fail(error);
          connection.close();
          connection = this.#newConnection();
          connection.send(request, exchange);
        },
      });
      this.#exchanges.add(exchange);
      if (this.#isClosed) exchange.fail(new errors.ClientDestroyedError());
      else connection.send(request, exchange);
    });
  }

  /** Closes all connections and fails their requests. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#idle) connection.close();
    for (const exchange of this.#exchanges) exchange.fail(new errors.ClientDestroyedError());
  }

  #newConnection(): HttpConnection {
    return new HttpConnection(this.#origin, this.#connect, {
      onIdle: (idle) => this.#idle.push(idle),
      onClosed: (closed) => {
        this.#idle = this.#idle.filter((each) => each !== closed);
      },
    });
  }
}
