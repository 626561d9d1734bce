import autocannon from 'autocannon';
import type { Size } from './lab.ts';
import type { Call, Session } from './usher.ts';

/** How many connections send requests, and for how long. */
export interface Load {
  readonly connections: number;
  readonly seconds: number;
}

export const requestLoad: Readonly<Record<Size, Load>> = {
  full: { connections: 50, seconds: 4 },
  short: { connections: 5, seconds: 0.3 },
};

/** Sends requests over kept-alive connections. One error fails the run, because errors may be cheaper than successes. */
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
    // A run ends at a sample. The default of one sample a second would prolong short runs.
    sampleInt: 100,
  });
  const succeeded = result['2xx'];
  if (result.non2xx > 0 || result.errors > 0 || succeeded === 0) {
    throw new Error(
      `${method} ${path}: ${succeeded} responses were 2xx, ${result.non2xx} were not, ${result.errors} requests failed`,
    );
  }
  return succeeded / result.duration;
}
