import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { wallMs } from '../measuring/clock.ts';

/** The receiver of webhooks: plain HTTP servers that record when each request arrived. All contestants use the same. */
export type ReceiverRequest =
  | { readonly kind: 'listen'; readonly ports: number; readonly answerAfterMs: number }
  | { readonly kind: 'clear' }
  | { readonly kind: 'expect'; readonly count: number; readonly timeoutMs: number };

/** Event ids with the time of their first arrival, in that order. */
export type Arrivals = readonly (readonly [id: string, at: number])[];

/** Longer than any pause between the requests of a sender. */
const keepAliveMs = 120_000;

const arrived = new Map<string, number>();
let expected = Infinity;
let onExpected: () => void = () => undefined;

process.on('message', (request) => void answer(request as ReceiverRequest));
process.once('disconnect', () => process.exit());

async function answer(request: ReceiverRequest): Promise<void> {
  switch (request.kind) {
    case 'listen':
      process.send?.(
        await Promise.all(Array.from({ length: request.ports }, async () => listen(request.answerAfterMs))),
      );
      return;
    case 'clear':
      arrived.clear();
      process.send?.('cleared');
      return;
    case 'expect':
      await waitForArrivals(request);
      process.send?.([...arrived]);
  }
}

/** Waits until `count` different events arrived, or until the timeout. */
async function waitForArrivals({
  count,
  timeoutMs,
}: {
  readonly count: number;
  readonly timeoutMs: number;
}): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  expected = count;
  onExpected = resolve;
  if (arrived.size >= expected) resolve();
  await promise;
  clearTimeout(timer);
  expected = Infinity;
}

async function listen(answerAfterMs: number): Promise<string> {
  const server = createServer((request, response) => receive(request, response, answerAfterMs));
  server.keepAliveTimeout = keepAliveMs;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port');
  return `http://127.0.0.1:${address.port}/hook`;
}

function receive(request: IncomingMessage, response: ServerResponse, answerAfterMs: number): void {
  const id = request.headers['webhook-id'];
  // Arrivals at slow receivers are not recorded: the benchmark measures only whether they delay the others.
  if (answerAfterMs === 0 && typeof id === 'string' && !arrived.has(id)) {
    arrived.set(id, wallMs());
    if (arrived.size >= expected) onExpected();
  }
  const reply = (): void => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '2' });
    response.end('ok');
  };
  request.resume();
  request.once('end', () => (answerAfterMs === 0 ? reply() : setTimeout(reply, answerAfterMs)));
}
