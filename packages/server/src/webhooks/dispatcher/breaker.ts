/** Unanswered deliveries in a row after which the breaker trips. */
const failuresToOpen = 5;
/** The first pause; doubled each time, up to the longest. */
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

/**
 *   closed   every delivery is sent; the last `failures` of them were not answered
 *   tripped  nothing is sent before `until`; after that one delivery at a time probes the destination
 *
 *   closed  —answered→   closed, without failures
 *   closed  —unanswered→ closed, with one more failure; after `failuresToOpen` tripped for the first pause
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
 * The circuit breaker of a destination. A destination that does not answer is paused, then probed with a single delivery. Any
 * answer closes the breaker, whatever its status.
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
      if (now >= circuit.until) this.#trip(now, Math.min(2 * circuit.pauseMs, maxPauseMs));
    } else if (circuit.failures + 1 < failuresToOpen) {
      this.#circuit = { state: 'closed', failures: circuit.failures + 1 };
    } else this.#trip(now, firstPauseMs);
  }

  #trip(now: number, pauseMs: number): void {
    this.#circuit = { state: 'tripped', pauseMs, until: now + pauseMs };
  }
}
