import { setTimeout as pause } from 'node:timers/promises';

/** How long a client waits before it connects again. */
const reconnectMs = 1_000;

/**
 * A client that keeps a feed with presence open, as the console and the widget do, and connects again every second. `findServer` returns
 * the process to connect to; `null`: none is running.
 */
export class ReturningClient {
  readonly #findServer: () => { readonly url: string } | null;
  readonly #token: string;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  /** The number of feeds that the client has opened. */
  feeds = 0;

  constructor(findServer: () => { readonly url: string } | null, { token }: { readonly token: string }) {
    this.#findServer = findServer;
    this.#token = token;
    this.#running = this.#stayConnected();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #stayConnected(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      // The service is out, or the client was stopped.
      await this.#readFeed().catch(() => undefined);
      await pause(reconnectMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Reads one feed to its end. */
  async #readFeed(): Promise<void> {
    const server = this.#findServer();
    if (server === null) return;
    const headers = { authorization: `Bearer ${this.#token}` };
    const response = await fetch(`${server.url}/feed?hold_presence=true`, { headers, signal: this.#stopped.signal });
    if (!response.ok) {
      await response.body?.cancel();
      return;
    }
    this.feeds += 1;
    for await (const chunk of response.body ?? []) void chunk;
  }
}
