import type { FastifyRequest } from 'fastify';
import { BoundedMap } from './bounded-map.ts';
import type { App } from './http.ts';
import { addressKey } from './rate-limit.ts';

/** An address is told "too many" so often in a second. */
const perSecond = 20;
/** A refusal waits for its turn for so long at most. */
const longestHoldMs = 10_000;
const mostAddresses = 10_000;

/**
 * Answers 429 to one address no more than 20 times a second, each in its turn. A client that goes on at full speed after being
 * refused waits for the refusals, and costs next to nothing; a client that heeds `Retry-After` notices nothing. While a
 * refusal waits nothing more is read from its socket. Beyond 10 s of refusals the socket is closed unanswered, if it is the
 * caller's own: a proxy's socket carries other callers, too.
 */
export function installPacedRefusals(
  app: App,
  { isPaced, areDirect }: { readonly isPaced: (request: FastifyRequest) => boolean; readonly areDirect: boolean },
): void {
  /** When the next refusal may be sent, by the monotonic clock. */
  const nextAt = new BoundedMap<string, number>(mostAddresses);
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode !== 429 || !isPaced(request)) return done(null, payload);
    const address = addressKey(request.ip);
    const now = performance.now();
    const at = Math.max(now, nextAt.get(address) ?? 0);
    const holdMs = at - now;
    const { socket } = request.raw;
    if (holdMs > longestHoldMs) {
      if (areDirect) socket.destroy();
      return done(null, payload);
    }
    nextAt.delete(address);
    nextAt.set(address, at + 1000 / perSecond);
    if (holdMs === 0) return done(null, payload);
    socket.pause();
    setTimeout(() => {
      socket.resume();
      done(null, payload);
    }, holdMs).unref();
  });
}
