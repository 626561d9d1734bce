import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket, createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../database/database.ts';

/** How a connection breaks: closed by the server, reset by the network, or closed instead of a response. */
type Fate = 'close' | 'close all' | 'reset' | 'swallow';

/** A proxy in front of the database that breaks connections on request and records all messages. */
export async function openWire(t: TestContext) {
  const address = await emptyDatabase();
  assert.ok(address.kind === 'socket');
  const { directory, user, database } = address;
  const harms: { readonly text: string; readonly fate: Fate }[] = [];
  const clients = new Set<Socket>();
  const wire = { spoken: '', refusing: false, connections: 0 };
  const server = createServer((client) => {
    wire.connections++;
    if (wire.refusing) {
      client.destroy();
      return;
    }
    const backend = connectSocket(`${directory}/.s.PGSQL.5432`);
    clients.add(client);
    client.on('error', () => undefined);
    backend.on('error', () => undefined);
    backend.on('close', () => client.destroy());
    client.on('close', () => {
      clients.delete(client);
      backend.destroy();
    });
    backend.on('data', (bytes) => {
      wire.spoken += '<';
      client.write(bytes);
    });
    client.on('data', (bytes) => {
      wire.spoken += '>';
      const at = harms.findIndex(({ text }) => bytes.includes(text));
      const [harm] = at === -1 ? [] : harms.splice(at, 1);
      if (harm?.fate === 'reset') return client.resetAndDestroy();
      if (harm?.fate === 'close') return client.end();
      if (harm?.fate === 'close all') return clients.forEach((each) => each.end());
      if (harm?.fate === 'swallow') backend.removeAllListeners('data').on('data', () => client.end());
      return backend.write(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    server.close();
    for (const client of clients) client.destroy();
  });
  return Object.assign(wire, {
    direct: address,
    address: { kind: 'url', url: `postgres://${user}@127.0.0.1:${port}/${database}` } satisfies DatabaseAddress,
    /** Breaks the connection at the next message that contains this text. */
    harm: (text: string, fate: Fate) => harms.push({ text, fate }),
  });
}
