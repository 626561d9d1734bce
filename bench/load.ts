import autocannon from 'autocannon';
import type { Size } from './lab.ts';
import type { Call, Session } from './usher.ts';

/** How many connections ask, and for how long. */
export interface Load {
  readonly connections: number;
  readonly seconds: number;
}

export const requestLoad: Readonly<Record<Size, Load>> = {
  full: { connections: 50, seconds: 4 },
  short: { connections: 5, seconds: 0.3 },
};

/** Over kept-alive connections. An answer that is not a success may be a cheap one: a single one fails the run. */
export async function requestsPerSecond(
  session: Session,
  { method, path, body }: Call,
  { connections, seconds }: Load,
): Promise<number> {
  const result = await autocannon({
    url: session.url + path,
    method,
    headers: { ...session.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
    connections,
    duration: seconds,
    // A run ends with a sample; by default there is one a second.
    sampleInt: 100,
  });
  const succeeded = result['2xx'];
  if (result.non2xx > 0 || result.errors > 0 || succeeded === 0) {
    throw new Error(
      `${method} ${path}: ${succeeded} answers were 2xx, ${result.non2xx} were not, ${result.errors} did not come`,
    );
  }
  return succeeded / result.duration;
}
