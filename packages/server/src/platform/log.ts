import pino, { type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from '../config.ts';

export type Log = Logger;

/** Lines are written when so many bytes have gathered, or so much time has passed: a write for each would cost a request more than its routing. */
const bufferBytes = 8_192;
const flushMs = 100;

/**
 * JSON lines on standard output. Nothing here cuts out secrets, because nothing may be logged that holds one: requests are
 * logged field by field (`request-log.ts`), errors by what `errorForLog` leaves of them.
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
 * Writes an info line whose fields are JSON already, `"a":1,"b":"x"`. For the line that every request writes: pino walks
 * an object and escapes each text, which costs ten times as much.
 */
export function writeLine(log: Log, fields: string): void {
  const stream = (log as Log & { [pino.symbols.streamSym]?: DestinationStream })[pino.symbols.streamSym];
  if (log.isLevelEnabled('info')) stream?.write(`{"level":"info"${isoTime()},${fields}}\n`);
}

let lastTime = 0;
let lastText = '';
/** Made once a millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastText = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastText;
}

/** PostgreSQL repeats values in `detail` and postgres.js the parameters: none of that is for a log. */
function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: errorForLog(error.cause) };
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
