import { Counter, Gauge, type Registry } from 'prom-client';
import type { Feeds } from './feeds.ts';

/** Counts readers that were dropped because they did not read; what to call with each. */
export function countDropped(registry: Registry): () => void {
  const dropped = new Counter({
    name: 'usher_feeds_dropped_total',
    help: 'Feeds ended because their reader did not read',
    registers: [registry],
  });
  return () => dropped.inc();
}

export function watchFeeds(registry: Registry, feeds: Feeds): void {
  new Gauge({
    name: 'usher_feeds_open',
    help: 'Feeds open in this process',
    registers: [registry],
    collect() {
      this.set(feeds.size);
    },
  });
}
