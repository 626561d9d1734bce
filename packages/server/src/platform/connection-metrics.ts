import type { Server } from 'node:http';
import { Counter, Gauge, type Registry } from 'prom-client';
import { Connections } from './connections.ts';
import type { ConnectionLimits } from './connection-limits.ts';

interface Options {
  readonly limits: ConnectionLimits;
  readonly areDirect: boolean;
}

/** Keeps the sockets of the server within their limits, and counts them. */
export function countConnections(registry: Registry, server: Server, options: Options): Connections {
  const closed = new Counter({
    name: 'usher_connections_closed_total',
    help: 'Connections closed because an address, or the process, had as many as it may',
    registers: [registry],
  });
  const connections = new Connections(server, { ...options, onClosed: () => closed.inc() });
  // Node closes what comes beyond `maxConnections` before anybody sees it.
  server.on('drop', () => closed.inc());
  new Gauge({
    name: 'usher_connections_open',
    help: 'Connections of callers open in this process',
    registers: [registry],
    collect() {
      this.set(connections.size);
    },
  });
  return connections;
}
