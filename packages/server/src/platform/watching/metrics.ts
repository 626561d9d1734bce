import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { App } from '../http/http.ts';
import { PeriodicWork } from '../periodic-work.ts';
import { version } from '../version.ts';

export interface Metrics {
  readonly registry: Registry;
  readonly requests: Histogram<'method' | 'route' | 'status'>;
  readonly work: PeriodicWork;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges whose names end like those of counters, which `promtool check metrics` refuses. They are sums of gauges that stay.
  for (const noun of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${noun}_total`);
  new Gauge({
    name: 'usher_build_info',
    help: 'Always 1; its labels say which program this process runs',
    labelNames: ['version', 'node', 'platform', 'arch'],
    registers: [registry],
  }).set({ version, node: process.versions.node, platform: process.platform, arch: process.arch }, 1);

  const requests = new Histogram({
    name: 'usher_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return { registry, requests, work: new PeriodicWork(registry) };
}

export function metricsRoute(app: App, metrics: Metrics): void {
  app.get('/metrics', { config: { access: { public: true } }, schema: { hide: true } }, async (_request, reply) => {
    reply.type(metrics.registry.contentType);
    return metrics.registry.metrics();
  });
}
