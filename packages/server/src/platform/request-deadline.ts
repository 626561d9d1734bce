import type { FastifyReply, FastifyRequest } from 'fastify';
import { databaseSilent } from './problem.ts';
import type { App } from './http.ts';

/**
 * Every request is answered so long after it has arrived. Everything that a handler waits for has a limit of its own that is
 * shorter; this one holds for all of them together. It is longer than a transaction may take, whose own answer says more.
 */
const requestDeadlineMs = 22_000;

const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();

/** To be called before anything else is done for the request. */
export function startDeadline(request: FastifyRequest, reply: FastifyReply): void {
  const timer = setTimeout(() => {
    if (reply.sent) return;
    // A body that comes slowly has limits of its own, and nobody is working on it yet.
    if (!request.raw.complete) return startDeadline(request, reply);
    void reply.send(databaseSilent());
  }, requestDeadlineMs).unref();
  timers.set(request, timer);
}

function stopDeadline(request: FastifyRequest): void {
  clearTimeout(timers.get(request));
  timers.delete(request);
}

/**
 * What a handler comes to after its request has been answered is dropped. Called after every other hook that wraps handlers,
 * so that what those wait for counts.
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
