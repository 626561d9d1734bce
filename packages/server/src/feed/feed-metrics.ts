import { Counter, Gauge, type Registry } from 'prom-client';
import type { Feeds } from './feeds.ts';

/** Returns the function to call whenever a reader is dropped because they do not read. */
export function countDropped(registry: Registry): () => void {
  const dropped = new Counter({
    name: 'usher_feeds_dropped_total',
    help: 'Feeds closed because their reader was too slow',
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
