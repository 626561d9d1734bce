import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverProgram } from '../../../scripts/built.mjs';
import { slowness } from '../slowness.ts';

/** A real Usher in a process of its own, as `npm start` runs it. */
export class UsherProcess {
  readonly child: ChildProcess;
  readonly #chosenPort: number;
  /** Standard output: the log. */
  output = '';
  /** Standard error: the text of the start, and errors for people. */
  errors = '';

  /** Port 0: the system chooses a free one, and the process prints which. */
  constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.#chosenPort = port;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.errors += text));
  }

  get port(): number {
    if (this.#chosenPort !== 0) return this.#chosenPort;
    const port = printedPort(this.errors);
    if (port === null) throw new Error(`the process has not printed its port: ${this.output}${this.errors}`);
    return port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits for the end of the process. Returns the exit code. */
  async ended(): Promise<number | null> {
    if (this.hasEnded) return this.child.exitCode;
    const [code] = (await once(this.child, 'exit')) as [number | null];
    return code;
  }

  /** Whether the process has printed that it is ready. */
  get isReady(): boolean {
    return this.errors.includes('Try it:');
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits until the process prints that it is ready. Throws its output if it ends instead. */
  async ready(): Promise<this> {
    const began = performance.now();
    while (!this.isReady) {
      if (this.hasEnded || performance.now() - began > 60_000 * slowness()) {
        throw new Error(`the process did not start: ${this.output}${this.errors}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return this;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.ended();
  }
}

/** The port in the text that a process prints when it has started. */
export function printedPort(text: string): number | null {
  const [, port] = /^ +API +http:\/\/\S+:(\d+)$/m.exec(text) ?? [];
  return port === undefined ? null : Number(port);
}

interface Launch {
  readonly dataDir: string;
  readonly port?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly as?: { uid: number; gid: number };
  /** A clone to run from its sources. Without it the process runs from the build of this clone, as with `npm start`. */
  readonly clone?: string;
  /** Another program to run, such as that of an installed package. */
  readonly program?: string;
}

/** Without a port the system chooses one, because a port that is free now may be taken when the process listens. */
export function launch({
  dataDir,
  port = 0,
  environment = {},
  args = ['serve'],
  as,
  clone,
  program,
}: Launch): UsherProcess {
  const built = clone === undefined ? serverProgram() : join(clone, 'packages/server/bin/usher.mjs');
  const file = program ?? built;
  const child = spawn(process.execPath, [file, ...args], {
    // The tests must not use the profile that their user has made with `usher login`.
    env: {
      PATH: process.env['PATH'],
      XDG_CONFIG_HOME: '/nowhere',
      PORT: String(port),
      USHER_DATA_DIR: dataDir,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...as,
  });
  return new UsherProcess(child, port);
}

export function temporaryDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'usher-start-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The id of the PostgreSQL process in `dataDir`; `null` if none is running. */
export function databaseProcess(dataDir: string): number | null {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 0);
    return pid;
  } catch {
    return null;
  }
}
