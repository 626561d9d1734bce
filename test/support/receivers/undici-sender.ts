import { Client, type buildConnector, type Dispatcher } from 'undici';

/** What undici makes of an answer, as far as deliveries depend on it. */
export interface UndiciAnswer {
  readonly status: number | null;
  readonly body: string;
  readonly retryAfter: string | undefined;
  readonly failed: boolean;
}

/** Bytes of a body that are read. */
const maxBytes = 65_536;

/** Sends requests with a plain client of undici. */
export class UndiciSender {
  readonly #client: Client;

  constructor(origin: string, connect: buildConnector.connector) {
    this.#client = new Client(origin, {
      connect,
      pipelining: 1,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 4_000,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send(method: string, body: string, answerMs: number): Promise<UndiciAnswer> {
    return new Promise((resolve) => {
      const handler = new AnswerHandler(answerMs, resolve);
      this.#client.dispatch({ method, path: '/hook', headers: {}, body }, handler);
    });
  }

  async close(): Promise<void> {
    await this.#client.destroy();
  }
}

class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: UndiciAnswer) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #status: number | null = null;
  #retryAfter: string | undefined;
  #body = Buffer.alloc(0);

  constructor(answerMs: number, resolve: (answer: UndiciAnswer) => void) {
    this.#resolve = resolve;
    this.#timer = setTimeout(() => {
      this.#finish(true);
      this.#controller?.abort(new Error('timed out'));
    }, answerMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = [headers['retry-after']].flat()[0];
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body = Buffer.concat([this.#body, chunk]);
    if (this.#body.length <= maxBytes) return;
    this.#finish(false);
    controller.abort(new Error('the answer is too long'));
  }

  onResponseEnd(): void {
    this.#finish(false);
  }

  onResponseError(): void {
    this.#finish(true);
  }

  #finish(failed: boolean): void {
    clearTimeout(this.#timer);
    const body = this.#body.subarray(0, 4_096).toString('utf8').replaceAll('\0', '\uFFFD');
    this.#resolve({ status: this.#status, body, retryAfter: this.#retryAfter, failed });
  }
}
