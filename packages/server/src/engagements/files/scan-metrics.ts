import { Counter, Gauge, type Registry } from 'prom-client';
import { CachedReading } from '../../platform/cached-reading.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { ScanResult } from './file.ts';
import { measurePending } from './store.ts';

/** The outcome of one scan. */
export type ScanOutcome = ScanResult | 'failed';

/** Counts scans by outcome. Returns the function to call for each scan. */
export function countScans(registry: Registry): (outcome: ScanOutcome) => void {
  const scans = new Counter({
    name: 'usher_file_scans_total',
    help: 'Security scans of files by result; failed scans are retried',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['clean', 'infected', 'failed']) scans.inc({ result }, 0);
  return (result) => scans.inc({ result });
}

/** Measures the backlog of scans in the whole database whenever the metrics are read. */
export function watchPending(registry: Registry, sql: Sql): void {
  const pending = new CachedReading(async () => measurePending(sql));
  new Gauge({
    name: 'usher_files_pending_age_seconds',
    help: 'Age of the oldest file that waits for its scan; 0 if none waits',
    registers: [registry],
    async collect() {
      this.set((await pending.get())?.oldestSec ?? NaN);
    },
  });
  new Gauge({
    name: 'usher_files_pending',
    help: 'Files that wait for their security scan',
    registers: [registry],
    async collect() {
      this.set((await pending.get())?.count ?? NaN);
    },
  });
}
