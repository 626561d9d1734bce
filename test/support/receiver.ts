import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Json } from './server.ts';

/** A request as the receiver of a webhook got it. */
interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** As it came. */
  readonly body: string;
  readonly event: Json;
  readonly at: number;
}

/** What to answer. A number is a status; a function does it all by itself. */
export type Answering = number | ((request: IncomingMessage, response: ServerResponse, arrived: Arrived) => void);

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** In the order they arrived, complete. */
  readonly arrived: Arrived[];
  /** From now on. */
  answer: (arrived: Arrived) => Answering;
  ofType(type: string): Json[];
  /** Cuts every connection and takes no more; `open` takes them again on the same port. */
  close(): Promise<void>;
  open(): Promise<void>;
}

interface Certified {
  readonly key: string;
  readonly cert: string;
}

/** Receives webhooks, and answers as it is told: 200 unless told otherwise. */
export async function startReceiver(tls?: Certified): Promise<Receiver> {
  const arrived: Arrived[] = [];
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let port = 0;

  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { method = '', url: path = '', headers } = request;
      const one: Arrived = { method, path, headers, body, event: JSON.parse(body), at: Date.now() };
      arrived.push(one);
      const answering = receiver.answer(one);
      if (typeof answering === 'function') answering(request, response, one);
      else response.writeHead(answering, { 'content-type': 'text/plain' }).end('taken');
    });
  };

  const receiver: Receiver = {
    get url() {
      return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/hook`;
    },
    get port() {
      return port;
    },
    arrived,
    answer: () => 200,
    ofType: (type) => arrived.map(({ event }) => event).filter(({ event_type }) => event_type === type),
    async close() {
      const closing = server;
      server = null;
      if (closing === null) return;
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void closing.close(() => resolve()));
    },
    async open() {
      const opened = tls === undefined ? createServer(take) : createSecureServer(tls, take);
      server = opened;
      opened.on('connection', (socket: Socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
        socket.on('error', () => undefined);
      });
      await new Promise<void>((resolve) => void opened.listen(port, '127.0.0.1', resolve));
      port = (opened.address() as AddressInfo).port;
    },
  };
  await receiver.open();
  return receiver;
}
