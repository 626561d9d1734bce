import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** What a receiver does with a share of the requests. All others are accepted at once. */
export interface Faults {
  readonly refuse: number;
  /** Asks for a pause. */
  readonly busy: number;
  /** Answers after `slowMs`. */
  readonly slow: number;
  /** Never answers. */
  readonly hang: number;
}

const slowMs = 2_000;

/** Receives webhooks. Remembers the ids of accepted events, and nothing else of them. */
export class SoakReceiver {
  readonly accepted = new Set<string>();
  requests = 0;
  readonly #faults: Faults;
  readonly #onEvent: (dispatchedAt: number) => void;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  private constructor(faults: Faults, onEvent: (dispatchedAt: number) => void) {
    this.#faults = faults;
    this.#onEvent = onEvent;
  }

  static async start(faults: Faults, onEvent: (dispatchedAt: number) => void = () => undefined): Promise<SoakReceiver> {
    const receiver = new SoakReceiver(faults, onEvent);
    await receiver.open();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.#answer(Buffer.concat(chunks).toString(), response));
    });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server = server;
    await new Promise<void>((resolve) => void server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Refuses connections until `open`. */
  close(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #answer(body: string, response: ServerResponse): void {
    this.requests += 1;
    const { event_id: id, dispatched_at: dispatchedAt }: { event_id: string; dispatched_at: string } = JSON.parse(body);
    const accept = (): void => {
      if (response.destroyed) return;
      this.accepted.add(id);
      response.writeHead(200).end();
    };
    let dice = Math.random();
    const { refuse, busy, slow, hang } = this.#faults;
    if ((dice -= refuse) < 0) response.writeHead(500).end();
    else if ((dice -= busy) < 0) response.writeHead(503, { 'retry-after': '2' }).end();
    else if ((dice -= slow) < 0) setTimeout(accept, slowMs);
    else if ((dice -= hang) >= 0) {
      this.#onEvent(Date.parse(dispatchedAt));
      accept();
    }
  }
}
