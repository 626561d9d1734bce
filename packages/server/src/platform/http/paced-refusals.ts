import type { FastifyRequest, onSendHookHandler } from 'fastify';
import { BoundedMap } from '../bounded-map.ts';
import { addressKey } from '../limits/rate-limit.ts';

/** The maximum number of 429 responses per second to one IP address. */
const perSecond = 20;
/** The longest delay of a refusal. */
const longestHoldMs = 10_000;
const maxAddresses = 10_000;

interface PacingOptions {
  readonly isPaced: (request: FastifyRequest) => boolean;
  /** No proxy is in front of the server. */
  readonly areDirect: boolean;
}

/**
 * Throttles 429 responses to 20 per second and IP address, in order. A client that ignores the refusals waits for them and
 * costs almost nothing; a client that respects `Retry-After` notices no delay. While a refusal is delayed, its socket is not
 * read. After a backlog of 10 s the socket is closed without a response, unless it belongs to a proxy, whose socket also carries
 * other callers.
 */
export function paceRefusals({ isPaced, areDirect }: PacingOptions): onSendHookHandler {
  /** When the next refusal may be sent, by the monotonic clock. */
  const nextAt = new BoundedMap<string, number>(maxAddresses);
  return (request, reply, payload, done) => {
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
  };
}
