import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy that can break connections. */
export interface Proxy {
  readonly url: string;
  /** The number of connections so far. */
  readonly connections: () => number;
  /** Closes all open connections. */
  cut(): void;
  /** Resets all open connections of clients, as a firewall does with those that it has forgotten. */
  reset(): void;
  /** Closes the next connection that returns more than this many bytes, after those bytes. Resolves when that has happened. */
  cutAfter(bytes: number): Promise<void>;
  /** While the proxy is shut, it refuses new connections; shutting it closes the open ones. */
  shut(isShut: boolean): void;
  /** While the proxy is silent, connections stay open but no data passes. Held data passes afterwards. */
  silence(isSilent: boolean): void;
  /**
   * While the proxy swallows, the open and the new connections are half-open: their data is lost, and the end of one side is hidden from the
   * other. Those connections stay half-open for the process; for the target they end when the proxy stops swallowing.
   */
  swallow(isSwallowing: boolean): void;
  /** Passes data on after this time, and reads no more of the same connection meanwhile. */
  delay(ms: number): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `socket`: the path of a Unix socket. */
export async function startProxy(target: { readonly url: string } | { readonly socket: string }): Promise<Proxy> {
  const connectToTarget = (): Socket => {
    if ('socket' in target) return connect(target.socket);
    const { hostname, port } = new URL(target.url);
    return connect(Number(port), hostname);
  };
  const sockets = new Set<Socket>();
  let isShut = false;
  let isSilent = false;
  let isSwallowing = false;
  let delayMs = 0;
  let count = 0;
  /** Both sides of half-open connections. */
  const lost = new Set<Socket>();
  const backends = new Set<Socket>();
  let armed: { bytes: number; done: () => void } | null = null;

  const pauseAll = (...paused: Socket[]): void => {
    for (const socket of paused) socket.pause();
  };
  const forward = (from: Socket, to: Socket, bytes: Buffer): void => {
    if (lost.has(from)) return;
    if (delayMs === 0) return void to.write(bytes);
    from.pause();
    setTimeout(() => {
      to.write(bytes);
      if (!isSilent) from.resume();
    }, delayMs);
  };
  const server = createServer((client) => {
    if (isShut) return void client.destroy();
    count += 1;
    const backend = connectToTarget();
    sockets.add(client).add(backend);
    backends.add(backend);
    if (isSwallowing) lost.add(client).add(backend);
    client.on('data', (bytes: Buffer) => forward(client, backend, bytes));
    backend.on('data', (bytes: Buffer) => {
      if (armed === null || bytes.length <= armed.bytes) {
        if (armed !== null) armed.bytes -= bytes.length;
        return forward(backend, client, bytes);
      }
      const { done } = armed;
      client.write(bytes.subarray(0, armed.bytes), () => {
        client.destroy();
        backend.destroy();
        done();
      });
      armed = null;
      backend.pause();
    });
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => {
        for (const known of [sockets, backends]) known.delete(one);
        if (!lost.delete(one)) other.destroy();
      });
    }
    if (isSilent) pauseAll(client, backend);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => count,
    cut,
    reset() {
      // A Unix socket cannot be reset; its connection ends with the other side.
      for (const socket of sockets) if (!backends.has(socket)) socket.resetAndDestroy();
    },
    cutAfter: async (bytes) =>
      new Promise((done) => {
        armed = { bytes, done };
      }),
    shut(shut) {
      isShut = shut;
      if (shut) cut();
    },
    silence(silent) {
      isSilent = silent;
      for (const socket of sockets)
        if (silent) socket.pause();
        else socket.resume();
    },
    swallow(swallowing) {
      isSwallowing = swallowing;
      if (swallowing) for (const socket of sockets) lost.add(socket);
      else for (const backend of backends) if (lost.has(backend)) backend.destroy();
    },
    delay(ms) {
      delayMs = ms;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
