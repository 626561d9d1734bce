import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

// See security-headers.ts: an import of node:http would load a second HTTP client.
const { createServer } = process.getBuiltinModule('node:http');

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A scraper sends one small request now and then. */
const timeouts = { requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 72_000 };

/**
 * Serves the metrics on a port of their own, so that a firewall can keep the port for callers apart from that for monitoring. It
 * shares nothing with the app: its limits, its log and its access rules are for callers.
 */
export async function serveMetrics(metrics: Metrics, address: { host: string; port: number }): Promise<MetricsServer> {
  const server = createServer(timeouts, (request, response) => {
    const path = request.url?.split('?', 1)[0];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path !== '/metrics' || !isRead) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('This port serves only GET /metrics.\n');
      return;
    }
    metrics.registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(error)}\n`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
