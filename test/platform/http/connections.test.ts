import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { Connections } from '../../../packages/server/src/platform/limits/connections.ts';
import { callFrom } from '../../support/network/from-address.ts';
import { until } from '../../support/server.ts';

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that responds at once, except to `/feed`, which never ends; `/trusted` counts as called by an operator. */
async function serve({ areDirect = true } = {}) {
  let closed = 0;
  const feeds: ServerResponse[] = [];
  const server = createServer();
  const connections = new Connections(server, {
    limits: { connections: 40, connectionsPerAddress: 10 },
    areDirect,
    onClosed: () => {
      closed += 1;
    },
  });
  server.on('request', (request, response) => {
    if (request.url === '/trusted') connections.trust(request.socket);
    if (request.url === '/feed') feeds.push(response.writeHead(200));
    else response.end('answered');
    response.flushHeaders();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  /** Opens a connection and sends no request, or an incomplete one. */
  const open = async (localAddress: string, text = ''): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
    return socket;
  };
  const openMany = async (count: number, localAddress: string, text?: string): Promise<Socket[]> =>
    Promise.all(Array.from({ length: count }, async () => open(localAddress, text)));
  return {
    url: `http://127.0.0.1:${port}`,
    connections,
    feeds,
    openMany,
    closed: () => closed,
  };
}

const ask = 'GET / HTTP/1.1\r\nhost: usher\r\n\r\n';
const follow = 'GET /feed HTTP/1.1\r\nhost: usher\r\n\r\n';
const enter = 'GET /trusted HTTP/1.1\r\nhost: usher\r\n\r\n';

test('an IP address with its share of idle sockets loses the oldest for a new one; another address is not affected', async () => {
  const { url, connections, openMany, closed } = await serve();
  await openMany(10, '127.0.0.1');
  await until(() => connections.size === 10);
  await openMany(20, '127.0.0.1', ask);
  await until(() => closed() === 20);
  assert.equal(connections.size, 10);
  assert.equal((await callFrom({ localAddress: '127.0.0.1' }, { url }, 'GET /')).body, 'answered');
  assert.equal((await callFrom({ localAddress: '127.0.0.2' }, { url }, 'GET /')).body, 'answered');
});

test('sockets in use are not closed for others; the socket above the limit is closed', async () => {
  const { url, feeds, openMany } = await serve();
  const open = await openMany(10, '127.0.0.1', follow);
  await until(() => feeds.length === 10);
  await assert.rejects(callFrom({ localAddress: '127.0.0.1' }, { url }, 'GET /'), /ECONNRESET|socket hang up/);
  assert.ok(open.every((socket) => !socket.destroyed));
  assert.equal((await callFrom({ localAddress: '127.0.0.2' }, { url }, 'GET /')).body, 'answered');
  for (const feed of feeds) feed.end();
  await until(() => feeds.every(({ closed }) => closed));
  assert.equal((await callFrom({ localAddress: '127.0.0.1' }, { url }, 'GET /')).body, 'answered');
});

test('sockets of operators do not count for their IP address', async () => {
  const { connections, openMany, closed } = await serve();
  const trusted = await openMany(10, '127.0.0.1', enter);
  await until(() => trusted.every((socket) => socket.bytesRead > 0));
  const more = await openMany(10, '127.0.0.1', ask);
  await until(() => more.every((socket) => socket.bytesRead > 0));
  assert.deepEqual([connections.size, closed()], [20, 0]);
  await openMany(5, '127.0.0.1');
  await until(() => closed() === 5);
  assert.ok(trusted.every((socket) => !socket.destroyed));
});

test('a crowded process closes the socket that was idle longest, and an operator gets a response', async () => {
  const { url, connections, openMany, closed } = await serve({ areDirect: false });
  const [oldest, ...others] = await openMany(38, '127.0.0.1', ask);
  await until(() => [oldest, ...others].every((socket) => (socket?.bytesRead ?? 0) > 0));
  await openMany(60, '127.0.0.1');
  await until(() => connections.size <= 38 && closed() >= 60);
  assert.equal((await callFrom({ localAddress: '127.0.0.1' }, { url }, 'GET /')).body, 'answered');
  await until(() => oldest?.destroyed === true);
});
