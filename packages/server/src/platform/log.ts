import { hostname } from 'node:os';
import pino, { type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from '../config.ts';
import { version } from './version.ts';

export type Log = Logger;

/** Log lines are buffered up to this size and time: a write per line would cost a request more than its routing. */
const bufferedCharacters = 16_384;
const flushMs = 100;

/** Fields of every line: in a log of several processes they say which one wrote it. */
const origin = { host: hostname(), version, pid: process.pid };

/**
 * Writes JSON lines to standard output, and nothing else writes there. The log does not redact secrets; instead nothing that contains a secret is logged.
 * Requests are logged field by field (`request-log.ts`), errors as `errorForLog` reduces them.
 */
export function createLog(level: LogLevel, destination: DestinationStream = standardOutput()): Log {
  return pino(
    {
      level,
      base: origin,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorForLog },
    },
    destination,
  );
}

let output: LineBuffer | null = null;

function standardOutput(): DestinationStream {
  return (output ??= new LineBuffer(pino.destination({ dest: 1, sync: false })));
}

/**
 * Collects lines and passes them on in chunks. The destination has a buffer as well, but measures all of it whenever a line is
 * added, which cost a request more than the rest of its log line.
 */
class LineBuffer implements DestinationStream {
  readonly #destination: ReturnType<typeof pino.destination>;
  #lines = '';
  #timer: NodeJS.Timeout | null = null;

  constructor(destination: ReturnType<typeof pino.destination>) {
    this.#destination = destination;
    // Before the destination's own listeners, which write what it has.
    for (const event of ['beforeExit', 'exit']) process.prependListener(event, () => this.#passOn());
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= bufferedCharacters) return this.#passOn();
    if (this.#timer === null) this.#timer = setTimeout(() => this.#onTimer(), flushMs).unref();
  }

  /** Called by `log.flush`. */
  flush(done: (error?: Error) => void): void {
    this.#passOn();
    this.#destination.flush(done);
  }

  #onTimer(): void {
    this.#timer = null;
    this.#passOn();
  }

  #passOn(): void {
    if (this.#lines !== '') this.#destination.write(this.#lines);
    this.#lines = '';
  }
}

/** Drops all other properties: PostgreSQL repeats values in `detail`. */
function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: errorForLog(error.cause) };
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
