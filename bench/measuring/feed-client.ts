import { connect, type Socket } from 'node:net';

/** Reads the content and the latency of each message on a feed. It parses nothing else, because thousands of clients share a core. */
export class FeedClient {
  readonly opened: Promise<void>;
  /** Milliseconds from sending to arrival. */
  readonly latenciesMs: number[] = [];
  /** Contents of messages, in the order of arrival. */
  readonly contents: string[] = [];
  readonly #socket: Socket;
  #rest = '';

  constructor(url: string, token: string) {
    const { hostname, port, host } = new URL(url);
    this.#socket = connect(Number(port), hostname).setNoDelay(true);
    this.#socket.write(`GET /feed HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`);
    this.opened = new Promise((resolve, reject) => {
      this.#socket.on('error', reject);
      this.#socket.on('close', () =>
        reject(new Error(`the feed was closed before it was open: ${this.#rest || 'no response'}`)),
      );
      this.#socket.on('data', (bytes: Buffer) => {
        const now = performance.now();
        const text = this.#rest + bytes.toString('latin1');
        if (text.includes('event: feed.open')) resolve();
        const end = text.lastIndexOf('\n\n') + 1;
        this.#rest = text.slice(end);
        for (const [, content = '', at] of text.slice(0, end).matchAll(/"content" ?: ?"([^"]+ sent at ([\d.]+))"/g)) {
          this.contents.push(content);
          this.latenciesMs.push(now - Number(at));
        }
      });
    });
    this.opened.catch(() => undefined);
  }

  close(): void {
    this.#socket.destroy();
  }
}
