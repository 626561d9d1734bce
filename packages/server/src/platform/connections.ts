import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.ts';
import { addressKey } from './rate-limit.ts';

interface Connection {
  readonly socket: Socket;
  readonly share: Share;
  /** Requests being answered; a feed is one for as long as it is open. */
  requests: number;
  /** An operator, or a secret token, has used the socket: it counts for no address, and is not closed for others. */
  isTrusted: boolean;
}

/** What one address has of the sockets. */
interface Share {
  readonly address: string;
  /** Sockets that are not trusted. */
  size: number;
  /** Those of them that serve no request, in the order in which they became idle. */
  readonly idle: Set<Connection>;
}

interface ConnectionsOptions {
  readonly limits: Pick<ConnectionLimits, 'connections' | 'connectionsPerAddress'>;
  /** Whether sockets come from callers themselves. Behind a proxy all come from the proxy, which must limit callers. */
  readonly areDirect: boolean;
  /** A socket was closed to keep to the limits. */
  readonly onClosed: () => void;
}

/** From this share of all sockets on, idle ones are closed to make room. */
const crowdedShare = 0.95;

/**
 * Keeps one address from taking all sockets of the process. Who a socket belongs to is known only after a request was read, so
 * a new socket is let in as long as an idle one can be closed for it: where its address has its share, one of the same
 * address; where the process is crowded, the one that was idle for longest. A socket that serves a request is never closed for
 * another; one that never sent a request is idle. Requests that arrive slowly end by the server's own time-outs.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #shares = new Map<string, Share>();
  /** Sockets of all addresses that are idle and not trusted, in the order in which they became idle. */
  readonly #idle = new Set<Connection>();

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options;
    server.maxConnections = options.limits.connections;
    server.on('connection', (socket: Socket) => this.#open(socket));
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => this.#begin(socket, response));
  }

  get size(): number {
    return this.#bySocket.size;
  }

  /** Somebody whom limits per address do not concern uses the socket. */
  trust(socket: Socket): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.isTrusted) return;
    this.#leaveShare(connection);
    connection.isTrusted = true;
  }

  #open(socket: Socket): void {
    const share = this.#shareOf(addressKey(socket.remoteAddress ?? ''));
    if (!this.#makeRoom(share)) {
      this.#close(socket);
      return;
    }
    const connection: Connection = { socket, share, requests: 0, isTrusted: false };
    this.#bySocket.set(socket, connection);
    this.#shares.set(share.address, share);
    share.size += 1;
    this.#rest(connection);
    socket.once('close', () => this.#forget(socket));
  }

  /** Whether there is room for one more socket of the address. */
  #makeRoom({ size, idle }: Share): boolean {
    const { limits, areDirect } = this.#options;
    const isFull = areDirect && size >= limits.connectionsPerAddress;
    const isCrowded = this.#bySocket.size >= limits.connections * crowdedShare;
    const [oldest] = isFull ? idle : isCrowded ? this.#idle : [];
    if (oldest !== undefined) this.#close(oldest.socket);
    return !isFull || oldest !== undefined;
  }

  #shareOf(address: string): Share {
    return this.#shares.get(address) ?? { address, size: 0, idle: new Set() };
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    this.#idle.delete(connection);
    connection.share.idle.delete(connection);
    response.once('close', () => {
      connection.requests -= 1;
      if (connection.requests === 0 && !connection.isTrusted && this.#bySocket.has(socket)) this.#rest(connection);
    });
  }

  #rest(connection: Connection): void {
    this.#idle.add(connection);
    connection.share.idle.add(connection);
  }

  #close(socket: Socket): void {
    this.#options.onClosed();
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) return;
    this.#bySocket.delete(socket);
    if (!connection.isTrusted) this.#leaveShare(connection);
  }

  #leaveShare(connection: Connection): void {
    const { share } = connection;
    this.#idle.delete(connection);
    share.idle.delete(connection);
    share.size -= 1;
    if (share.size === 0) this.#shares.delete(share.address);
  }
}
