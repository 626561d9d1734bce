/** So many deliveries in a row that nobody was there to take, and it is left alone. */
const failuresToOpen = 5;
/** How long: twice as long each time it is still not there. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

export type BreakerState = 'closed' | 'open' | 'half_open';

/**
 * Whether a destination is called at all. One where nobody answers is left alone, and then asked by a single delivery
 * whether it is back. It asks whether somebody is there, not whether they like what they are sent: any answer closes it.
 */
export class Breaker {
  #failures = 0;
  #pauseMs = 0;
  #openUntil = 0;

  state(now: number): BreakerState {
    if (this.#pauseMs === 0) return 'closed';
    return now < this.#openUntil ? 'open' : 'half_open';
  }

  /** When it may be asked again. */
  get openUntil(): number {
    return this.#openUntil;
  }

  answered(): void {
    this.#failures = 0;
    this.#pauseMs = 0;
  }

  unanswered(now: number): void {
    this.#failures += 1;
    if (this.#failures < failuresToOpen || this.state(now) === 'open') return;
    this.#pauseMs = this.#pauseMs === 0 ? firstPauseMs : Math.min(2 * this.#pauseMs, longestPauseMs);
    this.#openUntil = now + this.#pauseMs;
  }
}
