import { Counter, Gauge, type Registry } from 'prom-client';

/** Reports the runs of one periodic task. */
export interface WorkRuns {
  succeeded(): void;
  failed(): void;
}

/**
 * When each periodic task of this process last succeeded. A task that has stopped raises no error and no failure counter; only the
 * age of its last success shows it. The time of the start counts as a success, so that a task that never succeeds shows too.
 */
export class PeriodicWork {
  readonly #last: Gauge<'work'>;
  readonly #interval: Gauge<'work'>;
  readonly #failures: Counter<'work'>;

  constructor(registry: Registry) {
    const options = { labelNames: ['work'] as const, registers: [registry] };
    this.#last = new Gauge({
      name: 'usher_work_last_success_timestamp_seconds',
      help: 'When a periodic task last succeeded in this process (Unix time); after the start, when the process started',
      ...options,
    });
    this.#interval = new Gauge({
      name: 'usher_work_interval_seconds',
      help: 'How often the periodic task runs',
      ...options,
    });
    this.#failures = new Counter({
      name: 'usher_work_failures_total',
      help: 'Failed runs of a periodic task; each is retried at its next run',
      ...options,
    });
  }

  add(work: string, intervalSec: number): WorkRuns {
    this.#last.set({ work }, Date.now() / 1_000);
    this.#interval.set({ work }, intervalSec);
    this.#failures.inc({ work }, 0);
    return {
      succeeded: () => this.#last.set({ work }, Date.now() / 1_000),
      failed: () => this.#failures.inc({ work }),
    };
  }
}
