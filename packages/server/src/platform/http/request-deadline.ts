import type { FastifyReply, onRequestHookHandler, onResponseHookHandler, onSendHookHandler } from 'fastify';
import { databaseUnavailable } from './problem.ts';
import type { Log } from '../log.ts';
import type { AroundHandler } from './request-path.ts';

/**
 * Every request is answered within this time of its arrival. Each operation that a handler waits for has its own shorter limit;
 * this one limits their sum. It is longer than the limit of a transaction, whose error says more.
 */
const requestDeadlineMs = 22_000;
/** One timer checks all requests. */
const checkEveryMs = 250;

declare module 'fastify' {
  interface FastifyReply {
    /** Absent after the response has been sent. */
    arrival?: Arrival | undefined;
  }
}

/** A request in progress. */
interface Arrival {
  readonly reply: FastifyReply;
  /** By the monotonic clock. */
  at: number;
  /** The answer is there, while hooks still work on it. The deadline does not replace it. */
  isBeingSent: boolean;
}

/** In the order of arrival. */
const arrivals = new Set<Arrival>();
let timer: NodeJS.Timeout | null = null;

/** The first step of every request. */
export const startDeadline: onRequestHookHandler = (_request, reply, done) => {
  reply.arrival = { reply, at: performance.now(), isBeingSent: false };
  arrivals.add(reply.arrival);
  timer ??= setTimeout(checkDeadlines, checkEveryMs).unref();
  done();
};

function checkDeadlines(): void {
  const now = performance.now();
  for (const arrival of arrivals) {
    // The next check would be too late for these. Those behind it have arrived later.
    if (now - arrival.at < requestDeadlineMs - checkEveryMs) break;
    const { reply } = arrival;
    arrivals.delete(arrival);
    // A slowly arriving body has its own limits, and no handler runs yet.
    if (reply.sent || reply.request.raw.complete) {
      reply.arrival = undefined;
      refuse(arrival);
    } else {
      arrival.at = now;
      arrivals.add(arrival);
    }
  }
  timer = arrivals.size === 0 ? null : setTimeout(checkDeadlines, checkEveryMs).unref();
}

/**
 * `reply.sent` is true only when the hooks that work on the answer are done. What the handler sends until then is dropped: Fastify would
 * send a second answer in its own format, with status 500.
 */
function refuse({ reply, isBeingSent }: Arrival): void {
  if (reply.sent || isBeingSent) return;
  void reply.send(databaseUnavailable());
  reply.send = () => reply;
}

/**
 * Discards the result of a handler whose request was already answered. It must be the outermost step, so that the deadline includes the
 * time of the others.
 */
export function discardIfLate(log: Log): AroundHandler {
  const settle = async (answer: Promise<unknown>, reply: FastifyReply): Promise<unknown> => {
    try {
      const payload = await answer;
      return reply.sent ? undefined : payload;
    } catch (error) {
      if (!reply.sent) throw error;
      log.warn({ err: error, request_id: reply.request.id }, 'a request failed after its deadline');
      return undefined;
    }
  };
  return (request, reply, next) => {
    const answer = next(request, reply);
    return answer instanceof Promise ? settle(answer, reply) : answer;
  };
}

/** From here on the deadline does not replace the answer. */
export const keepAnswer: onSendHookHandler = (_request, reply, payload, done) => {
  if (reply.arrival !== undefined) reply.arrival.isBeingSent = true;
  done(null, payload);
};

export const endDeadline: onResponseHookHandler = (_request, reply, done) => {
  if (reply.arrival !== undefined) arrivals.delete(reply.arrival);
  reply.arrival = undefined;
  done();
};
