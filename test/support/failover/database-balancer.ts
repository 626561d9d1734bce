import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../network/free-port.ts';
import { replaceAll, started } from '../network/reverse-proxies.ts';
import type { PatroniNode } from './patroni-node.ts';

/** HAProxy that leads to the primary, with the recipe `ops/patroni/haproxy.cfg`. */
export interface DatabaseBalancer {
  readonly port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startDatabaseBalancer([one, two]: readonly PatroniNode[]): Promise<DatabaseBalancer> {
  if (one === undefined || two === undefined) throw new Error('the recipe names two servers');
  const folder = mkdtempSync(join(tmpdir(), 'usher-database-balancer-'));
  const port = await freePort();
  const configuration = replaceAll(readFileSync(resolve('ops/patroni/haproxy.cfg'), 'utf8'), {
    'bind 127.0.0.1:5000': `bind 127.0.0.1:${port}`,
    '10.0.0.1:5432 port 8008': `127.0.0.1:${one.port} port ${one.restPort}`,
    '10.0.0.2:5432 port 8008': `127.0.0.1:${two.port} port ${two.restPort}`,
  });
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration);
  const proxy = await started({ name: 'haproxy', args: ['-W', '-f', file], folder, port, reloadSignal: 'SIGUSR2' });
  return {
    port,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
