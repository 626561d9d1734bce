import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Dispatcher, DispatcherWatch } from './dispatcher.ts';

/** What became of deliveries, how long attempts took, how much is read and written at once, and how late we are. */
export function countDeliveries(registry: Registry): DispatcherWatch {
  const registers = [registry];
  const outcomes = new Counter({
    name: 'usher_deliveries_total',
    help: 'What deliveries came to: delivered, retrying, exhausted, held or discarded',
    labelNames: ['outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'usher_delivery_attempt_duration_seconds',
    help: 'Time from the beginning of a request to the end of its answer',
    labelNames: ['delivered'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  });
  const batches = new Histogram({
    name: 'usher_delivery_batch_size',
    help: 'Deliveries in a statement',
    labelNames: ['kind'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000],
    registers,
  });
  const lag = new Gauge({
    name: 'usher_deliveries_oldest_due_seconds',
    help: 'How long the oldest delivery that is due has been, whichever process is to make it',
    registers,
  });
  return {
    outcome({ state, attempt }) {
      outcomes.inc({ outcome: state });
      if (attempt !== null) durations.observe({ delivered: String(state === 'delivered') }, attempt.durationMs / 1_000);
    },
    batch: (kind, size) => batches.observe({ kind }, size),
    oldestDue: (seconds) => lag.set(seconds),
  };
}

/** Of destinations that are not called for now so many are named: there may be many of them. */
const mostNamed = 100;

export function watchDispatcher(registry: Registry, dispatcher: Dispatcher): void {
  const registers = [registry];
  new Gauge({
    name: 'usher_deliveries_sending',
    help: 'Deliveries under way in this process',
    registers,
    collect() {
      this.set(dispatcher.sending);
    },
  });
  new Gauge({
    name: 'usher_delivery_destinations',
    help: 'Destinations this process delivers to: closed is called, open left alone, half_open asked whether it is back',
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
    help: 'Deliveries in memory for a destination that is left alone',
    labelNames: ['destination_id', 'state'],
    registers,
    collect() {
      this.reset();
      const now = performance.now();
      const away = [...dispatcher.destinations].filter((each) => each.breaker.state(now) !== 'closed');
      for (const each of away.slice(0, mostNamed))
        this.set({ destination_id: each.id, state: each.breaker.state(now) }, each.heldCount);
    },
  });
}
