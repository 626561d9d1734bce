import { openHost, type Host } from './process.ts';

/** Hosts that no history uses. */
export class Hosts {
  readonly #options: Parameters<typeof openHost>[0];
  readonly #free: Host[] = [];

  constructor(options: Parameters<typeof openHost>[0]) {
    this.#options = options;
  }

  async take(): Promise<Host> {
    return this.#free.pop() ?? openHost(this.#options);
  }

  /** Nothing may be under way on its connections. */
  release(host: Host): void {
    host.gate.onActivity = () => undefined;
    host.gate.forgetLost();
    this.#free.push(host);
  }

  close(): void {
    for (const host of this.#free.splice(0)) host.close();
  }
}
