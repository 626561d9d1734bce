import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { wallMs } from './clock.ts';

/** What receives webhooks: plain servers that take a request, remember when, and answer. The same for every sender. */
export type ReceiverQuestion =
  | { readonly kind: 'listen'; readonly ports: number; readonly answerAfterMs: number }
  | { readonly kind: 'forget' }
  | { readonly kind: 'expect'; readonly count: number; readonly patienceMs: number };

/** Ids and when each arrived first, in that order. */
export type Arrivals = readonly (readonly [id: string, at: number])[];

/** Longer than any pause between the requests of a sender. */
const keepAliveMs = 120_000;

const arrived = new Map<string, number>();
let expected = Infinity;
let complete: () => void = () => undefined;

process.on('message', (question) => void answer(question as ReceiverQuestion));
process.once('disconnect', () => process.exit());

async function answer(question: ReceiverQuestion): Promise<void> {
  switch (question.kind) {
    case 'listen':
      process.send?.(
        await Promise.all(Array.from({ length: question.ports }, async () => listen(question.answerAfterMs))),
      );
      return;
    case 'forget':
      arrived.clear();
      process.send?.('forgotten');
      return;
    case 'expect':
      await enough(question);
      process.send?.([...arrived]);
  }
}

/** So many different ones, or as many as came in time. */
async function enough({ count, patienceMs }: { readonly count: number; readonly patienceMs: number }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = setTimeout(resolve, patienceMs);
  expected = count;
  complete = resolve;
  if (arrived.size >= expected) resolve();
  await promise;
  clearTimeout(over);
  expected = Infinity;
}

async function listen(answerAfterMs: number): Promise<string> {
  const server = createServer((request, response) => take(request, response, answerAfterMs));
  server.keepAliveTimeout = keepAliveMs;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port');
  return `http://127.0.0.1:${address.port}/hook`;
}

function take(request: IncomingMessage, response: ServerResponse, answerAfterMs: number): void {
  const id = request.headers['webhook-id'];
  // What goes to those who answer late is nobody's measure: it is to be seen whether it delays the others.
  if (answerAfterMs === 0 && typeof id === 'string' && !arrived.has(id)) {
    arrived.set(id, wallMs());
    if (arrived.size >= expected) complete();
  }
  const reply = (): void => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '2' });
    response.end('ok');
  };
  request.resume();
  request.once('end', () => (answerAfterMs === 0 ? reply() : setTimeout(reply, answerAfterMs)));
}
