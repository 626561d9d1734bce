import pino, { type Logger } from 'pino';
import type { LogLevel } from '../config.ts';

export type Log = Logger;

/**
 * JSON lines on standard output. What may hold a secret is cut out wherever it is logged from; requests are logged by
 * `request-log.ts`, which writes neither query strings nor bodies nor names.
 */
export function createLog(level: LogLevel): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['*.authorization', '*.password', '*.secret', '*.token', '*.access_token', 'err.query', 'err.parameters'],
      remove: true,
    },
    serializers: { err: errorForLog },
  });
}

/** PostgreSQL repeats values in `detail` and postgres.js the parameters: none of that is for a log. */
function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: errorForLog(error.cause) };
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
