import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** What a receiver does with a request. Only the first three say that it has been taken. */
type Manner = 'take' | 'drip' | 'cut' | 'refuse' | 'busy' | 'reset' | 'hang' | 'deaf' | 'endless';

export interface Heard {
  readonly eventId: string;
  readonly engagementId: string;
  /** What was said, which the test has numbered. */
  readonly content: string;
  readonly at: number;
  readonly manner: Manner;
}

/** How often each happens, out of a thousand. The rest is taken. */
type Moods = Readonly<Partial<Record<Manner, number>>>;

/** Receives webhooks and behaves badly at random. Everything that was read to its end is remembered, taken or not. */
export class MisbehavingReceiver {
  readonly heard: Heard[] = [];
  readonly counts = new Map<Manner, number>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  moods: Moods;

  private constructor(moods: Moods) {
    this.moods = moods;
    this.#server = createServer((request, response) => this.#take(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(moods: Moods): Promise<MisbehavingReceiver> {
    const receiver = new MisbehavingReceiver(moods);
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

  #manner(): Manner {
    let dice = Math.random() * 1_000;
    for (const [manner, share] of Object.entries(this.moods) as [Manner, number][]) {
      dice -= share;
      if (dice < 0) return manner;
    }
    return 'take';
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const manner = this.#manner();
    this.counts.set(manner, (this.counts.get(manner) ?? 0) + 1);
    if (manner === 'deaf') {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { event_id: eventId, message } = JSON.parse(Buffer.concat(chunks).toString());
      const { engagement_id: engagementId, content } = message;
      this.heard.push({ eventId, engagementId, content, at: Date.now(), manner });
      behave(manner, request, response);
    });
  }
}

function behave(manner: Manner, request: IncomingMessage, response: ServerResponse): void {
  switch (manner) {
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

export const isTaken = ({ manner }: Heard): boolean => manner === 'take' || manner === 'drip' || manner === 'cut';
