import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { startCluster } from '../../support/processes/cluster.ts';
import { patienceMs } from '../../support/database/pool.ts';

/** More than Node's default of 511, and fewer than what Linux allows by default. */
const callers = 1_500;

test('connections that arrive while the process is busy, as after a restart, all wait for it', async (t) => {
  await using cluster = await startCluster(1);
  const [node] = cluster.nodes;
  assert.ok(node !== undefined);
  const { hostname, port } = new URL(node.url);
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));

  node.child.kill('SIGSTOP');
  try {
    for (let n = 0; n < callers; n += 1) sockets.push(connect(Number(port), hostname));
    const signal = AbortSignal.timeout(patienceMs);
    await Promise.all(sockets.map(async (socket) => once(socket, 'connect', { signal })));
  } finally {
    node.child.kill('SIGCONT');
  }
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      socket.write('GET /healthz HTTP/1.1\r\nhost: usher\r\nconnection: close\r\n\r\n');
      const [first] = (await once(socket, 'data')) as [Buffer];
      return first.toString('latin1').slice(0, 12);
    }),
  );
  assert.deepEqual(new Set(statuses), new Set(['HTTP/1.1 200']));
});
