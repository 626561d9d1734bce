import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { callFrom, feedFrom, type FeedFrom } from './from-address.ts';

/**
 * One address at full speed with a publishable token: makes visitors, asks for places with all of them, opens feeds and keeps
 * them, and holds sockets on which nothing is asked. A process of its own, so that it takes no time from those who measure.
 * It begins and ends a round when its parent says so, and then tells what it got.
 */
export interface FloodOrder {
  readonly url: string;
  readonly token: string;
  readonly siteId: string;
  readonly queueId: string;
}

export interface FloodReport {
  /** Answers by what was asked and their status; 0: the connection was closed. */
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
      ...Array.from({ length: loops.tickets }, async () => this.#loop(async () => this.#ask())),
      ...Array.from({ length: loops.feeds }, async () => this.#loop(async () => this.#follow())),
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
      await step().catch(() => this.#note('lost', 0));
      // Others of this process get their turn even if nothing was waited for.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #note(what: string, status: number): void {
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
    this.#note('visitor', made.status);
    if (made.status === 200) this.#tokens.push(made.body.access_token);
  }

  async #ask(): Promise<void> {
    const token = this.#anyToken;
    if (token === undefined) return;
    const body = { site_id: this.#order.siteId, media: 'phone', queue_ids: [this.#order.queueId] };
    const from = { localAddress, agent: this.#agent };
    this.#note('ticket', (await callFrom(from, this.#order, 'POST /queue_tickets', { token, body })).status);
  }

  async #follow(): Promise<void> {
    const token = this.#anyToken;
    if (token === undefined) return;
    const feed = await feedFrom({ localAddress, agent: this.#feedAgent }, this.#order, token);
    this.#note('feed', feed.status);
    if (feed.status === 200) this.#feeds.push(feed);
    if (!this.#runs) feed.close();
  }

  async #holdSocket(): Promise<void> {
    if (this.#sockets.length >= idleSockets) return void (await new Promise((resolve) => setTimeout(resolve, 50)));
    const { hostname: host, port } = new URL(this.#order.url);
    const socket = connect({ host, port: Number(port), localAddress });
    this.#sockets.push(socket);
    await new Promise<void>((resolve) => {
      // A round may end while it connects: then nothing but 'close' comes.
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
