import { Counter, Gauge, type Registry } from 'prom-client';
import type { ExportNumbers } from './span-exporter.ts';

/** Metrics of the export of spans. They exist only while it is configured. */
export function watchExport(registry: Registry, read: () => ExportNumbers): void {
  const registers = [registry];
  new Counter({
    name: 'usher_spans_exported_total',
    help: 'Spans that the OpenTelemetry collector accepted',
    registers,
    collect() {
      this.reset();
      this.inc(read().exported);
    },
  });
  new Counter({
    name: 'usher_spans_dropped_total',
    help: 'Spans that were lost: buffer_full (the collector fails or is too slow), rejected (by the collector) or shutdown',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(read().dropped)) this.inc({ reason }, count);
    },
  });
  new Gauge({
    name: 'usher_spans_waiting',
    help: 'Spans in memory that wait for the next request to the collector',
    registers,
    collect() {
      this.set(read().waiting);
    },
  });
}
