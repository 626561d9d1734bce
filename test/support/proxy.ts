import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that can be cut. */
export interface Proxy {
  readonly url: string;
  /** Connections that were made through it so far. */
  readonly connections: () => number;
  /** Cuts what is open, now. */
  cut(): void;
  /** Cuts the connection that next brings so many bytes back, in the middle of what it brings. Resolves when it has. */
  cutAfter(bytes: number): Promise<void>;
  /** While it is shut, nobody gets through. */
  shut(isShut: boolean): void;
  /** While it is silent, connections are taken and stay open, and nothing passes. What was sent meanwhile passes afterwards. */
  silence(isSilent: boolean): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `socket`: the path of a Unix socket. */
export async function startProxy(target: { readonly url: string } | { readonly socket: string }): Promise<Proxy> {
  const reach = (): Socket => {
    if ('socket' in target) return connect(target.socket);
    const { hostname, port } = new URL(target.url);
    return connect(Number(port), hostname);
  };
  const sockets = new Set<Socket>();
  let isShut = false;
  let isSilent = false;
  let count = 0;
  let armed: { bytes: number; done: () => void } | null = null;

  const hush = (...these: Socket[]): void => {
    for (const socket of these) socket.pause();
  };
  const server = createServer((client) => {
    if (isShut) return void client.destroy();
    count += 1;
    const backend = reach();
    sockets.add(client).add(backend);
    client.on('data', (bytes: Buffer) => backend.write(bytes));
    backend.on('data', (bytes: Buffer) => {
      if (armed === null || bytes.length <= armed.bytes) {
        if (armed !== null) armed.bytes -= bytes.length;
        return void client.write(bytes);
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
        sockets.delete(one);
        other.destroy();
      });
    }
    if (isSilent) hush(client, backend);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => count,
    cut,
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
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
