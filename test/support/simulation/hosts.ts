import { openHost, type Host } from './process.ts';

/** Hosts that no history uses. */
export class Hosts {
  readonly #options: Parameters<typeof openHost>[0];
  readonly #free: Host[] = [];

  constructor(options: Parameters<typeof openHost>[0]) {
    this.#options = options;
  }

  async take(): Promise<Host> {
    const host = this.#free.pop() ?? (await openHost(this.#options));
    await host.warmUp();
    return host;
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
