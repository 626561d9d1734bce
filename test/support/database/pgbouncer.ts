import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import { freePort } from '../network/free-port.ts';
import { findProgram } from '../processes/programs.ts';
import { startProxy } from '../network/proxy.ts';
import { until } from '../server.ts';

export interface Bouncer {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a real PgBouncer in front of a database. PgBouncer refuses to run as root, so root starts it as `nobody`. */
export async function startPgbouncer(
  address: DatabaseAddress,
  settings: Readonly<Record<string, string>>,
): Promise<Bouncer> {
  if (address.kind !== 'socket') throw new Error('the tests have a socket');
  const program = findProgram('pgbouncer');
  if (program === null) throw new Error('pgbouncer was not found. Run npm test: it installs pgbouncer or says how to.');
  const directory = mkdtempSync(join(tmpdir(), 'usher-bouncer-'));
  chmodSync(directory, 0o755);
  const port = await freePort();
  // Only its owner may open the socket of the test database, so PgBouncer connects to a port.
  const backend = await openPort(`${address.directory}/.s.PGSQL.5432`);
  const all = { listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'any', ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const database = `${address.database} = host=127.0.0.1 port=${backend.port} user=${address.user}`;
  writeFileSync(join(directory, 'pgbouncer.ini'), ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'));
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn(program, ['-q', join(directory, 'pgbouncer.ini')], { stdio: 'ignore', ...nobody });
  await until(async () => isListening(port));
  return {
    url: `postgres://${address.user}@127.0.0.1:${port}/${address.database}`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await backend.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function openPort(socket: string): Promise<{ port: string; close(): Promise<void> }> {
  const proxy = await startProxy({ socket });
  return { port: new URL(proxy.url).port, close: async () => proxy[Symbol.asyncDispose]() };
}

async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connectSocket(port, '127.0.0.1')
      .once('connect', () => {
        probe.destroy();
        resolve(true);
      })
      .once('error', () => resolve(false));
  });
}
