import { Gauge, Histogram, type Registry } from 'prom-client';
import type { TurnSummary, Turns } from './turns.ts';

/** Creates the histograms of turns, and returns the function that records one turn. */
export function countTurns(registry: Registry): (turn: TurnSummary) => void {
  const duration = new Histogram({
    name: 'usher_turn_duration_seconds',
    help: 'Time from the start of a turn to its commit',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
  const orders = new Histogram({
    name: 'usher_turn_orders',
    help: 'Orders per turn',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    registers: [registry],
  });
  return (turn) => {
    duration.observe(turn.seconds);
    orders.observe(turn.orders);
  };
}

/** Creates gauges of the cached boards and the waiting orders, which are read when the metrics are scraped. */
export function watchTurns(registry: Registry, turns: Turns): void {
  const gauge = (name: string, help: string, read: (load: Turns['load']) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(turns.load));
      },
    });
  };
  gauge('usher_boards', 'Boards that this process has in memory', ({ boards }) => boards);
  gauge(
    'usher_board_things',
    'Queues, operators, tickets, requests and engagements on these boards',
    ({ objects }) => objects,
  );
  gauge('usher_orders_waiting', 'Orders waiting for a turn', ({ waiting }) => waiting);
}
