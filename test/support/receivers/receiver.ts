import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Json } from '../server.ts';

/** A received webhook request. */
interface ReceivedWebhook {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The unparsed body. */
  readonly body: string;
  readonly event: Json;
  readonly at: number;
}

/** The response: a status, or a function that writes the response itself. */
export type ReceiverAnswer =
  number | ((request: IncomingMessage, response: ServerResponse, arrived: ReceivedWebhook) => void);

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** All requests that were received completely, in order of arrival. */
  readonly arrived: ReceivedWebhook[];
  /** Chooses the response; may be replaced. */
  answer: (arrived: ReceivedWebhook) => ReceiverAnswer;
  ofType(type: string): Json[];
  /** Closes every connection and refuses new ones. `open` accepts them again on the same port. */
  close(): Promise<void>;
  open(): Promise<void>;
}

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Receives webhooks. Responds with 200 unless `answer` is replaced. */
export async function startReceiver(tls?: Certificate): Promise<Receiver> {
  const arrived: ReceivedWebhook[] = [];
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let port = 0;

  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { method = '', url: path = '', headers } = request;
      const webhook: ReceivedWebhook = { method, path, headers, body, event: JSON.parse(body), at: Date.now() };
      arrived.push(webhook);
      const chosen = receiver.answer(webhook);
      if (typeof chosen === 'function') chosen(request, response, webhook);
      else response.writeHead(chosen, { 'content-type': 'text/plain' }).end('taken');
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
