import autocannon from 'autocannon';
import type { Call, Session } from './usher.ts';

export const concurrency = 50;
export const roundSeconds = 4;

/** Over kept-alive connections. An answer that is not a success may be a cheap one: a single one fails the run. */
export async function requestsPerSecond(session: Session, { method, path, body }: Call): Promise<number> {
  const result = await autocannon({
    url: session.url + path,
    method,
    headers: { ...session.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
    connections: concurrency,
    duration: roundSeconds,
  });
  const succeeded = result['2xx'];
  if (result.non2xx > 0 || result.errors > 0 || succeeded === 0) {
    throw new Error(
      `${method} ${path}: ${succeeded} answers were 2xx, ${result.non2xx} were not, ${result.errors} did not come`,
    );
  }
  return succeeded / result.duration;
}
