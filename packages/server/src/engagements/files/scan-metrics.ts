import { Counter, Gauge, type Registry } from 'prom-client';
import type { Sql } from '../../platform/database.ts';
import type { ScanResult } from './file.ts';
import { measurePending } from './store.ts';

/** How a scan went. */
export type ScanTold = ScanResult | 'failed';

/** How scans go, whoever does them; what to call with each. */
export function countScans(registry: Registry): (told: ScanTold) => void {
  const scans = new Counter({
    name: 'usher_file_scans_total',
    help: 'Security scans of files by result; failed ones are tried again',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['clean', 'infected', 'failed']) scans.inc({ result }, 0);
  return (result) => scans.inc({ result });
}

/** What waits to be scanned, in the whole database, asked when the metrics are. */
export function watchPending(registry: Registry, sql: Sql): void {
  const age = new Gauge({
    name: 'usher_files_pending_age_seconds',
    help: 'How long the file has waited that has waited longest for its scan; 0 if none waits',
    registers: [registry],
  });
  new Gauge({
    name: 'usher_files_pending',
    help: 'Files that wait for their security scan',
    registers: [registry],
    async collect() {
      try {
        const { count, oldestSec } = await measurePending(sql);
        this.set(count);
        age.set(oldestSec);
      } catch {
        // usher_database_up says it.
      }
    },
  });
}
