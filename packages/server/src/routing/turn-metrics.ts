import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { QueueSeries } from '../queues/queue-metrics.ts';
import type { Visit } from './board/structures/changes.ts';
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
  const departures = new Counter({
    name: 'usher_queue_departures_total',
    help: 'Visitors who left a queue, by outcome: engaged, engaged_elsewhere, abandoned, expired, unstaffed or rerouted. Only those whose turn this process took',
    labelNames: ['queue_id', 'outcome'],
    registers: [registry],
  });
  const series = new QueueSeries();
  return ({ seconds, commands: count, visits }) => {
    duration.observe(seconds);
    orders.observe(count);
    for (const { queueId, outcome } of visits)
      departures.inc({ queue_id: series.labelOf(queueId), outcome: departureOf(outcome) });
  };
}

/** The words of `GET /queues/:queue_id/stats`. */
function departureOf(outcome: Visit['outcome']): string {
  switch (outcome) {
    case 'canceled':
    case 'visitor_left':
      return 'abandoned';
    case 'moved':
      return 'rerouted';
    default:
      return outcome;
  }
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
