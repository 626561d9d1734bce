import assert from 'node:assert/strict';
import type { Feeds } from '../../../../packages/server/src/feed/feeds.ts';
import type { Caller } from '../../../../packages/server/src/identity/caller.ts';
import { isDatabaseUnavailable } from '../../../../packages/server/src/platform/database/database.ts';
import type { ClusterProcess } from '../cluster/process.ts';
import { SimulatedResponse } from './response.ts';

interface ReaderOptions {
  readonly name: string;
  readonly caller: Exclude<Caller, { readonly kind: 'anonymous' }>;
  readonly onActivity: () => void;
  readonly onError: (error: unknown) => void;
}

/** Somebody who reads the live feed, loses the connection now and then, and resumes with the last id at any process. */
export class SimulatedReader {
  readonly name: string;
  /** The numbers that visitors gave to their messages, in the order in which the messages were received. */
  readonly received: number[] = [];
  #taken = 0;
  #wasOpen = false;
  readonly #options: ReaderOptions;
  #connection: { readonly process: ClusterProcess; readonly response: SimulatedResponse } | null = null;
  #lastId: string | null = null;
  /** A feed was opened once: from then on, nothing may be missed. */
  isOpen = false;

  constructor(options: ReaderOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get caller(): ReaderOptions['caller'] {
    return this.#options.caller;
  }

  get isConnected(): boolean {
    return this.#connection !== null;
  }

  get hasUnread(): boolean {
    return this.#connection?.response.hasUnread === true;
  }

  get hasNews(): boolean {
    return this.received.length > this.#taken || this.isOpen !== this.#wasOpen;
  }

  /** The messages that were received since the last time. */
  takeNews(): readonly number[] {
    const news = this.received.slice(this.#taken);
    this.#taken = this.received.length;
    this.#wasOpen = this.isOpen;
    return news;
  }

  mayRead(visitorId: string): boolean {
    const { caller } = this;
    return caller.kind === 'operator' || (caller.kind === 'visitor' && caller.visitorId === visitorId);
  }

  connect(process: ClusterProcess, feeds: Feeds): void {
    const { caller, onActivity, onError } = this.#options;
    const response = new SimulatedResponse();
    const connection = { process, response };
    this.#connection = connection;
    response.once('close', () => {
      if (this.#connection === connection) this.#connection = null;
      onActivity();
    });
    const lastId = this.#lastId;
    const serve = async (): Promise<void> => {
      const follower = await feeds.prepare(caller.accountId, lastId);
      await feeds.serve(follower, { response: response.asResponse, caller, header: this.name, lastId });
    };
    process.run(serve).then(onActivity, (error: unknown) => {
      response.destroy();
      if (!isDatabaseUnavailable(error)) onError(error);
    });
  }

  /** The connection is lost with what was not read. */
  disconnect(): void {
    const connection = this.#connection;
    connection?.process.run(() => connection.response.destroy());
  }

  onKilled(process: ClusterProcess): void {
    if (this.#connection?.process === process) this.#connection = null;
  }

  /** Reads at most so many items. */
  read(items: number): void {
    const connection = this.#connection;
    for (const item of connection?.process.run(() => connection.response.read(items)) ?? []) this.#take(item);
  }

  #take(item: string): void {
    const lines = item.split('\n');
    const field = (name: string): string =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
    const [id, type] = [field('id'), field('event')];
    this.#lastId = id;
    // A heartbeat.
    if (type === '') return;
    switch (type) {
      case 'feed.open':
        this.isOpen = true;
        return;
      case 'engagement.chat.message': {
        const { message } = JSON.parse(field('data')) as { readonly message: { readonly content: string } };
        this.received.push(Number(message.content));
        return;
      }
      default:
        assert.fail(`${this.name} was sent ${item}`);
    }
  }
}
