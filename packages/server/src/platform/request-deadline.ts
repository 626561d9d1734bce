import type { FastifyReply, FastifyRequest } from 'fastify';
import { databaseUnavailable } from './problem.ts';
import type { App } from './http.ts';

/**
 * Every request is answered within this time of its arrival. Each operation that a handler waits for has its own shorter limit;
 * this one limits their sum. It is longer than the limit of a transaction, whose error says more.
 */
const requestDeadlineMs = 22_000;

const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();

/** Must be called first for every request. */
export function startDeadline(request: FastifyRequest, reply: FastifyReply): void {
  const timer = setTimeout(() => {
    if (reply.sent) return;
    // A slowly arriving body has its own limits, and no handler runs yet.
    if (!request.raw.complete) return startDeadline(request, reply);
    void reply.send(databaseUnavailable());
  }, requestDeadlineMs).unref();
  timers.set(request, timer);
}

function stopDeadline(request: FastifyRequest): void {
  clearTimeout(timers.get(request));
  timers.delete(request);
}

/**
 * Discards the result of a handler whose request was already answered. Must be installed after every other hook that wraps
 * handlers, so that the deadline includes their time.
 */
export function installDeadline(app: App): void {
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = async function boundHandler(request, reply) {
      try {
        const answer: unknown = await handler.call(this, request, reply);
        return reply.sent ? undefined : answer;
      } catch (error) {
        if (!reply.sent) throw error;
        request.log.warn({ err: error, request_id: request.id }, 'a request failed after its deadline');
        return undefined;
      } finally {
        stopDeadline(request);
      }
    };
  });
  app.addHook('onResponse', (request, _reply, done) => {
    stopDeadline(request);
    done();
  });
}
