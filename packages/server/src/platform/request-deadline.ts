import type { FastifyReply } from 'fastify';
import { databaseUnavailable } from './problem.ts';
import type { App } from './http.ts';
import type { Log } from './log.ts';

/**
 * Every request is answered within this time of its arrival. Each operation that a handler waits for has its own shorter limit;
 * this one limits their sum. It is longer than the limit of a transaction, whose error says more.
 */
const requestDeadlineMs = 22_000;
/** One timer checks all requests: a timer for each would cost a request more than its authentication. */
const checkEveryMs = 250;

/** When each request in progress arrived, by the monotonic clock, in the order of arrival. */
const arrivals = new Map<FastifyReply, number>();
let timer: NodeJS.Timeout | null = null;
/** Replies whose answer is there, while hooks still work on it. The deadline does not replace it. */
const isBeingSent = new WeakSet<FastifyReply>();

/** Must be called first for every request. */
export function startDeadline(reply: FastifyReply): void {
  arrivals.set(reply, performance.now());
  timer ??= setTimeout(checkDeadlines, checkEveryMs).unref();
}

function checkDeadlines(): void {
  const now = performance.now();
  for (const [reply, arrivedAt] of arrivals) {
    // The next check would be too late.
    if (now - arrivedAt < requestDeadlineMs - checkEveryMs) break;
    arrivals.delete(reply);
    if (reply.sent) continue;
    // A slowly arriving body has its own limits, and no handler runs yet.
    if (reply.request.raw.complete) refuse(reply);
    else arrivals.set(reply, now);
  }
  timer = arrivals.size === 0 ? null : setTimeout(checkDeadlines, checkEveryMs).unref();
}

/**
 * `reply.sent` is true only when the hooks that work on the answer are done. What the handler sends until then is dropped: Fastify would
 * send a second answer in its own format, with status 500.
 */
function refuse(reply: FastifyReply): void {
  if (isBeingSent.has(reply)) return;
  void reply.send(databaseUnavailable());
  reply.send = () => reply;
}

/**
 * Discards the result of a handler whose request was already answered. Must be installed after every other hook that wraps
 * handlers, so that the deadline includes their time.
 */
export function installDeadline(app: App, log: Log): void {
  const discardIfLate = async (answer: Promise<unknown>, reply: FastifyReply): Promise<unknown> => {
    try {
      const payload = await answer;
      return reply.sent ? undefined : payload;
    } catch (error) {
      if (!reply.sent) throw error;
      log.warn({ err: error, request_id: reply.request.id }, 'a request failed after its deadline');
      return undefined;
    }
  };
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function boundHandler(request, reply) {
      const answer: unknown = handler.call(this, request, reply);
      return answer instanceof Promise ? discardIfLate(answer, reply) : answer;
    };
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    isBeingSent.add(reply);
    done(null, payload);
  });
  app.addHook('onResponse', (_request, reply, done) => {
    arrivals.delete(reply);
    done();
  });
}
