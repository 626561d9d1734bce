import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.ts';
import { addressKey } from './rate-limit.ts';

interface Connection {
  readonly socket: Socket;
  readonly share: Share;
  /** Requests in progress; an open live feed counts as one. */
  requests: number;
  /** An operator or a secret token has used the socket: it does not count for its IP address and is never closed to free a slot. */
  isTrusted: boolean;
}

/** The sockets of one IP address. */
interface Share {
  readonly address: string;
  /** Sockets that are not trusted. */
  size: number;
  /** Those without a request in progress, in the order in which they became idle. */
  readonly idle: Set<Connection>;
}

interface ConnectionsOptions {
  readonly limits: Pick<ConnectionLimits, 'connections' | 'connectionsPerAddress'>;
  /** Whether callers connect directly. Behind a proxy all sockets come from the proxy, which must limit callers. */
  readonly areDirect: boolean;
  /** Called when a socket is closed because of a limit. */
  readonly onClosed: () => void;
}

/** Above this share of all sockets, idle ones are closed for new ones. */
const crowdedShare = 0.95;

/**
 * Prevents one IP address from taking all sockets of the process. The caller of a socket is known only after a request was read,
 * so a new socket is accepted as long as an idle one can be closed for it: one of the same address if that address has reached
 * its share, or the longest idle one if the process is crowded. A socket with a request in progress is never closed for another;
 * one that never sent a request is idle. Requests that arrive slowly end by the server's own time-outs.
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

  /** Exempts the socket of a trusted caller from the limits per address. */
  trust(socket: Socket): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.isTrusted) return;
    this.#leaveShare(connection);
    connection.isTrusted = true;
  }

  #open(socket: Socket): void {
    const share = this.#shareOf(addressKey(socket.remoteAddress ?? ''));
    if (!this.#freeSlot(share)) {
      this.#close(socket);
      return;
    }
    const connection: Connection = { socket, share, requests: 0, isTrusted: false };
    this.#bySocket.set(socket, connection);
    this.#shares.set(share.address, share);
    share.size += 1;
    this.#markIdle(connection);
    socket.once('close', () => this.#remove(socket));
  }

  /** Closes an idle socket if a limit is reached. Returns whether one more socket of the address may open. */
  #freeSlot({ size, idle }: Share): boolean {
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
    // A trusted socket is never closed for another, so its requests need not be counted.
    if (connection === undefined || connection.isTrusted) return;
    connection.requests += 1;
    this.#idle.delete(connection);
    connection.share.idle.delete(connection);
    response.once('close', () => {
      connection.requests -= 1;
      if (connection.requests === 0 && !connection.isTrusted && this.#bySocket.has(socket)) this.#markIdle(connection);
    });
  }

  #markIdle(connection: Connection): void {
    this.#idle.add(connection);
    connection.share.idle.add(connection);
  }

  #close(socket: Socket): void {
    this.#options.onClosed();
    this.#remove(socket);
    socket.destroy();
  }

  #remove(socket: Socket): void {
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
