import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

export interface AppendingProxy {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Options {
  /** The address that the proxy says its clients have. All clients of a test really come from loopback. */
  readonly client: string;
  /** Appends the client's port too, as some proxies do. */
  readonly withPort?: boolean;
}

/** An HTTP proxy that appends its client to `X-Forwarded-For`, as nginx, HAProxy and cloud load balancers do by default. */
export async function startAppendingProxy(target: { readonly url: string }, options: Options): Promise<AppendingProxy> {
  const { hostname, port } = new URL(target.url);
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const forwarded = { ...headers, 'x-forwarded-for': appended(incoming, options), 'x-forwarded-proto': 'https' };
    const upstream = httpRequest({ hostname, port, method, path: url, headers: forwarded }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, outgoing, () => undefined);
    });
    pipeline(incoming, upstream, () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function appended({ headers, socket }: IncomingMessage, { client, withPort = false }: Options): string {
  const own = withPort ? `${client}:${socket.remotePort}` : client;
  const sent = headers['x-forwarded-for'];
  return sent === undefined ? own : `${String(sent)}, ${own}`;
}
