import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Sql } from './database.ts';
import type { App } from './http.ts';

export interface Metrics {
  readonly registry: Registry;
  readonly observeRequest: (method: string, route: string, status: number, seconds: number) => void;
}

export function createMetrics(sql: Sql, poolSize: number): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'usher_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  measureDatabase(registry, sql, poolSize);

  // Finding a histogram's child by its labels costs more than observing: each is looked up once.
  const children = new Map<string, { observe(seconds: number): void }>();
  const observeRequest = (method: string, route: string, status: number, seconds: number): void => {
    const key = `${method} ${route} ${status}`;
    const child = children.get(key) ?? duration.labels(method, route, String(status));
    children.set(key, child);
    child.observe(seconds);
  };
  return { registry, observeRequest };
}

/** What PostgreSQL itself says of this process's connections, asked when the metrics are. */
function measureDatabase(registry: Registry, sql: Sql, poolSize: number): void {
  new Gauge({
    name: 'usher_database_pool_size',
    help: 'Connections this process may open',
    registers: [registry],
  }).set(poolSize);
  const up = new Gauge({ name: 'usher_database_up', help: '1 while the database answers', registers: [registry] });
  new Gauge({
    name: 'usher_database_connections',
    help: "This process's connections by what they are doing",
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      try {
        const rows = await sql<{ state: string; count: number }[]>`
          SELECT coalesce(state, 'unknown') AS state, count(*)::integer AS count
            FROM pg_stat_activity
           WHERE application_name = current_setting('application_name') AND datname = current_database()
           GROUP BY 1`;
        this.reset();
        for (const { state, count } of rows) this.set({ state }, count);
        up.set(1);
      } catch {
        up.set(0);
      }
    },
  });
}

export function metricsRoute(app: App, { registry }: Metrics): void {
  app.get('/metrics', { config: { access: { public: true } }, schema: { hide: true } }, async (_request, reply) => {
    reply.type(registry.contentType);
    return registry.metrics();
  });
}
