import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Json } from '../server.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The parsed body if its signature is valid, else `null`. */
  readonly verified: Json;
}

/** A webhook receiver that verifies signatures with the Standard Webhooks library. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Chooses the status; `null` closes the connection without a response. */
  answer: (received: Received) => number | null | Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startReceiver(secret: string): Promise<Receiver> {
  const webhook = new Webhook(secret);
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const webhookRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
        verified: verified(webhook, body, request.headers),
      };
      received.push(webhookRequest);
      void Promise.resolve(receiver.answer(webhookRequest)).then((status) => {
        if (status === null) request.socket.destroy();
        else response.writeHead(status, { location: '/elsewhere' }).end('taken');
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?from=usher`,
    received,
    answer: () => 204,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

function verified(webhook: Webhook, body: string, headers: IncomingHttpHeaders): Json {
  try {
    return webhook.verify(body, headers as Record<string, string>);
  } catch {
    return null;
  }
}
