import type { SpanTimes } from './otlp-span.ts';

/** Less than this is the precision of `Date.now` and of the scheduler. */
const maxDriftMs = 50;

/**
 * Unix time in fractions of a millisecond: `Date.now` has whole ones, which is too coarse for a turn, and `performance.now` does not
 * follow the clock of the system. The offset between them is kept until the clock is set or has drifted, so that the spans of a trace
 * have the right order.
 */
export class WallClock {
  #offsetMs = performance.timeOrigin;

  /** The times of a span that ends now; `startedAt` is a value of `performance.now`. */
  timesSince(startedAt: number): SpanTimes {
    const now = performance.now();
    const offsetMs = Date.now() - now;
    if (Math.abs(offsetMs - this.#offsetMs) > maxDriftMs) this.#offsetMs = offsetMs;
    return { startMs: this.#offsetMs + startedAt, endMs: this.#offsetMs + now };
  }
}
