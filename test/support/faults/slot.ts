import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from '../processes/cluster.ts';
import type { UsherProcess } from '../processes/process.ts';
import { startProxy, type Proxy } from '../network/proxy.ts';

/** How long after its end a process is started again. */
const restartMs = 300;

/**
 * A process with a proxy between it and the database. Like a service manager, the slot starts the process again whenever it has ended: at
 * once if the test has killed it, otherwise after a pause.
 */
export class Slot {
  readonly #proxy: Proxy | null;
  /** The last lines of processes that ended without being killed by the test. */
  readonly ends: string[] = [];
  /** How often each message was logged by processes that have ended. */
  readonly #logged = new Map<string, number>();
  readonly #start: () => UsherProcess;
  #process: UsherProcess;
  #isKilled = false;
  #isStopped = false;
  readonly #running: Promise<void>;

  private constructor(proxy: Proxy | null, start: () => UsherProcess) {
    this.#proxy = proxy;
    this.#start = start;
    this.#process = start();
    this.#running = this.#keepRunning();
  }

  static async open(cluster: Cluster): Promise<Slot> {
    const { address } = cluster.database;
    if (address.kind !== 'socket') throw new Error('the tests have a socket');
    const proxy = await startProxy({ socket: `${address.directory}/.s.PGSQL.5432` });
    const url = `postgres://${address.user}@127.0.0.1:${new URL(proxy.url).port}/${address.database}`;
    return new Slot(proxy, () => cluster.launch(url));
  }

  /** Without a proxy: the process connects to `url` itself. */
  static openAt(cluster: Cluster, url: string): Slot {
    return new Slot(null, () => cluster.launch(url));
  }

  /** What leads to the database. */
  get proxy(): Proxy {
    return this.#proxy ?? assert.fail('this process has no proxy before its database');
  }

  /** The address of the process; `null` while it does not run or starts. */
  get url(): string | null {
    return this.#process.hasEnded || !this.#process.isReady ? null : this.#process.url;
  }

  /** The number of lines that were logged so far with each message. */
  get logged(): ReadonlyMap<string, number> {
    const all = new Map(this.#logged);
    countMessages(this.#process.output, all);
    return all;
  }

  /** Kills the process, whatever it does. It is started again at once. False: the process has ended before. */
  kill(): boolean {
    if (this.#process.hasEnded) return false;
    this.#isKilled = true;
    return this.#process.child.kill('SIGKILL');
  }

  get pid(): number | undefined {
    return this.#process.child.pid;
  }

  freeze(): void {
    this.#process.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process.child.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#process.child.kill('SIGKILL');
    await this.#running;
    await this.#proxy?.[Symbol.asyncDispose]();
  }

  async #keepRunning(): Promise<void> {
    for (;;) {
      const running = this.#process;
      await running.ended();
      if (this.#isStopped) return;
      countMessages(running.output, this.#logged);
      if (!this.#isKilled) {
        this.ends.push(lastLines(`${running.output}${running.errors}`));
        await pause(restartMs);
      }
      this.#isKilled = false;
      if (this.#isStopped) return;
      this.#process = this.#start();
    }
  }
}

/** Without the addresses of a stack. */
function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^ *\d+: 0x/.test(line));
  return lines.slice(-3).join('\n');
}

function countMessages(output: string, counts: Map<string, number>): void {
  for (const [, message = ''] of output.matchAll(/"msg":"([^"]+)"/g))
    counts.set(message, (counts.get(message) ?? 0) + 1);
}
