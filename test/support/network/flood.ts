import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { callFrom, feedFrom, type FeedFrom } from './from-address.ts';

/**
 * A flood from one IP address with a publishable token: it creates visitors and tickets as fast as it can, opens feeds and keeps
 * them open, and holds idle sockets. It runs in its own process, so that it takes no time from the process that measures. The
 * parent starts and ends a round by messages, and receives a report.
 */
export interface FloodOrder {
  readonly url: string;
  readonly token: string;
  readonly siteId: string;
  readonly queueId: string;
}

export interface FloodReport {
  /** The number of responses by kind of request and status. Status 0: the connection was closed. */
  readonly answers: Readonly<Record<string, number>>;
  readonly openFeeds: number;
  readonly openSockets: number;
}

const localAddress = '127.0.0.1';
const loops = { visitors: 32, tickets: 32, feeds: 32 };
const idleSockets = 2_000;

class Flood {
  readonly #order: FloodOrder;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #feedAgent = new Agent();
  readonly #answers: Record<string, number> = {};
  readonly #tokens: string[] = [];
  readonly #feeds: FeedFrom[] = [];
  readonly #sockets: Socket[] = [];
  #runs = true;
  readonly #loops: Promise<void>[];

  constructor(order: FloodOrder) {
    this.#order = order;
    this.#loops = [
      ...Array.from({ length: loops.visitors }, async () => this.#loop(async () => this.#makeVisitor())),
      ...Array.from({ length: loops.tickets }, async () => this.#loop(async () => this.#requestTicket())),
      ...Array.from({ length: loops.feeds }, async () => this.#loop(async () => this.#openFeed())),
      this.#loop(async () => this.#holdSocket()),
    ];
  }

  async end(): Promise<FloodReport> {
    const report = {
      answers: this.#answers,
      openFeeds: this.#feeds.filter((feed) => feed.isOpen()).length,
      openSockets: this.#sockets.filter((socket) => !socket.destroyed).length,
    };
    this.#runs = false;
    for (const feed of this.#feeds) feed.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
    this.#feedAgent.destroy();
    await Promise.all(this.#loops);
    return report;
  }

  async #loop(step: () => Promise<void>): Promise<void> {
    while (this.#runs) {
      await step().catch(() => this.#countAnswer('lost', 0));
      // Lets the other loops run even if this step did not wait.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #countAnswer(what: string, status: number): void {
    const key = `${what} ${status}`;
    this.#answers[key] = (this.#answers[key] ?? 0) + 1;
  }

  get #anyToken(): string | undefined {
    return this.#tokens[Math.floor(Math.random() * this.#tokens.length)];
  }

  async #makeVisitor(): Promise<void> {
    const { token } = this.#order;
    const made = await callFrom({ localAddress, agent: this.#agent }, this.#order, 'POST /visitors', {
      token,
      body: {},
    });
    this.#countAnswer('visitor', made.status);
    if (made.status === 200) this.#tokens.push(made.body.access_token);
  }

  async #requestTicket(): Promise<void> {
    const token = this.#anyToken;
    if (token === undefined) return;
    const body = { site_id: this.#order.siteId, media: 'phone', queue_ids: [this.#order.queueId] };
    const from = { localAddress, agent: this.#agent };
    this.#countAnswer('ticket', (await callFrom(from, this.#order, 'POST /queue_tickets', { token, body })).status);
  }

  async #openFeed(): Promise<void> {
    const token = this.#anyToken;
    if (token === undefined) return;
    const feed = await feedFrom({ localAddress, agent: this.#feedAgent }, this.#order, token);
    this.#countAnswer('feed', feed.status);
    if (feed.status === 200) this.#feeds.push(feed);
    if (!this.#runs) feed.close();
  }

  async #holdSocket(): Promise<void> {
    if (this.#sockets.length >= idleSockets) return void (await new Promise((resolve) => setTimeout(resolve, 50)));
    const { hostname: host, port } = new URL(this.#order.url);
    const socket = connect({ host, port: Number(port), localAddress });
    this.#sockets.push(socket);
    await new Promise<void>((resolve) => {
      // If the round ends while the socket connects, only 'close' is emitted.
      socket
        .on('connect', resolve)
        .on('error', () => undefined)
        .on('close', resolve);
    });
  }
}

if (import.meta.main) {
  let flood: Flood | null = null;
  process.on('message', (order: FloodOrder | 'end') => {
    if (order !== 'end') {
      flood = new Flood(order);
      return;
    }
    void flood?.end().then((report) => process.send?.(report));
  });
}
