import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux and macOS give to sockets without a port of their own. A port from among those may soon belong to the
 * server or the connection of another test.
 */
const first = 20_000;
const last = 32_000;

/** A port on which nothing listens. Prefer port 0 for a server that can say which port it has. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first));
    const server = createServer();
    const isFree = new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!(await isFree)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
