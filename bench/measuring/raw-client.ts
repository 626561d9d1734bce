import { connect, type Socket } from 'node:net';

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A response whose body is not decoded. */
interface RawAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * A kept-alive connection that sends one request at a time. It does only what the benchmarks need, because the load generator
 * shares two cores with the server and its database.
 */
export class RawClient {
  readonly #socket: Socket;
  readonly #host: string;
  #buffer: Buffer = Buffer.alloc(0);
  #answered: ((answer: RawAnswer) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;

  constructor(url: string) {
    const { hostname, port, host } = new URL(url);
    this.#host = host;
    this.#socket = connect(Number(port), hostname).setNoDelay(true);
    this.#socket.on('data', (bytes: Buffer) => this.#read(bytes));
    this.#socket.on('error', (error) => this.#failed?.(error));
    this.#socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  /** The text of a request, to be sent with `exchange` as often as needed. */
  compose(method: string, path: string, authorization: string, body?: string): string {
    const content =
      body === undefined
        ? '\r\n'
        : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\nauthorization: ${authorization}\r\n${content}`;
  }

  /** Sends a request as it is. */
  async exchange(request: string): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  async send(method: string, path: string, token: string, body?: unknown): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await this.exchange(this.compose(method, path, `Bearer ${token}`, text));
    return { status: answer.status, body: answer.body.toString('utf8') };
  }

  /** Sends a request and parses the response as JSON. Throws if its status is not the expected one. */
  async json<T>(expected: number, ...request: Parameters<RawClient['send']>): Promise<T> {
    const { status, body } = await this.send(...request);
    if (status !== expected) throw new Error(`${request[0]} ${request[1]} returned ${status}: ${body}`);
    return JSON.parse(body) as T;
  }

  close(): void {
    this.#failed = null;
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes]);
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = this.#buffer.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#buffer.length < end + 4 + length) return;
    const body = this.#buffer.subarray(end + 4, end + 4 + length);
    this.#buffer = this.#buffer.subarray(end + 4 + length);
    this.#answered?.({ status: Number(head.slice(9, 12)), body });
  }
}
