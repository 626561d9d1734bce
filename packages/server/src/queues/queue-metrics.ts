import { Gauge, type Registry } from 'prom-client';
import { CachedReading } from '../platform/cached-reading.ts';
import type { Sql } from '../platform/database/database.ts';
import type { QueueId } from '../platform/ids.ts';
import { mediaOf } from './queue.ts';
import { Staff } from './staff.ts';
import { availableStaff, queuesById, waitingInQueues } from './store.ts';

/** Queues with series of their own, because Prometheus pays for each series. All others share the series `other`. */
export const maxListedQueues = 200;
const otherQueues = 'other';

/** Gives series to the first queues that need one. A counter must not move from one series to another, so they keep theirs. */
export class QueueSeries {
  readonly #listed = new Set<QueueId>();

  labelOf(id: QueueId): string {
    if (!this.#listed.has(id) && this.#listed.size >= maxListedQueues) return otherQueues;
    this.#listed.add(id);
    return id;
  }
}

interface QueueReading {
  /** `null`: all queues that are not listed. */
  readonly id: QueueId | null;
  readonly visitors: number;
  readonly longestWaitSec: number;
  readonly staff: number | null;
}

/**
 * Gauges of the queues of all accounts: of the queues with the most visitors, and of all others together. Three statements serve
 * every scrape within a few seconds, however many queues there are.
 */
export function watchQueues(registry: Registry, sql: Sql): void {
  const reading = new CachedReading(async () => readQueues(sql));
  const gauge = (name: string, help: string, read: (queue: QueueReading) => number | null): void => {
    new Gauge({
      name,
      help,
      labelNames: ['queue_id'],
      registers: [registry],
      async collect() {
        const queues = await reading.get();
        this.reset();
        for (const queue of queues ?? []) {
          const value = read(queue);
          if (value !== null) this.set({ queue_id: queue.id ?? otherQueues }, value);
        }
      },
    });
  };
  gauge(
    'usher_queue_visitors',
    `Visitors in a queue, waiting or offered, in all processes. The ${maxListedQueues} queues with the most visitors have their own series, all others share one`,
    ({ visitors }) => visitors,
  );
  gauge(
    'usher_queue_longest_wait_seconds',
    'How long the visitor who has been in the queue longest has been there; 0 if nobody is',
    ({ longestWaitSec }) => longestWaitSec,
  );
  gauge('usher_queue_staff', 'Available operators who may take visitors of the queue', ({ staff }) => staff);
}

async function readQueues(sql: Sql): Promise<QueueReading[]> {
  const waiting = await waitingInQueues(sql, maxListedQueues);
  const rows = await queuesById(sql, waiting.flatMap(({ id }) => id ?? [])); // prettier-ignore
  const groups = await availableStaff(sql, [...new Set(rows.map(({ site_id }) => site_id))], 0);
  const staff = new Staff(groups);
  const staffOf = new Map(
    rows.map((row) => {
      const { team_ids: teamIds = [] } = row.routing_policy;
      return [row.id, staff.of({ siteId: row.site_id, teamIds, media: mediaOf(row) }).operators];
    }),
  );
  return waiting.map((each) => ({ ...each, staff: each.id === null ? null : (staffOf.get(each.id) ?? null) }));
}
