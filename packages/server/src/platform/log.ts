import pino, { type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from '../config.ts';

export type Log = Logger;

/** Log lines are buffered up to this size and time: a write per line would cost a request more than its routing. */
const bufferBytes = 8_192;
const flushMs = 100;

/**
 * Writes JSON lines to standard output. The log does not redact secrets; instead nothing that contains a secret is logged.
 * Requests are logged field by field (`request-log.ts`), errors as `errorForLog` reduces them.
 */
export function createLog(level: LogLevel, destination: DestinationStream = standardOutput()): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorForLog },
    },
    destination,
  );
}

function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: bufferBytes, periodicFlush: flushMs });
}

/**
 * Writes an info line whose fields are already JSON, `"a":1,"b":"x"`. Used for the line of each request: pino would walk an
 * object and escape each string, which costs ten times as much.
 */
export function writeLine(log: Log, fields: string): void {
  const stream = (log as Log & { [pino.symbols.streamSym]?: DestinationStream })[pino.symbols.streamSym];
  if (log.isLevelEnabled('info')) stream?.write(`{"level":"info"${isoTime()},${fields}}\n`);
}

let lastTime = 0;
let lastText = '';
/** Cached for one millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastText = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastText;
}

/** Drops all other properties: PostgreSQL repeats values in `detail`, and postgres.js adds the parameters. */
function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: errorForLog(error.cause) };
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
