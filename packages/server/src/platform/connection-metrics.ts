import type { Server } from 'node:http';
import { Counter, Gauge, type Registry } from 'prom-client';
import { Connections } from './connections.ts';
import type { ConnectionLimits } from './connection-limits.ts';

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
  return connections;
}
