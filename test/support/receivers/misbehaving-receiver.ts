import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** What a receiver does with a request. Only the first three respond with success. */
type Behaviour = 'take' | 'drip' | 'cut' | 'refuse' | 'busy' | 'reset' | 'hang' | 'close' | 'endless';

export interface ReceivedEvent {
  readonly eventId: string;
  readonly engagementId: string;
  /** The text of the message, which contains a number. */
  readonly content: string;
  readonly at: number;
  readonly behaviour: Behaviour;
}

/** How often each behaviour happens, per thousand requests. All other requests are accepted. */
type BehaviourRates = Readonly<Partial<Record<Behaviour, number>>>;

/** Receives webhooks and misbehaves at random. It records every request that it read completely, accepted or not. */
export class MisbehavingReceiver {
  readonly received: ReceivedEvent[] = [];
  readonly counts = new Map<Behaviour, number>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  rates: BehaviourRates;

  private constructor(rates: BehaviourRates) {
    this.rates = rates;
    this.#server = createServer((request, response) => this.#receive(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(rates: BehaviourRates): Promise<MisbehavingReceiver> {
    const receiver = new MisbehavingReceiver(rates);
    await new Promise<void>((resolve) => void receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #chooseBehaviour(): Behaviour {
    let dice = Math.random() * 1_000;
    for (const [behaviour, share] of Object.entries(this.rates) as [Behaviour, number][]) {
      dice -= share;
      if (dice < 0) return behaviour;
    }
    return 'take';
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const behaviour = this.#chooseBehaviour();
    this.counts.set(behaviour, (this.counts.get(behaviour) ?? 0) + 1);
    if (behaviour === 'close') {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { event_id: eventId, message } = JSON.parse(Buffer.concat(chunks).toString());
      const { engagement_id: engagementId, content } = message;
      this.received.push({ eventId, engagementId, content, at: Date.now(), behaviour });
      behave(behaviour, request, response);
    });
  }
}

function behave(behaviour: Behaviour, request: IncomingMessage, response: ServerResponse): void {
  switch (behaviour) {
    case 'take':
      response.end('taken');
      return;
    case 'drip': {
      response.writeHead(200);
      let drops = 0;
      const timer = setInterval(() => {
        drops += 1;
        if (drops < 10) response.write('.');
        else response.end();
      }, 20);
      response.on('close', () => clearInterval(timer));
      return;
    }
    case 'cut':
      response.writeHead(200, { 'content-length': '1000' });
      response.write('only the beginning', () => request.socket.destroy());
      return;
    case 'refuse':
      response.writeHead(500).end('no');
      return;
    case 'busy':
      response.writeHead(503, { 'retry-after': '1' }).end();
      return;
    case 'reset':
      request.socket.resetAndDestroy();
      return;
    case 'endless': {
      response.writeHead(500);
      const pour = (): void => {
        while (!response.destroyed && response.write('x'.repeat(4_096)));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
      return;
    }
    default:
    // Neither answers nor hangs up.
  }
}

export const isAccepted = ({ behaviour }: ReceivedEvent): boolean =>
  behaviour === 'take' || behaviour === 'drip' || behaviour === 'cut';
