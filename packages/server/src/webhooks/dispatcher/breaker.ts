/** Unanswered deliveries in a row after which a destination is left alone. */
const failuresToOpen = 5;
/** The first pause. Each further one is twice as long as the one before, up to the longest. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/**
 *   closed   every delivery is tried; `failures` of the last ones in a row met nobody
 *   tripped  nothing is tried before `until`; after that one delivery at a time asks whether the destination is back
 *
 *   closed  —answered→   closed, without failures
 *   closed  —unanswered→ closed, one failure more; tripped for the first pause after `failuresToOpen`
 *   tripped —answered→   closed
 *   tripped —unanswered→ before `until`: no change, as the delivery was sent before the breaker tripped.
 *                        After it: tripped for twice the pause
 */
type Circuit =
  | { readonly state: 'closed'; readonly failures: number }
  | { readonly state: 'tripped'; readonly pauseMs: number; readonly until: number };

/** Shared by all breakers, so that an answered delivery allocates nothing. */
const healthy: Circuit = { state: 'closed', failures: 0 };

/** A circuit at a moment: `open` is tripped before `until`, `half_open` is tripped after it. */
type BreakerState = 'closed' | 'open' | 'half_open';

/**
 * Decides whether a destination is called. A destination where nobody answers is left alone for a pause, then a single delivery
 * asks whether it is back. The question is whether somebody answers, not what: any answer closes the breaker.
 */
export class Breaker {
  #circuit: Circuit = healthy;

  state(now: number): BreakerState {
    if (this.#circuit.state === 'closed') return 'closed';
    return now < this.#circuit.until ? 'open' : 'half_open';
  }

  answered(): void {
    this.#circuit = healthy;
  }

  unanswered(now: number): void {
    const circuit = this.#circuit;
    if (circuit.state === 'tripped') {
      if (now >= circuit.until) this.#trip(now, Math.min(2 * circuit.pauseMs, longestPauseMs));
    } else if (circuit.failures + 1 < failuresToOpen) {
      this.#circuit = { state: 'closed', failures: circuit.failures + 1 };
    } else this.#trip(now, firstPauseMs);
  }

  #trip(now: number, pauseMs: number): void {
    this.#circuit = { state: 'tripped', pauseMs, until: now + pauseMs };
  }
}
