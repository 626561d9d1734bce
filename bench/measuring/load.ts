import type { Size } from './lab.ts';
import { RawClient } from './raw-client.ts';
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
  { url, headers }: Session,
  { method, path, status, body }: Call,
  { connections, seconds }: Load,
): Promise<number> {
  const began = performance.now();
  const endsAt = began + seconds * 1000;
  let answered = 0;
  const sendUntilEnd = async (): Promise<void> => {
    const client = new RawClient(url);
    const request = client.compose(method, path, headers['authorization'] ?? '', body);
    do {
      const answer = await client.exchange(request);
      if (answer.status !== status)
        throw new Error(`${method} ${path} returned ${answer.status}: ${answer.body.toString()}`);
      answered += 1;
    } while (performance.now() < endsAt);
    client.close();
  };
  await Promise.all(Array.from({ length: connections }, sendUntilEnd));
  return (answered / (performance.now() - began)) * 1000;
}
