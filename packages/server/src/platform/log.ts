import { hostname } from 'node:os';
import pino, { type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from '../config.ts';
import { version } from './version.ts';

export type Log = Logger;

/** Log lines are buffered up to this size and time, because a write per line would cost a request more than its routing. */
const bufferedBytes = 4_096;
const flushMs = 100;

/** Fields of every line: in a log of several processes they say which one wrote it. */
const origin = { host: hostname(), version, pid: process.pid };

/**
 * Writes JSON lines to standard output, and nothing else writes there. The log does not redact secrets; instead nothing that contains a secret is logged.
 * Requests are logged field by field (`request-log.ts`), errors as `errorForLog` reduces them.
 */
export function createLog(level: LogLevel, destination: DestinationStream = destinationFor(level)): Log {
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

let output: DestinationStream | null = null;

/** A silent log leaves standard output alone, which may be where a backup goes. */
function destinationFor(level: LogLevel): DestinationStream {
  return level === 'silent' ? { write: () => undefined } : standardOutput();
}

function standardOutput(): DestinationStream {
  return (output ??= pino.destination({ dest: 1, sync: false, minLength: bufferedBytes, periodicFlush: flushMs }));
}

/** Drops all other properties: PostgreSQL repeats values in `detail`. */
function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: errorForLog(error.cause) };
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
