import type { Server } from 'node:http';
import { Counter, Gauge, type Registry } from 'prom-client';
import { Connections } from '../limits/connections.ts';
import type { ConnectionLimits } from '../limits/connection-limits.ts';

interface Options {
  readonly limits: ConnectionLimits;
  readonly areDirect: boolean;
}

/** Limits the sockets of the server and counts them. */
export function countConnections(registry: Registry, server: Server, options: Options): Connections {
  const closed = new Counter({
    name: 'usher_connections_closed_total',
    help: 'Connections closed because an IP address or the process reached its limit',
    registers: [registry],
  });
  const connections = new Connections(server, { ...options, onClosed: () => closed.inc() });
  // Node closes connections beyond `maxConnections` itself and emits only this event.
  server.on('drop', () => closed.inc());
  new Gauge({
    name: 'usher_connections_open',
    help: 'Open connections of callers',
    registers: [registry],
    collect() {
      this.set(connections.size);
    },
  });
  countRequestsInFlight(registry, server);
  return connections;
}

/** A response closes exactly once, also if the caller hangs up before it is sent. */
function countRequestsInFlight(registry: Registry, server: Server): void {
  let inFlight = 0;
  const onClose = (): void => {
    inFlight -= 1;
  };
  // Before the listener of Fastify, whose handler may already scrape.
  server.prependListener('request', (_request, response) => {
    inFlight += 1;
    response.once('close', onClose);
  });
  new Gauge({
    name: 'usher_http_requests_in_flight',
    help: 'Requests without a complete response, including open live feeds',
    registers: [registry],
    collect() {
      this.set(inFlight);
    },
  });
}
