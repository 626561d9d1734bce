import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { App } from '../http/http.ts';
import { PeriodicWork } from '../periodic-work.ts';
import { version } from '../version.ts';

export interface Metrics {
  readonly registry: Registry;
  readonly requests: RequestTimes;
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

  return { registry, requests: new RequestTimes(), work: new PeriodicWork(registry) };
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** A Prometheus histogram: how many observations are in each bucket, and their sum. */
interface Histogram {
  sum: number;
  readonly counts: Float64Array;
}

/** The durations of the requests to a route, by status. */
export class RouteTimes {
  readonly histograms = new Map<number, Histogram>();

  observe(status: number, seconds: number): void {
    let histogram = this.histograms.get(status);
    if (histogram === undefined)
      this.histograms.set(status, (histogram = { sum: 0, counts: new Float64Array(bounds.length + 1) }));
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket += 1;
    histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
    histogram.sum += seconds;
  }
}

/**
 * A Prometheus histogram of request durations by method, route and status. Every request updates it, so it does not use
 * prom-client, which costs five times as much.
 */
export class RequestTimes {
  readonly #routes = new Map<string, RouteTimes>();

  of(method: string, route: string): RouteTimes {
    const labels = `method="${method}",route="${route}"`;
    const times = this.#routes.get(labels) ?? new RouteTimes();
    this.#routes.set(labels, times);
    return times;
  }

  /** Renders the text format of Prometheus, in which each bucket includes the smaller ones. */
  render(): string {
    const name = 'usher_http_request_duration_seconds';
    const lines = [
      `# HELP ${name} Time from the first byte of a request to the end of its response`,
      `# TYPE ${name} histogram`,
    ];
    for (const [route, { histograms }] of this.#routes) {
      for (const [status, { sum, counts }] of histograms) {
        const labels = `${route},status="${status}"`;
        let total = 0;
        for (const [index, count] of counts.entries()) {
          total += count;
          lines.push(`${name}_bucket{le="${bounds[index] ?? '+Inf'}",${labels}} ${total}`);
        }
        lines.push(`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${total}`);
      }
    }
    return `${lines.join('\n')}\n`;
  }
}

/** The text that a scraper reads. */
export async function renderMetrics({ registry, requests }: Metrics): Promise<string> {
  return `${await registry.metrics()}\n${requests.render()}`;
}

export function metricsRoute(app: App, metrics: Metrics): void {
  app.get('/metrics', { config: { access: { public: true } }, schema: { hide: true } }, async (_request, reply) => {
    reply.type(metrics.registry.contentType);
    return renderMetrics(metrics);
  });
}
