import type { FastifyReply, onResponseHookHandler, onSendHookHandler } from 'fastify';
import { databaseUnavailable } from './problem.ts';
import type { Log } from './log.ts';
import type { AroundHandler } from './request-path.ts';

/**
 * Every request is answered within this time of its arrival. Each operation that a handler waits for has its own shorter limit;
 * this one limits their sum. It is longer than the limit of a transaction, whose error says more.
 */
const requestDeadlineMs = 22_000;
/** One timer checks all requests: a timer for each would cost a request more than its authentication. */
const checkEveryMs = 250;

declare module 'fastify' {
  interface FastifyReply {
    /** `null` after the response has been sent. */
    arrival: Arrival | null;
  }
}

/**
 * A request in progress. Arrivals are a list in the order of arrival, linked by themselves: entries of a Map, and of a WeakSet for the
 * flag, cost a request more than its authentication.
 */
interface Arrival {
  readonly reply: FastifyReply;
  /** By the monotonic clock. */
  at: number;
  /** The answer is there, while hooks still work on it. The deadline does not replace it. */
  isBeingSent: boolean;
  previous: Arrival | null;
  next: Arrival | null;
}

let oldest: Arrival | null = null;
let newest: Arrival | null = null;
let timer: NodeJS.Timeout | null = null;

function append(arrival: Arrival): void {
  arrival.previous = newest;
  if (newest === null) oldest = arrival;
  else newest.next = arrival;
  newest = arrival;
}

function remove(arrival: Arrival): void {
  const { previous, next } = arrival;
  if (previous === null) oldest = next;
  else previous.next = next;
  if (next === null) newest = previous;
  else next.previous = previous;
  arrival.previous = null;
  arrival.next = null;
}

/** Must be called first for every request. */
export function startDeadline(reply: FastifyReply): void {
  reply.arrival = { reply, at: performance.now(), isBeingSent: false, previous: null, next: null };
  append(reply.arrival);
  timer ??= setTimeout(checkDeadlines, checkEveryMs).unref();
}

function checkDeadlines(): void {
  const now = performance.now();
  // The next check would be too late for these.
  const isDue = ({ at }: Arrival): boolean => now - at >= requestDeadlineMs - checkEveryMs;
  for (let arrival = oldest; arrival !== null && isDue(arrival); arrival = oldest) {
    const { reply } = arrival;
    remove(arrival);
    // A slowly arriving body has its own limits, and no handler runs yet.
    if (reply.sent || reply.request.raw.complete) {
      reply.arrival = null;
      refuse(arrival);
    } else {
      arrival.at = now;
      append(arrival);
    }
  }
  timer = oldest === null ? null : setTimeout(checkDeadlines, checkEveryMs).unref();
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
  if (reply.arrival !== null) reply.arrival.isBeingSent = true;
  done(null, payload);
};

export const endDeadline: onResponseHookHandler = (_request, reply, done) => {
  if (reply.arrival !== null) remove(reply.arrival);
  reply.arrival = null;
  done();
};
