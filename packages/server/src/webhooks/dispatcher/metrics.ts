import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Metrics } from '../../platform/watching/metrics.ts';
import type { Dispatcher, DispatcherWatch } from './dispatcher.ts';

/** Metrics of deliveries: outcomes, durations of attempts, batch sizes and lag. */
export function countDeliveries({ registry, work }: Pick<Metrics, 'registry' | 'work'>): DispatcherWatch {
  const registers = [registry];
  const outcomes = new Counter({
    name: 'usher_deliveries_total',
    help: 'Outcomes of deliveries: delivered, retrying, exhausted, held or discarded',
    labelNames: ['outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'usher_delivery_attempt_duration_seconds',
    help: 'Time from the start of a request to the end of its answer',
    labelNames: ['delivered'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  });
  const batches = new Histogram({
    name: 'usher_delivery_batch_size',
    help: 'Deliveries read or written by one statement',
    labelNames: ['kind'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000],
    registers,
  });
  const lag = new Gauge({
    name: 'usher_deliveries_oldest_due_seconds',
    help: 'How long the oldest due delivery has been due, in all processes',
    registers,
  });
  const leasesLost = new Counter({
    name: 'usher_delivery_leases_lost_total',
    help: 'Leases that another process took while this one had them: it was slow, or lost its database session',
    registers,
  });
  const poll = work.add('poll_due_deliveries', 1);
  return {
    outcome({ state, attempt }) {
      outcomes.inc({ outcome: state });
      if (attempt !== null) durations.observe({ delivered: String(state === 'delivered') }, attempt.durationMs / 1_000);
    },
    batch: (kind, size) => batches.observe({ kind }, size),
    oldestDue(seconds) {
      lag.set(seconds);
      poll.succeeded();
    },
    leaseLost: () => leasesLost.inc(),
    roundFailed() {
      // The age of the oldest due delivery is unknown now; the last one would look healthy.
      lag.set(NaN);
      poll.failed();
    },
  };
}

/** Limit of paused destinations that are listed by name, because there may be many. */
const maxListed = 100;

export function watchDispatcher(registry: Registry, dispatcher: Dispatcher): void {
  const registers = [registry];
  new Gauge({
    name: 'usher_deliveries_sending',
    help: 'Deliveries being sent by this process',
    registers,
    collect() {
      this.set(dispatcher.sending);
    },
  });
  new Gauge({
    name: 'usher_delivery_destinations',
    help: 'Destinations leased by this process, by the state of their circuit breaker: closed, open or half_open',
    labelNames: ['state'],
    registers,
    collect() {
      const now = performance.now();
      const counts = { closed: 0, open: 0, half_open: 0 };
      for (const destination of dispatcher.destinations) counts[destination.breaker.state(now)] += 1;
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'usher_delivery_destination_held',
    help: 'Deliveries in memory for a destination whose circuit breaker is not closed',
    labelNames: ['destination_id', 'state'],
    registers,
    collect() {
      this.reset();
      const now = performance.now();
      const paused = [...dispatcher.destinations].filter((each) => each.breaker.state(now) !== 'closed');
      for (const each of paused.slice(0, maxListed))
        this.set({ destination_id: each.id, state: each.breaker.state(now) }, each.inMemoryCount);
    },
  });
}
